"""The intervals in closed form: `wald`, `binary`, `wilson`, `pooled_t`, the plain `moderated_t`, and `two_part`.

All take the rewards of one experiment, or of many with the same arms and rounds. scipy.special takes long to import, so
the functions that need it import it themselves.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
ARM, WINNER = 0.7, 0.3  # the share of the error below: an arm's mean is biased downward, but the highest one upward
_MEASURED = 0.95  # the level at which the recipes were found
_STEPS = 60  # halvings: more than a float has bits


class Limits(NamedTuple):
    """Limits of shape (experiments, arms): NaN where nothing is known, infinite where there is no limit."""

    low: Floats
    high: Floats

    def where(self, known: NDArray[np.bool_]) -> "Limits":
        """The same limits, but NaN where nothing is known."""
        return Limits(np.where(known, self.low, np.nan), np.where(known, self.high, np.nan))

    def wider(self, other: "Limits") -> "Limits":
        """On each side the limit that is farther out."""
        return Limits(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


class Sample:
    """Pulls, means and within-arm sums of squares of shape (experiments, arms); NaN means without a pull."""

    def __init__(self, arms: ArrayLike, rewards: ArrayLike, arm_count: int) -> None:
        index = np.atleast_2d(np.asarray(arms, dtype=np.int64))
        self.rewards = np.atleast_2d(np.asarray(rewards, dtype=np.float64)).ravel()
        self.shape = (len(index), arm_count)
        self.index = (index + arm_count * np.arange(len(index))[:, None]).ravel()  # which experiment and arm
        self.pulls = self.total(np.ones(len(self.rewards)))
        lowest, highest = np.full(self.pulls.size, np.inf), np.full(self.pulls.size, -np.inf)
        np.minimum.at(lowest, self.index, self.rewards)
        np.maximum.at(highest, self.index, self.rewards)
        with np.errstate(invalid="ignore"):
            means = self.total(self.rewards) / self.pulls
        constant = (lowest == highest).reshape(self.shape)  # rounding must not make a variance out of nothing
        self.means: Floats = np.where(constant, lowest.reshape(self.shape), means)
        self.deviations: Floats = self.rewards - self.each(self.means)
        self.squares = self.total(self.deviations**2)

    @cached_property
    def skewness_and_kurtosis(self) -> tuple[Floats, Floats]:
        """Those that all arms of an experiment share; kept, because several limits of a sample need them."""
        return _shape(self)

    def total(self, values: Floats) -> Floats:
        """Values of all rounds, added up for each arm."""
        totals = np.bincount(self.index, values, self.shape[0] * self.shape[1])
        return totals.astype(np.float64, copy=False).reshape(self.shape)

    def each(self, values: Floats) -> Floats:
        """An arm's value in each of its rounds."""
        spread: Floats = values.ravel()[self.index]
        return spread


def wald(pulls: Floats, means: Floats, squares: Floats, level: float) -> Limits:
    """The textbook limits, mean ± z s.e.; NaN for an arm whose rewards do not vary, or that was pulled once."""
    from debandit.special import ndtri

    known = (pulls > 1) & (squares > 0)
    variance = np.where(known, squares, np.nan) / np.maximum(pulls - 1, 1)
    half = ndtri((1 + level) / 2) * np.sqrt(variance / np.maximum(pulls, 1))
    return Limits(means - half, means + half)


def binary(pulls: Floats, wins: Floats, level: float, below: float = ARM) -> Limits:
    """Limits of a probability: the mid-p limit, and Clopper and Pearson's, which is wider, where less error is allowed.

    That is above, because the means are biased downward; for the `WINNER` it is below.
    """
    from debandit.special import betaincinv

    tail, seen = (1 - level) / 2, pulls > 0
    n, s = np.where(seen, pulls, 1.0), np.where(seen, wins, 0.0)
    if below < 0.5:
        low = np.where(s > 0, betaincinv(np.maximum(s, 1), n - s + 1, tail), 0.0)
        return Limits(low, 1 - mid_p_lower(n, n - s, tail)).where(seen)
    high = np.where(s < n, betaincinv(s + 1, np.maximum(n - s, 1), 1 - tail), 1.0)
    return Limits(mid_p_lower(n, s, tail), high).where(seen)


def mid_p_lower(pulls: Floats, wins: Floats, tail: float) -> Floats:
    """The p with P(X > wins) + P(X = wins) / 2 = tail; 0 without a win. The upper limit is 1 - that of the losses."""
    from debandit.special import betainc, betaincinv

    pairs, place = np.unique(pulls + 1j * wins, return_inverse=True)  # few of very many differ
    n, s = pairs.real, pairs.imag
    won, lost = np.maximum(s, 1.0), np.maximum(n - s, 1.0)
    low, high = betaincinv(won, n - won + 1, tail), np.where(s < n, betaincinv(s + 1, lost, tail), 1.0)
    for _ in range(_STEPS):
        p = (low + high) / 2
        more = np.where(s < n, betainc(s + 1, lost, p), 0.0)  # P(X > s)
        above = more + betainc(won, n - won + 1, p) > 2 * tail  # P(X > s) + P(X >= s)
        low, high = np.where(above, low, p), np.where(above, p, high)
    limits: Floats = np.minimum(np.where(s > 0, high, 0.0), s / n)[place].reshape(pulls.shape)  # tails may be near 1/2
    return limits


class Sums(NamedTuple):
    """The same three of experiments whose rewards are not known."""

    pulls: Floats
    means: Floats
    squares: Floats


class PooledT(NamedTuple):
    """Limits per arm, and the skewness and kurtosis that all arms of an experiment share."""

    low: Floats
    high: Floats
    skewness: Floats  # (experiments,)
    kurtosis: Floats


def pooled_t(sample: Sample | Sums, level: float, below: float = ARM) -> PooledT:
    """A t interval around the sample mean that does not believe the small spread of a starved, skewed arm.

    `moderated` says how the spread is found. Skewness shifts the limits. 70 % of the error is allowed below and 30 %
    above, because the means are biased downward; for the `WINNER` the other way round.
    """
    parts = moderated(sample)
    t_low, t_high = t_quantile(parts.df, below * (1 - level)), t_quantile(parts.df, (1 - below) * (1 - level))
    with np.errstate(invalid="ignore"):
        low = sample.means - (t_low + np.clip(parts.shift, -0.4 * t_low, 0.4 * t_low)) * parts.se
        high = sample.means + (t_high - np.clip(parts.shift, -0.6 * t_high, 0.0)) * parts.se
    return PooledT(low, high, parts.skewness, parts.kurtosis)


def t_quantile(df: Floats, tail: Floats | float) -> Floats:
    """What a t variable exceeds with this probability, or 0, so that no limit is on the wrong side at any level."""
    from debandit.special import stdtrit

    quantile: Floats = np.maximum(stdtrit(df, 1 - tail), 0.0)
    return quantile


class Moderated(NamedTuple):
    """Standard errors of the means with their degrees of freedom, and how far skewness shifts limits, in units of them.

    NaN without a pull, and if rewards vary within no arm. Skewness and kurtosis are those of an experiment.
    """

    se: Floats
    df: Floats
    shift: Floats
    skewness: Floats  # (experiments,)
    kurtosis: Floats


def own_weight(sample: Sample | Sums) -> Floats:
    """What a reward counts for when its arm's variance is estimated, of shape (experiments, 1); the less, the longer
    the tails of the rewards: see `moderated`."""
    if not isinstance(sample, Sample):
        return np.full((len(sample.pulls), 1), 2 / 3)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(2 / (1.5 * (sample.skewness_and_kurtosis[1] - 1)), 0.04, 1.0)[:, None]


def moderated(sample: Sample | Sums, weight: Floats | None = None) -> Moderated:
    """How well each mean is known, with some of the spread borrowed from the other arms.

    The sampling variance of a variance is (kurtosis - 1)/n of its square, so an observation counts for 2/(kurtosis - 1)
    degrees of freedom only, and the rest is borrowed. Where only sums are known, the skewness is taken to be 0 and the
    kurtosis 3. The shift is that of 95 % limits, whatever the level: were it to change with the level, then limits of
    skewed rewards would not always get wider with it. `weight` is `own_weight`, or that of another experiment.
    """
    from debandit.special import ndtri

    n, squares = sample.pulls, sample.squares
    with np.errstate(invalid="ignore", divide="ignore"):
        g, kappa = np.zeros(len(n)), np.full(len(n), 3.0)
        if isinstance(sample, Sample):
            g, kappa = sample.skewness_and_kurtosis
        weight = own_weight(sample) if weight is None else weight
        own = weight * (n - 1)
        v, df = (2 * pooled_variance(sample, 20) + weight * squares) / (2 + own), 2 + own
        se = np.where((v > 0) & (n > 0), np.sqrt(v / n), np.nan)
        share, a = own / (2 + own), g[:, None] / np.sqrt(n)
        shift = -share * a / 2 + a * (1 - 3 * share) / 6 * (ndtri((1 + _MEASURED) / 2) ** 2 - 1)
    return Moderated(se, df, shift, g, kappa)


def moderated_t(sample: Sample, level: float) -> Limits:
    """The plain moderated t with n + 1 degrees of freedom: too short for skewed rewards, a yardstick of width."""
    from debandit.special import stdtrit

    n = sample.pulls
    with np.errstate(invalid="ignore", divide="ignore"):
        v = (2 * pooled_variance(sample, 20) + sample.squares) / (n + 1)
        half = np.where((v > 0) & (n > 0), stdtrit(n + 1, (1 + level) / 2) * np.sqrt(v / n), np.nan)
    return Limits(sample.means - half, sample.means + half)


def pooled_variance(sample: Sample | Sums, cap: int) -> Floats:
    """The average of the arms' variances, of shape (experiments, 1); no arm counts for more than `cap` pulls."""
    spare = np.maximum(sample.pulls - 1, 0.0)
    weights = np.minimum(spare, cap)
    with np.errstate(invalid="ignore"):
        total = (weights * sample.squares / np.maximum(spare, 1)).sum(axis=1, keepdims=True)
        pooled: Floats = total / weights.sum(axis=1, keepdims=True)
    return pooled


def residuals(sample: Sample) -> Floats:
    """The residuals of the arms of one experiment with at least two pulls, together of variance 1."""
    found = _scaled(sample)[sample.each(sample.pulls) >= 2]
    spread = found.std() if len(found) else 0.0
    return found / spread if spread > 0 else found[:0]


def _scaled(sample: Sample) -> Floats:
    """Deviations from the arm's mean in units of its spread, a little of which is borrowed; 0 if there is none.

    They add up to 0 within each arm.
    """
    n = sample.pulls
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.sqrt(n / (n - 1)) / np.sqrt((pooled_variance(sample, 5) + sample.squares) / n)
    return sample.deviations * sample.each(np.where((n >= 2) & np.isfinite(scale), scale, 0.0))


def _shape(sample: Sample) -> tuple[Floats, Floats]:
    """Skewness and kurtosis of the residuals of all arms with at least two pulls; of fewer than four: 0 and 3."""
    e = _scaled(sample)
    count = np.where(sample.pulls >= 2, sample.pulls, 0).sum(axis=1)
    second, third, fourth = (sample.total(e**power).sum(axis=1) / count for power in (2, 3, 4))
    enough = count >= 4
    return np.where(enough, third / second**1.5, 0.0), np.where(enough, fourth / second**2, 3.0)


def two_part(sample: Sample, level: float) -> Limits:
    """Limits of P(not 0) times limits of the mean amount, whose relative spread is that of all arms.

    An arm without a non-zero reward has no upper limit (inf). NaN if rewards vary within no arm.
    """
    from debandit.special import ndtri

    n, positive = sample.pulls, sample.rewards > 0
    plus, sums = sample.total(positive.astype(np.float64)), sample.total(sample.rewards)
    tail, z = (1 - level) / 2, ndtri((1 + level) / 2)
    seen = np.maximum(n, 1.0)
    p, p_low, p_high = plus / seen, mid_p_lower(seen, plus, tail), 1 - mid_p_lower(seen, seen - plus, tail)
    amount = _amounts(plus, sums)
    ratio = np.exp(z * np.sqrt((_relative_variance(sample, positive, plus, sums) + 0.49) / (plus + 1)))
    up = np.hypot(amount * (p_high - p), (p + p_high) / 2 * amount * (ratio - 1))
    down = np.hypot(amount * (p - p_low), (p + p_low) / 2 * amount * (1 - 1 / ratio))
    low = np.maximum(np.fmin(p * amount - down, pooled_t(sample, level).low), 0.0)
    high = np.where(plus > 0, np.fmax(p * amount + up, sample.means), np.inf)  # at low levels the mean may be higher
    return Limits(low, high).where((n > 0) & (sample.squares > 0).any(axis=1, keepdims=True))


def two_part_centre(sample: Sample) -> Floats:
    """What the limits of `two_part` lie around: P(not 0) times the mean amount, a little of it that of all arms."""
    plus, sums = sample.total((sample.rewards > 0).astype(np.float64)), sample.total(sample.rewards)
    with np.errstate(invalid="ignore"):
        centre: Floats = plus / sample.pulls * _amounts(plus, sums)
    return centre


def _amounts(plus: Floats, sums: Floats) -> Floats:
    """The mean of the non-zero rewards, with one more that is the average of all arms."""
    everywhere = np.maximum(plus.sum(axis=1, keepdims=True), 1.0)
    amounts: Floats = (sums.sum(axis=1, keepdims=True) / everywhere + sums) / (1 + plus)
    return amounts


def wilson(pulls: Floats, wins: Floats, z_low: Floats | float, z_high: Floats | float) -> Limits:
    """Wilson's limits of a probability, as many standard errors out as is said for each side."""
    seen = pulls > 0
    n, s = np.where(seen, pulls, 1.0), np.where(seen, wins, 0.0)
    return Limits(_wilson_lower(n, s, z_low), 1 - _wilson_lower(n, n - s, z_high)).where(seen)


def _wilson_lower(n: Floats, s: Floats, z: Floats | float) -> Floats:
    """The lower solution x of (s/n - x)^2 = z^2 x (1 - x)/n, written so that it is 0 without a win."""
    p, spread = s / n, np.square(z) / (2 * n)
    upper = p + spread + np.sqrt(2 * spread * p * (1 - p) + spread**2)  # but for a factor the upper solution
    lower: Floats = np.where(s > 0, p**2, 0.0) / np.where(s > 0, upper, 1.0)
    return lower


def _relative_variance(sample: Sample, positive: np.ndarray, plus: Floats, sums: Floats) -> Floats:
    """Squared coefficient of variation of the amounts within arms; at least .05, and 1 if no arm has two."""
    mean = sums / np.maximum(plus, 1)
    squares = sample.total(np.where(positive, sample.rewards - sample.each(mean), 0.0) ** 2)
    several = plus >= 2
    above = np.where(several, squares, 0).sum(axis=1, keepdims=True)
    below = np.where(several, (plus - 1) * mean**2, 0).sum(axis=1, keepdims=True)
    cv2: Floats = np.where(below > 0, np.maximum(above / np.where(below > 0, below, 1.0), 0.05), 1.0)
    return cv2
