"""No arm is given up altogether."""

from dataclasses import dataclass
from typing import ClassVar

from debandit.errors import InputError
from debandit.policies.policy import Policy
from debandit.policies.wrapper import Wrapper


@dataclass(frozen=True)
class Floor(Wrapper):
    """Each arm has at least this probability: with K times it the arm is uniform, else the rule's choice.

    Not in the rule's initial pulls, which stay as they are.
    """

    name: ClassVar[str] = "floor"
    policy: Policy
    probability: float = 0.05

    def __post_init__(self) -> None:
        self._check_number("probability", low=0, high=0.5)
        super().__post_init__()

    def share(self, arm_count: int) -> float:
        share = self.probability * arm_count
        if share > 1 + 1e-9:
            raise InputError(
                f"{arm_count} arms cannot all have a probability of {self.probability:g}",
                where=self.name,
                remedy=f"With {arm_count} arms it is at most {1 / arm_count:g}.",
            )
        return min(share, 1.0)
