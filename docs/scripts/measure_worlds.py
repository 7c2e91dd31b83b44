"""The bias that worlds of 0/1 rewards leave, exactly, by enumeration; prints the table of docs/worlds.md.

python docs/scripts/measure_worlds.py
"""

import numpy as np

from debandit.policies import as_policy
from debandit.tables import Column, render
from debandit.theory.dynamic import _binomials, _states, _weights

HORIZON = 30
RULES = {
    "ETC": "etc(pulls=3)",
    "UCB": "ucb",
    "normal TS": "thompson(initial_pulls=1)",
    "Beta TS": "beta_thompson(initial_pulls=1)",
    "EG": "epsilon_greedy(epsilon=0.05)",
}
WORLDS = {"naive": None, "efron": 0.0, "jeffreys": 0.5}  # wins and losses that are added to each arm's


def main() -> None:
    """Print a row for each pair of success rates and each world."""
    rows = [
        {"rates": str(rates), "world": world} | {name: left(rule, rates, lent) for name, rule in RULES.items()}
        for rates in ((0.3, 0.6), (0.5, 0.5), (0.1, 0.2))
        for world, lent in WORLDS.items()
    ]
    columns = [Column("rates", "success rates", "text"), Column("world", "world", "text")]
    print(render(rows, [*columns, *(Column(name, name, "number") for name in RULES)], 4))


def left(rule: str, rates: tuple[float, float], lent: float | None) -> float:
    """The mean over arms of |E[estimate] - p|; each of these rules pulls both arms."""
    states, weights = _states(HORIZON), _weights(as_policy(rule), HORIZON)
    live = np.flatnonzero(weights)
    n1, n2, s1, s2 = (part[live] for part in states[:4])
    means = np.stack([s1 / np.maximum(n1, 1), s2 / np.maximum(n2, 1)])

    def chances(p1: float, p2: float) -> np.ndarray:
        return weights[live] * _binomials(p1, HORIZON)[n1, s1] * _binomials(p2, HORIZON)[n2, s2]

    estimates = means
    if lent is not None:
        worlds = np.stack([(s1 + lent) / (n1 + 2 * lent), (s2 + lent) / (n2 + 2 * lent)])
        biases = np.stack([means @ chances(*world) - world for world in worlds.T], axis=1)
        estimates = means - biases
    return float(np.abs(estimates @ chances(*rates) - np.array(rates)).mean())


if __name__ == "__main__":
    main()
