"""Our own random numbers, tested as such, with bad generators that must fail the same tests."""

import numba
import numpy as np
import pytest
from catalogue import Z
from scipy import stats

from debandit.engine.compiled.jit import OPTIONS
from debandit.engine.compiled.lanes import next_bits, normal_pair, seed_lane
from debandit.engine.compiled.layout import LANES, WORDS
from debandit.engine.experiment import stream_keys

kernel = numba.njit(**OPTIONS)


@kernel
def _words(key, first_run, rng, out):
    """The first 64-bit words of consecutive runs' streams."""
    for i in range(len(out)):
        lane = i % LANES
        seed_lane(rng, lane, key, np.uint64(first_run + i))
        for j in range(out.shape[1]):
            out[i, j] = next_bits(rng, lane)


def words(seed, purpose, world, first_run, streams, length):
    out = np.empty((streams, length), np.uint64)
    _words(stream_keys(seed, purpose, np.array([world]))[0], first_run, np.empty(WORDS, np.uint64), out)
    return out


@kernel
def _normals(key, rng, out):
    for i in range(len(out)):
        seed_lane(rng, 0, key, np.uint64(i))
        for j in range(out.shape[1]):
            out[i, j, 0], out[i, j, 1] = normal_pair(rng, 0)


def normals(seed, streams, length):
    out = np.empty((streams, length, 2))
    _normals(stream_keys(seed, 1, np.array([0]))[0], np.empty(WORDS, np.uint64), out)
    return out


def unit(bits):
    return (bits >> np.uint64(11)) * 2.0**-53


def largest_z(bits):
    """The worst of: moments, uniformity, single bits, and correlation within and between neighbouring streams."""
    u = unit(bits)
    count = u.size
    z = [(u.mean() - 0.5) * np.sqrt(12 * count), ((u - 0.5) ** 2 - 1 / 12).mean() * np.sqrt(180 * count)]
    cells = np.histogram(u, 256, (0, 1))[0]
    z.append((((cells - count / 256) ** 2).sum() * 256 / count - 255) / np.sqrt(2 * 255))
    for bit in range(64):
        ones = int((bits >> np.uint64(bit) & np.uint64(1)).sum())
        z.append((ones - count / 2) / np.sqrt(count / 4))
        flips = (bits[:, 1:] ^ bits[:, :-1]) >> np.uint64(bit) & np.uint64(1)
        z.append((int(flips.sum()) - flips.size / 2) / np.sqrt(flips.size / 4))
    v = (u - 0.5) * np.sqrt(12)
    for product in (v[:, 1:] * v[:, :-1], v[1:] * v[:-1], v[1:, 1:] * v[:-1, :-1]):
        z.append(product.mean() * np.sqrt(product.size))
    return np.abs(z).max()


def shared_words(one, two):
    return len(np.intersect1d(one.ravel(), two.ravel()))


def cross_z(one, two):
    product = (unit(one) - 0.5) * (unit(two) - 0.5) * 12
    return abs(product.mean()) * np.sqrt(product.size)


def test_moments_uniformity_bits_and_neighbouring_runs():
    assert largest_z(words(1, 1, 0, 0, 4000, 250)) < Z
    assert largest_z(words(1, 1, 0, 10**15, 250, 4000)) < Z


@pytest.mark.parametrize("other", [(2, 1, 0), (1, 2, 0), (1, 1, 1), (2**63, 1, 0), (0, 1, 0)])
def test_seeds_purposes_and_worlds_are_independent(other):
    """Adjacent seeds, simulate and debias, and two logs share no stream, whichever runs are compared."""
    one, two = words(1, 1, 0, 0, 2000, 250), words(*other, 0, 2000, 250)
    assert shared_words(one, two) == 0  # expected by chance: 1e-8
    for shift in (0, 1, -1):
        assert cross_z(one, np.roll(two, shift, axis=0)) < Z


def test_bad_generators_fail_the_same_tests():
    rng = np.random.default_rng(0)
    state, lcg = 1, []
    for _ in range(10**6):  # a linear congruential generator: its low bits hardly change
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        lcg.append(state)
    assert largest_z(np.array(lcg, np.uint64).reshape(4000, 250)) > 2 * Z
    copied = np.repeat(rng.integers(0, 2**64, (2000, 250), dtype=np.uint64), 2, axis=0)  # two runs, one stream
    assert largest_z(copied) > 2 * Z
    # streams that begin at seed + run: run 1 of seed 1 is run 0 of seed 2
    streams = rng.integers(0, 2**64, (2001, 250), dtype=np.uint64)
    assert shared_words(streams[:-1], streams[1:]) > 0
    assert cross_z(streams[:-1], np.roll(streams[1:], 1, axis=0)) > 2 * Z


def tail_z(x):
    """Worst z of moments and of the counts beyond 1, ..., 5 standard deviations on either side."""
    n = x.size
    z = [x.mean() * np.sqrt(n), (np.square(x).mean() - 1) * np.sqrt(n / 2)]
    z += [(x**3).mean() * np.sqrt(n / 15), ((x**4).mean() - 3) * np.sqrt(n / 96)]
    for bound in range(6):
        for beyond in (x > bound, x < -bound):
            # a normal score for the count, right for small expectations too
            tail = stats.binom(n, stats.norm.sf(bound))
            count = int(beyond.sum())
            z.append(stats.norm.isf(np.clip(tail.sf(count - 1), 1e-300, 1 - 1e-16)) if count > tail.mean() else 0)
            z.append(stats.norm.ppf(np.clip(tail.cdf(count), 1e-300, 1 - 1e-16)) if count < tail.mean() else 0)
    return np.abs(z).max()


def test_normals_to_five_standard_deviations():
    x = normals(3, 1000, 5000)  # 1e7 numbers: 3 expected beyond 5 on each side
    assert tail_z(x.ravel()) < Z
    pair = x.reshape(-1, 2)
    for product in (pair[:, 0] * pair[:, 1], (pair[:, 0] ** 2 - 1) * (pair[:, 1] ** 2 - 1) / 2):
        assert abs(product.mean()) * np.sqrt(len(product)) < Z  # the two of a pair are independent


def test_bad_normals_fail_the_same_test():
    rng = np.random.default_rng(0)
    assert tail_z(rng.random((10**6, 12)).sum(axis=1) - 6) > 2 * Z  # the sum of twelve uniforms has no tails


def test_normals_are_box_muller_to_3e_8():
    """Against the formula in double precision, from the same bits."""
    bits = words(5, 1, 0, 0, 1000, 100)
    ours = np.array(normals(5, 1000, 100))
    low = bits & np.uint64(0xFFFFFFFF)
    radius = np.sqrt(-2 * np.log(((bits >> np.uint64(32)).astype(float) + 0.5) * 2.0**-32))
    angle = ((low >> np.uint64(2)).astype(float) - 2.0**29 + 0.5) * 2.0**-30 * np.pi / 2
    cosine = np.cos(angle) * np.where(low & np.uint64(1), -1.0, 1.0)
    swap = (low & np.uint64(2)) > 0
    exact = np.stack([np.where(swap, np.sin(angle), cosine), np.where(swap, cosine, np.sin(angle))], axis=-1)
    assert np.abs(ours - radius[..., None] * exact).max() < 3e-8
