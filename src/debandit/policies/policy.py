"""What every rule has in common."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import ClassVar

from debandit.engine.data import RuleData
from debandit.errors import InputError


class Policy(ABC):
    """The rule that chose the arms. Subclasses are frozen dataclasses whose fields are the rule's parameters."""

    name: ClassVar[str]
    kernel: ClassVar[str] = "debandit.engine.index"  # the module whose start, choose and learn the engine compiles
    binary_rewards: ClassVar[bool] = False  # the rule makes sense for 0/1 rewards only

    @abstractmethod
    def rule(self, arm_count: int, horizon: int) -> RuleData:
        """The rule as data for the compiled loop."""

    @property
    def opening(self) -> int:
        """Forced initial pulls of each arm."""
        return 0

    def __str__(self) -> str:
        options = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))  # type: ignore[arg-type]
        return f"{self.name}({options})" if options else self.name

    def _check(self, holds: bool, what: str) -> None:
        if not holds:
            raise InputError(f"{what}", where=str(self))

    def _check_number(self, parameter: str, *, low: float, high: float = float("inf"), whole: bool = False) -> None:
        """A parameter must be a finite (whole) number with low <= value <= high."""
        value = getattr(self, parameter)
        kinds = (int,) if whole else (int, float)
        sound = isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high
        limits = f"at least {low:g}" if high == float("inf") else f"between {low:g} and {high:g}"
        limits = "" if low == -float("inf") else f" {limits}"
        self._check(
            sound and abs(value) != float("inf"),
            f"{parameter} must be a {'whole ' if whole else ''}number{limits}, not {value!r}",
        )
