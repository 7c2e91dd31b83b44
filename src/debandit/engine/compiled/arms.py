"""The numbers of each lane's own arm.

With two arms, choosing between their rows vectorises, which gathering does not. Both are loaded before one is chosen:
a load inside a conditional expression would be a branch.
"""

from numpy import int32, int64, uint64

from debandit.engine.compiled.jit import call, jit
from debandit.engine.compiled.lanes import fill_uniforms
from debandit.engine.compiled.layout import ARM, ARMS, BEST, LANES, LAST, RANDOM, SCRATCH, TIED, UNIFORMS


@jit
def place(ints, lane):
    """Where the rows of the lane's arm begin; unsigned, or every use would check for negative indices."""
    return uint64(ARMS + ints[lane] * ARM + lane)


@jit
def pick(w, at, ints, lane):
    """The number at this place of the lane's arm, of two."""
    first, second = w[ARMS + at], w[ARMS + ARM + at]
    return second if ints[lane] != 0 else first


@jit
def put(value, w, at, ints, lane):
    """Replace the number at this place of the lane's arm, of two."""
    first, second, to_second = w[ARMS + at], w[ARMS + ARM + at], ints[lane] != 0
    w[ARMS + at] = first if to_second else value
    w[ARMS + ARM + at] = value if to_second else second


@jit
def add(amount, w, at, ints, lane):
    """Add to the number at this place of the lane's arm, of two; adding nothing is no branch, not adding would be."""
    to_second = ints[lane] != 0
    w[ARMS + at] += 0.0 if to_second else amount
    w[ARMS + ARM + at] += amount if to_second else 0.0


@jit
def explore(probability, arm_count, s, ints, rng):
    """A uniform arm with the given probability, else the one that was chosen.

    Given that a lane explores, u / probability is uniform again.
    """
    fill_uniforms(s, rng)
    stretch, last = arm_count / probability if probability > 0.0 else 0.0, arm_count - 1
    for lane in range(LANES):
        arm, before = int64(int32(s[UNIFORMS + lane] * stretch)), ints[lane]
        arm = arm if arm < last else last
        ints[lane] = arm if s[UNIFORMS + lane] < probability else before


@call
def challenge(arm, ties, s, ints, rng):
    """Let the scores in SCRATCH, of one arm, challenge BEST; of equals the first, the last or a random one wins."""
    if ties == RANDOM:
        fill_uniforms(s, rng)
    for lane in range(LANES):
        score, best, before = s[SCRATCH + lane], s[BEST + lane], ints[lane]
        better, equal = score > best, score == best
        s[TIED + lane] = 1.0 if better else s[TIED + lane] + 1.0 if equal else s[TIED + lane]
        drawn = ties == RANDOM and s[UNIFORMS + lane] * s[TIED + lane] < 1.0
        ints[lane] = arm if better or (equal and (ties == LAST or drawn)) else before
        s[BEST + lane] = score if better else best
