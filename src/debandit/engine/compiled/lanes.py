"""Random numbers in lanes: one xoshiro256++ stream per run, many runs side by side.

A stream depends on (seed, purpose, world, run) alone, so that no answer depends on how the work was cut up.
"""

import numpy as np

from debandit.engine.compiled.jit import bits_of, call, float_of, jit
from debandit.engine.compiled.layout import BITS, LANES, NORMALS, SPARE, UNIFORMS


@jit
def _mix(x):
    """The finaliser of splitmix64: a bijection in which every input bit moves about half of the output bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@call
def seed_lane(rng, lane, key, run):
    """Start one lane at the beginning of its run's stream; `key` is that of the run's world (see `experiment`)."""
    word = _mix((key ^ run) + np.uint64(0x9E3779B97F4A7C15))
    for i in range(4):
        word += np.uint64(0x9E3779B97F4A7C15)
        rng[i * LANES + lane] = _mix(word)


@jit
def next_bits(rng, lane):
    """The next 64 random bits of one lane (xoshiro256++)."""
    s0, s1, s2, s3 = rng[lane], rng[LANES + lane], rng[2 * LANES + lane], rng[3 * LANES + lane]
    total = s0 + s3
    bits = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    rng[LANES + lane] = s1 ^ s2
    rng[lane] = s0 ^ s3
    rng[2 * LANES + lane] = s2 ^ shifted
    rng[3 * LANES + lane] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return bits


@jit
def uniform(rng, lane):
    """A uniform number in [0, 1), a multiple of 2^-52."""
    return float_of((next_bits(rng, lane) >> np.uint64(12)) | np.uint64(0x3FF0000000000000)) - 1.0


# Box-Muller without branches, so that lanes vectorise, in two loops, so that the constants of each fit into registers.
# The polynomials interpolate -2 log(1+r)/r, sin(x)/x and cos(x) at Chebyshev nodes of their ranges; a normal is off by
# less than 3e-8. They are sums of short sums because a long chain of operations would leave the lanes waiting; and the
# square root, which is slow, stands beside the sines, which do not wait for it.
# A double with the bits 0x433... is 2^52 plus the integer in its low bits: the fast way from integers to floats.


@jit
def _squared_radius(bits):
    """-2 log u for u made of the upper 32 bits: at most 6.77^2; what lies beyond has a probability of 1e-10."""
    u = float_of((bits >> np.uint64(32)) | np.uint64(0x4330000000000000)) - (2.0**52 - 0.5)  # times 2^32
    word = bits_of(u)
    # u = 2^e (1+r) with 1+r in [sqrt(1/2), sqrt 2); e is kept positive by an offset of 1024
    e = (word - np.uint64(0x3FE6A09E667F3BCD) + (np.uint64(1024) << np.uint64(52))) >> np.uint64(52)
    r = float_of(word - ((e - np.uint64(1024)) << np.uint64(52))) - 1.0
    r2 = r * r
    r4 = r2 * r2
    p0 = (-1.99999999876651 + 0.9999997699228573 * r) + (-0.6666669069961493 + 0.5000315819831892 * r) * r2
    p4 = (-0.4000187888074619 + 0.33216738828176817 * r) + (-0.28399300195832044 + 0.2653206272183416 * r) * r2
    p = p0 + r4 * (p4 + r4 * (-0.25613220870013904 + 0.14902372453515018 * r))
    minus_e = (2.0**52 + 1024.0 + 32.0) - float_of(e | np.uint64(0x4330000000000000))
    return minus_e * (2.0 * 0.6931471805599453) + p * r


@jit
def _point(bits, squared_radius):
    """The point at this radius and a uniform angle: 30 bits for an eighth turn either way, two to reflect it."""
    radius = np.sqrt(squared_radius)
    low = bits & np.uint64(0xFFFFFFFF)
    turn = float_of((low >> np.uint64(2)) | np.uint64(0x4330000000000000)) - (2.0**52 + 2.0**29 - 0.5)
    x = turn * (2.0**-30 * 1.5707963267948966)
    y = x * x
    y2 = y * y
    sine = x * ((0.9999999969177036 - 0.16666650673996775 * y) + (0.00833203578559731 - 0.000195039042508408 * y) * y2)
    c2 = (0.041666616692532826 - 0.0013886617999647076 * y) + 2.4379831251175367e-05 * y2
    cosine = (0.9999999999524894 - 0.4999999961485761 * y) + c2 * y2
    cosine = float_of(bits_of(cosine) ^ (low << np.uint64(63)))
    swap = (low & np.uint64(2)) != np.uint64(0)
    first, second = (sine, cosine) if swap else (cosine, sine)
    return radius * first, radius * second


@call
def normal_pair(rng, lane):
    """Two independent standard normals of one lane."""
    bits = next_bits(rng, lane)
    return _point(bits, _squared_radius(bits))


@call
def next_normals(w, ints, rng):
    """Where in `w` a fresh standard normal for every lane begins; Box-Muller fills two rows at a time."""
    if ints[SPARE]:
        ints[SPARE] = 0
        return NORMALS + LANES
    for lane in range(LANES):
        rng[BITS + lane] = next_bits(rng, lane)
    for lane in range(LANES):
        w[NORMALS + lane] = _squared_radius(rng[BITS + lane])
    for lane in range(LANES):
        w[NORMALS + lane], w[NORMALS + LANES + lane] = _point(rng[BITS + lane], w[NORMALS + lane])
    ints[SPARE] = 1
    return NORMALS


@call
def fill_uniforms(s, rng):
    """A uniform number for every lane, in UNIFORMS."""
    for lane in range(LANES):
        s[UNIFORMS + lane] = uniform(rng, lane)
