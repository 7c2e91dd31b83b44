"""Compile the kernels of the built-in rules, every so-many-th of them: python tests/compile_kernels.py 0 2."""

import sys

from catalogue import OTHERS, RULES

import debandit as db


def main(first: int, step: int) -> None:
    """One rule of each kernel plays once."""
    rules = [(policy, 2) for policy, _ in RULES.values()] + [(policy, arms) for policy, _, arms in OTHERS.values()]
    policies = {str(policy.kernel): (policy, arms) for policy, arms in rules}
    for kernel in sorted(policies)[first::step]:
        policy, arms = policies[kernel]
        db.simulate(policy, db.worlds.Bernoulli([0.5] * arms), horizon=40, runs=1, threads=1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
