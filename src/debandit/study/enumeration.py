"""How often the intervals of two Bernoulli arms cover the truth, exactly: all that can happen is enumerated."""

import itertools
from collections.abc import Sequence

import numpy as np

from debandit.intervals import binary, wald
from debandit.policies import Policy
from debandit.study.comparisons import LEVEL
from debandit.theory import exact_counts

GRID = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# every rule for 0/1 rewards, and the numbers of rounds with which all that can happen on two arms is enumerated: those
# of exp3 double with every round, and the chances of ts_postdiff are slow. With two arms top_two_thompson's own leader
# of 1/2 would be uniform. Ties to the last arm are ties to the first one with the arms exchanged.
ENUMERATED = dict.fromkeys(
    (
        *("etc", "etc(pulls=5)", "etc(pulls=5,ties=random)", "greedy", "greedy(ties=random)"),
        *("epsilon_greedy", "epsilon_greedy(ties=random)"),
        *("decaying_epsilon_greedy", "decaying_epsilon_greedy(ties=random)"),
        *("softmax", "inverse_gap", "leader_challenger"),
        *("ucb", "ucb(ties=random)", "ucb_tuned", "ucb_tuned(ties=random)", "kl_ucb", "kl_ucb(ties=random)"),
        *("successive_elimination", "successive_elimination(sd=0.5)", "successive_elimination(sd=0.25)"),
        *("thompson", "thompson(initial_pulls=1,center=sample)", "gaussian_thompson", "top_two_thompson(leader=0.7)"),
        *("beta_thompson", "play_the_winner", "uniform", "fixed_weights(weights=[0.8,0.2])"),
    ),
    (20, 30, 40, 60, 100),
) | {"ts_postdiff": (20, 30, 40), "exp3": (20,)}


def exact_minimum(
    policy: Policy | str, horizon: int, grid: Sequence[float] = GRID
) -> dict[str, tuple[float, float, float]]:
    """The lowest coverage of an arm by the binary and by the Wald interval, with its p and that of the other arm.

    By enumeration over all pairs of probabilities from the grid, of two Bernoulli arms, given that the arm was pulled.
    """
    pulls, wins = np.meshgrid(np.arange(horizon + 1.0), np.arange(horizon + 1.0), indexing="ij")
    wins = np.minimum(wins, pulls)  # more never happen
    means = wins / np.maximum(pulls, 1)
    limits = {
        "binary": binary(pulls, wins, LEVEL),
        "wald": wald(pulls, means, pulls * means * (1 - means), LEVEL),
    }
    worst = dict.fromkeys(limits, (2.0, 0.0, 0.0))
    for truths in itertools.product(grid, repeat=2):
        chances = exact_counts(policy, truths[0], truths[1], horizon)[:, 1:]
        for arm, method in itertools.product(range(2), limits):
            low, high = (limit[1:] for limit in limits[method])
            covered = chances[arm][(low <= truths[arm]) & (truths[arm] <= high)].sum()
            found = (float(covered / chances[arm].sum()), truths[arm], truths[1 - arm])
            worst[method] = min(worst[method], found)
    return worst
