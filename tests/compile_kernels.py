"""Compile the kernels of the built-in rules, that of index rules first, and say which is ready."""

from catalogue import OTHERS, RULES

import debandit as db
from debandit.engine.kernels import INDEX


def main() -> None:
    """One rule of each kernel plays once."""
    rules = [(policy, 2) for policy, _ in RULES.values()] + [(policy, arms) for policy, _, arms in OTHERS.values()]
    policies = {str(policy.kernel): (policy, arms) for policy, arms in rules}
    for kernel in sorted(policies, key=lambda name: (name != INDEX, name)):
        policy, arms = policies[kernel]
        db.simulate(policy, db.worlds.Bernoulli([0.5] * arms), horizon=40, runs=1, threads=1)
        print(kernel, flush=True)


if __name__ == "__main__":
    main()
