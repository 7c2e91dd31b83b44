"""The exact gap of explore-then-commit against a fixed arm, law by law, as ln |G|."""

from fractions import Fraction
from math import comb, factorial, log

import numpy as np

from debandit.errors import InputError
from debandit.theory.arguments import Floats
from debandit.theory.discrete import Discrete
from debandit.theory.etc_bernoulli import log_binomial
from debandit.theory.law import BernoulliLaw, Law, NormalLaw, UniformLaw


def log_exact_gap(law: Law, mu2: float, pulls: int, ties: str) -> float:
    """ln |E[(mu1 - Xbar_m) 1{arm 1 is chosen}]|."""
    match law:
        case NormalLaw():
            return log_normal_gap(law, mu2, pulls)
        case UniformLaw():
            return log_uniform_gap(law, mu2, pulls)
        case BernoulliLaw():
            return log_mean([log_bernoulli_gap(law, n, pulls) for n in thresholds(law, mu2, pulls, ties)])
        case Discrete() if law.span is not None:
            return log_mean([log_lattice_gap(law, mu2, n, pulls) for n in thresholds(law, mu2, pulls, ties)])
        case Discrete():
            return log_enumerated_gap(law, mu2, pulls, ties)
    raise InputError(
        f"the exact gap of {law!r} cannot be had from eta alone",
        where="law",
        remedy="Use form='asymptotic', or one of NormalLaw, BernoulliLaw, Discrete and UniformLaw.",
    )


def log_normal_gap(law: NormalLaw, mu2: float, pulls: int) -> float:
    """G = -(sd / sqrt m) phi((mu2 - mu1) sqrt m / sd), (arm1bias:arm2deterministic)."""
    z = (mu2 - law.mean) / law.sd * np.sqrt(pulls)
    return float(np.log(law.sd) - 0.5 * np.log(2 * np.pi * pulls) - 0.5 * z * z)


def log_bernoulli_gap(law: BernoulliLaw, threshold: int, pulls: int) -> float:
    """E[(p - S / m) 1{S >= n}] = -p (1 - p) P(Bin(m - 1, p) = n - 1), S ~ Bin(m, p)."""
    return float(np.log(law.p) + np.log1p(-law.p) + log_binomial(threshold - 1, pulls - 1, law.p))


def log_mean(logs: list[float]) -> float:
    """ln of the mean of numbers given as logarithms."""
    return float(np.logaddexp.reduce(logs) - np.log(len(logs)))


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


FEW = 16  # up to here the spline of the sum is summed in exact fractions, beyond it the Fourier integral converges fast


def log_uniform_gap(law: UniformLaw, mu2: float, pulls: int) -> float:
    """ln |E[(mu1 - Xbar_m) 1{Xbar_m > mu2}]|; the law is symmetric, so mu2 and 2 mu1 - mu2 have the same gap."""
    room = min(law.high - mu2, mu2 - law.low) / (2 * law.half)  # from mu2 to the nearer end, at most 1/2
    if room <= 0:
        return -np.inf
    if pulls <= FEW:
        return log(2 * law.half) + _log_spline_gap(Fraction(room), pulls)
    return log(law.half) + _log_fourier_gap(1 - 2 * room, pulls)


def _log_spline_gap(room: Fraction, pulls: int) -> float:
    """On (0, 1), mu2 = 1 - room, by the law of Irwin and Hall, in fractions because the terms alternate:
    E[(S - s)_+^i] / i! = sum_k (-1)^k C(m, k) (m - s - k)_+^(m+i) / (m + i)!."""
    tail, excess = Fraction(0), Fraction(0)
    for k in range(int(pulls * room) + 1):
        base = pulls * room - k
        tail += (-1) ** k * comb(pulls, k) * base**pulls / factorial(pulls)
        excess += (-1) ** k * comb(pulls, k) * base ** (pulls + 1) / factorial(pulls + 1)
    gap = (Fraction(1, 2) - room) * tail + excess / pulls
    return log(gap.numerator) - log(gap.denominator)


def _log_fourier_gap(mu2: float, pulls: int) -> float:
    """On (-1, 1), mu2 >= 0. Tilted by any y > 0 the sum is Y + m mu2, Y with characteristic function phi, and

        G = -exp(-m (y mu2 - eta(y))) (mu2 A + B / m),
        A = int_0^inf e^(-y x) f_Y(x) dx = (1 / 2 pi) int phi(t) / (y + it) dt,

    B the same with x e^(-y x), that is 1 / (y + it)^2. y is zeta(mu2), but at least one standard deviation of phi from
    the pole.
    """
    law = UniformLaw(-1.0, 1.0)
    y = max(law.zeta(mu2), float(np.sqrt(3 / pulls)))
    points, weights = _nodes(y, law.eta_second(y), pulls)
    ratio = (np.cos(points) + 1j * np.sin(points) / np.tanh(y)) * (y / (y + 1j * points))  # M(y + it) / M(y)
    phi = np.exp(pulls * (np.log(ratio) - 1j * points * mu2))
    pole = 1 / (y + 1j * points)
    first, second = (float(np.dot(weights, (phi * kernel).real)) / np.pi for kernel in (pole, pole**2))
    return float(np.log(mu2 * first + second / pulls) - pulls * (y * mu2 - law.eta(y)))


def _nodes(y: float, curvature: float, pulls: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes on panels one standard deviation of phi wide, up to where |phi| < e^-42, for
    |M(y + it) / M(y)| <= y coth y / |y + it|."""
    width = 1 / np.sqrt(pulls * curvature)
    end = np.sqrt((y / np.tanh(y)) ** 2 * np.exp(84 / pulls) - y**2)
    edges = np.linspace(0.0, end, int(np.ceil(end / width)) + 1)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * nodes).ravel(), (half[:, None] * weights).ravel()


def position(law: Law, mu2: float, pulls: int) -> tuple[float, bool]:
    """(m mu2 - m origin) / span, and whether it is whole up to rounding: then the exploration means can tie."""
    assert law.span is not None
    place = pulls * ((mu2 - law.origin) / law.span)
    nearest = float(np.round(place))
    tied = abs(place - nearest) <= 1e-12 * max(abs(place), 1e3)
    return (nearest if tied else place), tied


def thresholds(law: Law, mu2: float, pulls: int, ties: str) -> list[int]:
    """The lattice indices n such that arm 1 is chosen if and only if its sum is at least m origin + n span.

    One index, or with random ties two of equal weight.
    """
    place, tied = position(law, mu2, pulls)
    if not tied:
        return [int(np.ceil(place))]
    index = int(place)
    return {"first": [index], "last": [index + 1], "random": [index, index + 1]}[ties]
