"""A rule that cheats: whenever Box-Muller has left the next reward's noise in its second row, it looks at it.

Used as a negative control: no law about honest rules may hold for it.
"""

from dataclasses import dataclass
from typing import ClassVar

from debandit.engine.compiled.jit import jit
from debandit.engine.compiled.layout import LANES, NORMALS, SPARE
from debandit.engine.data import rule_data
from debandit.policies import Policy


@jit
def start(arm_count, parameters, numbers, tables, w):
    pass


@jit
def choose(t, arm_count, parameters, numbers, tables, w, s, ints, rng):
    for lane in range(LANES):
        ints[lane] = 1 if ints[SPARE] and w[NORMALS + LANES + lane] > 0 else 0


@jit
def learn(arm_count, parameters, numbers, tables, w, s, ints):
    pass


@dataclass(frozen=True)
class Peeking(Policy):
    name: ClassVar[str] = "peeking"
    kernel: ClassVar[str] = "peeking"

    def rule(self, arm_count, horizon):
        return rule_data()
