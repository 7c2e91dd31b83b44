"""Where everything of LANES runs lies that are played side by side, in rows of LANES numbers.

There are four workspaces, made by `play`, so that compiled code allocates nothing:

- `w` (floats): two rows of normals, one of other noise, the rows of each arm, and what a selecting rule remembers.
- `s` (floats): what is written in one round only. In an array of its own, because in a loop over arms LLVM does not see
  that a row of `w` is not one of the arm's.
- `ints`: the arms of this round, and which of them are prescribed or kept for good.
- `rng` (uint64): the four words of every lane's xoshiro256++, and one row of scratch.

The rows of an arm lie together, so that from one to another is a constant, known not to overlap. An arm has an odd
number of them, or the arms would compete for the same places of the cache.
"""

LANES = 64  # a plain int, so that numba knows the offsets that are passed to small functions, and LLVM vectorises


def _rows(count: int) -> list[int]:
    return [LANES * i for i in range(count)]


# in w
NORMALS, _, NOISE, ARMS = _rows(4)  # ARMS is where the rows of arm 0 begin
PULLS, SUM, SQUARES, SHARES, PRODUCTS, SPREADS, TRUTH, VARIANCE, SHIFT, SCALE, CENTRE, WIDTH, MADE = _rows(13)
# ... of an arm: the statistics of the run, its world, what the rule goes by, and pulls made, heard of or not
MEAN, _, ARM = _rows(16)[13:]  # by Welford's updates, whose sum of squared deviations is then the WIDTH
REWARD, COUNT, BEST, SCRATCH, UNIFORMS, ERROR, SHARE, EARLIER, TIED, ONE = _rows(10)  # in s; ONE: (3, K) of one lane
FIXED, HELD, SPARE = _rows(4)[1:]  # in ints
BAD_LANE, BAD_ROUND, INTS = SPARE + 1, SPARE + 2, SPARE + 8
BITS, WORDS = _rows(6)[4:]  # in rng

# rows of a rule's tables, and its numbers
WIDTHS, LEVELS, EXPLORE = range(3)
PRIOR_PULLS, PRIOR_SUM, NOISY, WIDE, EXPLORES, TIES, OPENING, COMMIT = range(8)
FLOOR, DECAY, GATE_PULLS, GATE_SUM, ROUNDS, NUMBERS = range(8, 14)
FIRST, LAST, RANDOM = range(3)  # ties

FREE, UNIFORM, LACKING = -1, -2, -3  # what is prescribed, where it is not an arm; see `engine.conditions`
