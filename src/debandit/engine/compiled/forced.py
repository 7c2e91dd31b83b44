"""What the conditions around a rule make of its choices, for all lanes at once: the twin of `engine.conditions`."""

import numpy as np

from debandit.engine.compiled.arms import explore
from debandit.engine.compiled.jit import call, jit
from debandit.engine.compiled.lanes import fill_uniforms, uniform
from debandit.engine.compiled.layout import *


@call
def prescribe(t, fixed, batched, arm_count, numbers, w, s, ints, rng):
    """Write down which arm every lane must pull, or FREE, and say whether the rule is asked."""
    opening, what, asked = numbers[OPENING], fixed[t] if t < len(fixed) else FREE, False
    if what == UNIFORM:
        fill_uniforms(s, rng)
    for lane in range(LANES):
        arm = what
        if what == UNIFORM:
            arm = np.int64(s[UNIFORMS + lane] * arm_count)
            arm = arm if arm < arm_count else arm_count - 1
        elif what == LACKING:
            arm = _depending(t, batched, arm_count, numbers, w, rng, lane)
        ints[FIXED + lane] = arm
        asked = asked or arm == FREE
    # A rule without initial pulls copes with prescribed rounds, and may want to know what it would have done. Where
    # some runs are free and others not, all draw as many random numbers, whoever their neighbours are.
    return asked or what == LACKING or opening == 0.0


@jit
def _depending(t, batched, arm_count, numbers, w, rng, lane):
    """A uniform arm where a gate is closed, else the first that lacks initial pulls.

    While the rule has not heard of all initial pulls, the arms take turns.
    """
    closed, unheard, lacking = False, False, FREE
    for arm in range(arm_count):
        at = ARMS + arm * ARM + lane
        pulls, made = w[at + PULLS], w[at + MADE if batched else at + PULLS]
        closed = closed or pulls < numbers[GATE_PULLS] or w[at + SUM] < numbers[GATE_SUM]
        unheard = unheard or pulls < numbers[OPENING]
        lacking = arm if lacking == FREE and made < numbers[OPENING] else lacking
    if closed:
        return min(np.int64(uniform(rng, lane) * arm_count), arm_count - 1)
    return lacking if lacking != FREE else t % arm_count if unheard else FREE


@call
def settle(overruled, commit, floor, shares, arm_count, s, ints, rng):
    """The rule's choice as it stands, unless it is committed, explores because of the floor, or is overruled."""
    if commit:
        for lane in range(LANES):
            if ints[FIXED + lane] == FREE:
                ints[HELD + lane] = ints[lane] if ints[HELD + lane] < 0 else ints[HELD + lane]
                ints[lane] = ints[HELD + lane]
    if floor > 0.0:
        if len(shares):
            _explore_by(shares, floor, s, ints, rng)
        else:
            explore(floor, arm_count, s, ints, rng)
    if overruled:
        for lane in range(LANES):
            ints[lane] = ints[FIXED + lane] if ints[FIXED + lane] >= 0 else ints[lane]


@call
def _explore_by(shares, probability, s, ints, rng):
    """With the given probability an arm by these shares, which are added up, else the one that was chosen."""
    fill_uniforms(s, rng)
    for lane in range(LANES):
        if s[UNIFORMS + lane] < probability:
            arm = 0
            while arm < len(shares) - 1 and s[UNIFORMS + lane] >= probability * shares[arm]:
                arm += 1
            ints[lane] = arm
