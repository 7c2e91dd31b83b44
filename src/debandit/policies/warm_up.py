"""Some rounds before the rule begins."""

from dataclasses import dataclass
from typing import ClassVar

from debandit.policies.policy import Policy
from debandit.policies.wrapper import Wrapper


@dataclass(frozen=True)
class WarmUp(Wrapper):
    """First `rounds` rounds of uniform arms, or `pulls` of each arm in turn; then the rule, which knows of them.

    What an arm then lacks of the rule's initial pulls it gets at once, in index order.
    """

    name: ClassVar[str] = "warm_up"
    policy: Policy
    rounds: int = 0
    pulls: int = 0

    def __post_init__(self) -> None:
        self._check_number("rounds", low=0, high=10**8, whole=True)
        self._check_number("pulls", low=0, high=10**8, whole=True)
        self._check(not (self.rounds and self.pulls), "give either rounds, of uniform arms, or pulls of each arm")
        super().__post_init__()

    def turns(self, arm_count: int) -> int:
        return self.pulls * arm_count

    def uniform_rounds(self) -> int:
        return self.rounds
