"""Which random numbers belong to which run: they follow from (seed, purpose, world, run) alone.

So no answer depends on how the work was cut up, nor on how many runs or worlds there are besides. The compiled loop
goes on from `stream_keys` by itself; what is simulated in numpy takes a `uniforms` table or a generator for each run.
"""

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Ints

Words = NDArray[np.uint64]
_START, _STEP = np.uint64(0x6465_6261_6E64_6974), np.uint64(0x9E3779B97F4A7C15)


def stream_keys(seed: int, purpose: int, world_ids: Ints) -> Words:
    """What the streams of all runs in each world have in common (W,)."""
    key = np.full(len(world_ids), _START)
    for word in (np.uint64(seed), np.uint64(purpose), world_ids.astype(np.uint64)):
        key = _absorbed(key, word)
    return key


def run_words(keys: Words, who: Ints) -> Words:
    """What tells each run (world, number) from all others."""
    return _absorbed(keys[who[:, 0]], who[:, 1].astype(np.uint64))


def uniforms(words: Words, first: int, count: int) -> Floats:
    """Numbers first, ..., of each run's stream (count, runs), strictly between 0 and 1; the stream is splitmix64's."""
    with np.errstate(over="ignore"):
        steps = np.arange(first + 1, first + count + 1, dtype=np.uint64)[:, None] * _STEP
        bits = _mixed(words + steps)
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def normals(words: Words, first: int, count: int) -> Floats:
    """Standard normals (count, runs) by Box and Muller, from as many uniform numbers, rounded up to an even number."""
    u = uniforms(words, first, count + count % 2)
    radius, angle = np.sqrt(-2.0 * np.log(u[::2])), 2.0 * np.pi * u[1::2]
    return np.concatenate((radius * np.cos(angle), radius * np.sin(angle)))[:count]


def generators(words: Words) -> list[np.random.Generator]:
    """A generator for each run."""
    return [np.random.Generator(np.random.SFC64(word)) for word in words.tolist()]


def _absorbed(key: Words, word: Words | np.uint64) -> Words:
    with np.errstate(over="ignore"):
        return _mixed((key ^ word) + _STEP)


def _mixed(x: Words) -> Words:
    """The finaliser of splitmix64: a bijection in which every input bit moves about half of the output bits."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
