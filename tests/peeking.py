"""A rule that cheats: whenever Box-Muller has left the next reward's noise in its second row, it looks at it.

Used as a negative control: no law about honest rules may hold for it.
"""

from dataclasses import dataclass
from typing import ClassVar

from debandit.engine.lanes import LANES

from debandit.engine.compiled.jit import jit
from debandit.engine.data import rule_data
from debandit.policies import Policy


@jit
def start(rule, block):
    pass


@jit
def choose(t, rule, block):
    for lane in range(LANES):
        block.arms[lane] = 1 if block.spare[0] and block.noise[1, lane] > 0 else 0


@jit
def learn(rule, block):
    pass


@dataclass(frozen=True)
class Peeking(Policy):
    name: ClassVar[str] = "peeking"
    kernel: ClassVar[str] = "peeking"

    def rule(self, arm_count, horizon):
        return rule_data()
