"""What every rule has in common."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import ClassVar

import numpy as np

from debandit.engine.data import RuleData
from debandit.errors import InputError, shorten


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
            raise InputError(what, where=self.name)

    def _check_number(self, parameter: str, *, low: float, high: float = 1e100, whole: bool = False) -> None:
        """A parameter must be a (whole) number with low <= value <= high; numpy's numbers become Python's."""
        value = getattr(self, parameter)
        if isinstance(value, np.generic):
            value = value.item()
            object.__setattr__(self, parameter, value)
        sound = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        self._check(
            sound and low <= value <= high,
            f"{parameter} must be a {'whole ' if whole else ''}number from {low:g} to {high:g}, "
            f"not {shorten(repr(value), 30)}",
        )
