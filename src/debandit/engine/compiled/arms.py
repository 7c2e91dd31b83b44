"""The numbers of each lane's own arm.

With two arms, choosing between their rows vectorises, which gathering does not. Both are loaded before one is chosen:
a load inside a conditional expression would be a branch.
"""

from numpy import int32, int64, uint64

from debandit.engine.compiled.jit import call, jit
from debandit.engine.compiled.lanes import fill_uniforms
from debandit.engine.compiled.layout import ARM, ARMS, BEST, ERROR, LANES, LAST, RANDOM, SCRATCH, TIED


@jit
def place(ints, lane):
    """Where the rows of the lane's arm begin; unsigned, or every use would check for negative indices."""
    return uint64(ARMS + ints[lane] * ARM + lane)


@jit
def pick(w, row, ints, lane):
    """A number of the lane's arm, of two."""
    first, second = w[ARMS + row + lane], w[ARMS + ARM + row + lane]
    return second if ints[lane] != 0 else first


@jit
def put(value, w, row, ints, lane):
    """Replace a number of the lane's arm, of two."""
    first, second, to_second = w[ARMS + row + lane], w[ARMS + ARM + row + lane], ints[lane] != 0
    w[ARMS + row + lane] = first if to_second else value
    w[ARMS + ARM + row + lane] = value if to_second else second


@jit
def add(amount, w, row, ints, lane):
    """Add to a number of the lane's arm, of two; adding nothing instead of not adding leaves no branch."""
    to_second = ints[lane] != 0
    w[ARMS + row + lane] += 0.0 if to_second else amount
    w[ARMS + ARM + row + lane] += amount if to_second else 0.0


@jit
def explore(probability, arm_count, s, ints, rng):
    """A uniform arm with the given probability, else the one that was chosen.

    Given that a lane explores, u / probability is uniform again.
    """
    fill_uniforms(s, SCRATCH, rng)
    stretch, last = arm_count / probability if probability > 0.0 else 0.0, arm_count - 1
    for lane in range(LANES):
        arm, before = min(int64(int32(s[SCRATCH + lane] * stretch)), last), ints[lane]
        ints[lane] = arm if s[SCRATCH + lane] < probability else before


@call
def challenge(arm, ties, s, ints, rng):
    """Let the scores in SCRATCH, of one arm, challenge BEST; of equals the first, the last or a random one wins."""
    if ties == RANDOM:
        fill_uniforms(s, ERROR, rng)
    for lane in range(LANES):
        score, best, before = s[SCRATCH + lane], s[BEST + lane], ints[lane]
        better, equal = score > best, score == best
        s[TIED + lane] = 1.0 if better else s[TIED + lane] + 1.0 if equal else s[TIED + lane]
        drawn = ties == RANDOM and s[ERROR + lane] * s[TIED + lane] < 1.0
        ints[lane] = arm if better or (equal and (ties == LAST or drawn)) else before
        s[BEST + lane] = score if better else best
