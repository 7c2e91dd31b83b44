"""The exact gap of explore-then-commit against a fixed arm, law by law, as ln |G|."""

import numpy as np

from debandit.errors import InputError
from debandit.theory.binomial import log_binomial
from debandit.theory.discrete import Discrete
from debandit.theory.gap_discrete import log_enumerated_gap, log_lattice_gap
from debandit.theory.gap_uniform import log_uniform_gap
from debandit.theory.lattice import thresholds
from debandit.theory.law import Law
from debandit.theory.laws import Bernoulli, Normal, Uniform


def log_exact_gap(law: Law, mu2: float, pulls: int, ties: str) -> float:
    """ln |E[(mu1 - Xbar_m) 1{arm 1 is chosen}]|."""
    match law:
        case Normal():
            return log_normal_gap(law, mu2, pulls)
        case Uniform():
            return log_uniform_gap(law, mu2, pulls)
        case Bernoulli():
            return log_mean([log_bernoulli_gap(law, n, pulls) for n in thresholds(law, mu2, pulls, ties)])
        case Discrete() if law.span is not None:
            return log_mean([log_lattice_gap(law, mu2, n, pulls) for n in thresholds(law, mu2, pulls, ties)])
        case Discrete():
            return log_enumerated_gap(law, mu2, pulls, ties)
    raise InputError(
        f"the exact gap of {law!r} cannot be had from eta alone",
        where="law",
        remedy="Use form='asymptotic', or one of Normal, Bernoulli, Discrete and Uniform.",
    )


def log_normal_gap(law: Normal, mu2: float, pulls: int) -> float:
    """G = -(sd / sqrt m) phi((mu2 - mu1) sqrt m / sd), (arm1bias:arm2deterministic)."""
    z = (mu2 - law.mean) / law.sd * np.sqrt(pulls)
    return float(np.log(law.sd) - 0.5 * np.log(2 * np.pi * pulls) - 0.5 * z * z)


def log_bernoulli_gap(law: Bernoulli, threshold: int, pulls: int) -> float:
    """E[(p - S / m) 1{S >= n}] = -p (1 - p) P(Bin(m - 1, p) = n - 1), S ~ Bin(m, p)."""
    return float(np.log(law.p) + np.log1p(-law.p) + log_binomial(threshold - 1, pulls - 1, law.p))


def log_mean(logs: list[float]) -> float:
    """ln of the mean of numbers given as logarithms."""
    return float(np.logaddexp.reduce(logs) - np.log(len(logs)))
