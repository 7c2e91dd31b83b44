"""What the conditions around a rule make of its choices, for all lanes at once: the twin of `engine.conditions`."""

import numpy as np

from debandit.engine.compiled.arms import explore
from debandit.engine.compiled.jit import call
from debandit.engine.compiled.lanes import fill_uniforms
from debandit.engine.compiled.layout import *


@call
def prescribe(t, fixed, batched, arm_count, numbers, w, s, ints, rng):
    """Write down which arm every lane must pull, or FREE, and say whether the rule is asked."""
    opening, what = numbers[OPENING], fixed[t] if t < len(fixed) else FREE
    for lane in range(LANES):
        ints[FIXED + lane] = what
    if what == UNIFORM:
        fill_uniforms(s, SCRATCH, rng)
        for lane in range(LANES):
            ints[FIXED + lane] = min(np.int64(s[SCRATCH + lane] * arm_count), arm_count - 1)
    elif what == LACKING:
        return _lacking(t, opening, batched, arm_count, w, ints)
    # a rule without initial pulls copes with prescribed rounds, and may want to know what it would have done
    return what == FREE or opening == 0.0


@call
def _lacking(t, opening, batched, arm_count, w, ints):
    """The first arm that lacks initial pulls; while the rule has not heard of all of them, the arms take turns."""
    asked = False
    for lane in range(LANES):
        lacks, unheard = FREE, False
        for arm in range(arm_count - 1, -1, -1):
            at = ARMS + arm * ARM + lane
            heard = w[at + PULLS]
            lacks = arm if (w[at + MADE] if batched else heard) < opening else lacks
            unheard = unheard or heard < opening
        ints[FIXED + lane] = lacks if lacks >= 0 else t % arm_count if unheard else FREE
        asked = asked or ints[FIXED + lane] == FREE
    return asked


@call
def settle(overruled, commit, floor, arm_count, s, ints, rng):
    """The rule's choice as it stands, unless it is committed, explores because of the floor, or is overruled."""
    if commit:
        for lane in range(LANES):
            if ints[FIXED + lane] == FREE:
                ints[HELD + lane] = ints[lane] if ints[HELD + lane] < 0 else ints[HELD + lane]
                ints[lane] = ints[HELD + lane]
    if floor > 0.0:
        explore(floor, arm_count, s, ints, rng)
    if overruled:
        for lane in range(LANES):
            ints[lane] = ints[FIXED + lane] if ints[FIXED + lane] >= 0 else ints[lane]
