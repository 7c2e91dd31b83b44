"""Microseconds of CPU for the probability that a Beta arm is best, per state: arrays as a batch step asks for them.

BEFORE has the figures of the code with panels of 12 nodes, 11 to 17 ends for every arm and rows as the first axis. They
were measured side by side with today's, 2,000 states at once; on another machine only the ratio says something.
"""

import time

import numpy as np

from debandit.policies.beta_draws import highest_beta

ARMS = (2, 3, 4, 5, 10)
SIZES = (256, 2_000)
BEFORE = {"web": (8.4, 12.6, 18.4, 24.7, 128.9), "small": (9.8, 18.9, 34.6, 49.9, 210.0)}


def played(rng, states, users, batches, rates):
    """Parameters (states, K) after some batch of a batched Thompson sampler whose shares are those of 64 draws."""
    a, c = np.ones((2, states, len(rates)))
    ends = rng.integers(1, batches + 1, states)
    for batch in range(batches):
        draws = rng.beta(a[:, None], c[:, None], (states, 64, len(rates)))
        share = (draws.argmax(axis=-1)[..., None] == np.arange(len(rates))).mean(axis=1)
        pulls = rng.multinomial(users // batches, share) * (batch < ends)[:, None]
        wins = rng.binomial(pulls, rates)
        a, c = a + wins, c + pulls - wins
    return a, c


def web(rng, states, arm_count):
    """20,000 to 100,000 users who convert at 1 to 10 %, and arms that differ by up to a tenth of that."""
    rates = rng.uniform(0.01, 0.1) * rng.uniform(1, 1.1, arm_count)
    return played(rng, states, rng.choice([20_000, 50_000, 100_000]), 20, rates)


def small(rng, states, arm_count):
    """60 to 300 users and any success rates."""
    return played(rng, states, rng.choice([60, 100, 300]), 10, rng.uniform(0.1, 0.9, arm_count))


def population(make, arm_count):
    rng = np.random.default_rng(arm_count)
    parts = [make(rng, max(SIZES) // 4, arm_count) for _ in range(4)]
    order = rng.permutation(max(SIZES))
    return [np.concatenate(each)[order] for each in zip(*parts, strict=True)]


def microseconds(a, c, chances=highest_beta):
    """Of the fastest of nine times."""
    times = []
    for _ in range(9):
        start = time.process_time()
        chances(a, c)
        times.append(time.process_time() - start)
    return min(times) / len(a) * 1e6


def main():
    print("The probability that a Beta arm is best: microseconds of CPU a state.\n")
    print("users    states" + "".join(f"{k:5} arms" for k in ARMS))
    for make in (web, small):
        populations = [population(make, k) for k in ARMS]
        for size in SIZES:
            row = [microseconds(a[:size], c[:size]) for a, c in populations]
            print(f"{make.__name__:7}{size:8,}" + "".join(f"{figure:10.1f}" for figure in row))
        print(f"{'':9}before" + "".join(f"{figure:10.1f}" for figure in BEFORE[make.__name__]))


if __name__ == "__main__":
    main()
