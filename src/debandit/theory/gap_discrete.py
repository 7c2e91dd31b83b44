"""The exact gap for an arm with finitely many values."""

from math import comb

import numpy as np

from debandit.errors import InputError
from debandit.theory.checks import Floats
from debandit.theory.discrete import Discrete

LARGEST_GRID = 2**23  # lattice points of the sum, or combinations of values


def log_lattice_gap(law: Discrete, mu2: float, threshold: int, pulls: int) -> float:
    """ln |E[(mu1 - Xbar_m) 1{sum >= m origin + n d}]| for a lattice law of span d and n = threshold.

    Under the law tilted by zeta the sum Y + m mu2 has Y centred at 0, and with R the rare one of the two events

        G = -exp(-m rate(mu2)) E~[|mu1 - mu2 - Y / m| e^(-zeta Y) 1{R}],   e^(-zeta Y) <= 1 on R:

    a sum of positive terms of ordinary size, whose m-fold convolution one Fourier transform does.
    """
    assert law.span is not None
    top = pulls * round((law.high - law.low) / law.span)
    if not 0 < threshold <= top:
        return -np.inf
    if threshold in (1, top):  # one value of the sum makes the event, or is all it lacks
        end = 0 if threshold == 1 else -1
        return float(np.log(abs(law.values[end] - law.mean)) + pulls * np.log(law.probabilities[end]))
    zeta = law.zeta(mu2)
    mass = _sum_law(law, zeta, pulls)
    excess = law.span * np.arange(top + 1) - pulls * (mu2 - law.origin)
    rare = slice(threshold, None) if mu2 >= law.mean else slice(None, threshold)
    distance = np.abs(mu2 - law.mean + excess[rare] / pulls)
    total = np.dot(distance * np.exp(np.minimum(-zeta * excess[rare], 1.0)), mass[rare])
    return float(np.log(total) - pulls * law.rate(mu2)) if total > 0 else -np.inf


def _sum_law(law: Discrete, zeta: float, pulls: int) -> Floats:
    """The mass function of the sum of m rewards under the tilted law, on its lattice."""
    from scipy.fft import irfft, next_fast_len, rfft

    steps = np.rint((law.values - law.low) / (law.span or 1.0)).astype(np.int64)
    top = pulls * int(steps[-1])
    _check_size(top, "the sum has too many possible values")
    one = np.zeros(steps[-1] + 1)
    one[steps] = law.tilted(zeta)
    size = next_fast_len(top + 1, real=True)
    many: Floats = irfft(rfft(one, size) ** pulls, size)
    return np.asarray(np.maximum(many[: top + 1], 0.0))


def log_enumerated_gap(law: Discrete, mu2: float, pulls: int, ties: str) -> float:
    """The same for a non-lattice law, over all counts of its values (a multinomial law)."""
    _check_size(comb(pulls + law.values.size - 1, pulls), "there are too many combinations of values")
    excess, log_mass = _combinations(law, mu2, pulls)
    tied = np.abs(excess) <= 1e-12 * pulls * (law.high - law.low)
    chosen = np.where(tied, {"first": 1.0, "random": 0.5, "last": 0.0}[ties], excess > 0)
    rare = chosen if mu2 >= law.mean else 1 - chosen
    distance = np.abs(mu2 - law.mean + excess / pulls) * rare
    kept = distance > 0
    return float(np.logaddexp.reduce(log_mass[kept] + np.log(distance[kept]))) if kept.any() else -np.inf


def _combinations(law: Discrete, mu2: float, pulls: int) -> tuple[Floats, Floats]:
    """The sum minus m mu2, and ln of its probability, for all counts of the values that add up to m."""
    from scipy.special import gammaln

    offset, chance = law.values - mu2, np.log(law.probabilities)
    excess, log_mass, left = np.zeros(1), np.array([gammaln(pulls + 1.0)]), np.array([pulls])
    for value, weight in zip(offset[:-1], chance[:-1], strict=True):
        row = np.repeat(np.arange(left.size), left + 1)
        count = np.arange(row.size) - np.repeat(np.cumsum(left + 1) - (left + 1), left + 1)
        excess = excess[row] + count * value
        log_mass = log_mass[row] + count * weight - gammaln(count + 1.0)
        left = left[row] - count
    return excess + left * offset[-1], log_mass + left * chance[-1] - gammaln(left + 1.0)


def _check_size(size: int, what: str) -> None:
    if size > LARGEST_GRID:
        raise InputError(f"{what} for the exact gap: {size}", where="pulls", remedy="Use form='asymptotic'.")
