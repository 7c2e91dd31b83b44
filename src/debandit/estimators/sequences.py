"""Confidence sequences: limits that hold at all times at once, so for any policy and any reason to stop."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from debandit.checks import LARGEST, SMALLEST, checked_number
from debandit.engine.data import Floats
from debandit.errors import InputError
from debandit.estimators.estimate import checked_log, rounds_of
from debandit.log import ExperimentLog
from debandit.log_parts import checked_numbers

_HALVINGS = 60  # more than a float has bits


class ConfidenceSequence(NamedTuple):
    """Each arm's mean and its limits; NaN without a pull.

    Attributes
    ----------
    value, low, high : array of float
        One value for each arm.
    """

    value: Floats
    low: Floats
    high: Floats


def confidence_sequence(
    log: ExperimentLog,
    *,
    alpha: float = 0.05,
    t_opt: float | None = None,
    support: tuple[float, float] | None = None,
    sd: float | None = None,
) -> ConfidenceSequence:
    """Find limits of each arm's mean that hold after every pull at once (Howard, Ramdas, McAuliffe and Sekhon, 2021).

    With probability 1 - alpha the arm's mean never leaves them, so they hold whatever the policy, and whenever and why
    the experiment ended. They assume that an arm's rewards all have the same mean given the past, and one of:

    - rewards of 0 and 1: a beta-binomial mixture, inverted over the probability. The default for such logs.
    - `support`: a gamma-exponential mixture for the empirical variance, known as empirical Bernstein. It needs the
      order of the rewards.
    - `sd` alone: a normal mixture for rewards whose tails are no heavier than those of a normal law with it.

    They hold for any t_opt and sd that were fixed beforehand: never give the observed numbers. For 0/1 rewards they are
    about 1.5 times as wide as Clopper and Pearson's.

    Parameters
    ----------
    log : ExperimentLog
        What happened.
    alpha : float, default 0.05
        The probability that the limits fail.
    t_opt : float, optional
        The limits are narrowest after this many pulls of an arm, by default T / K.
    support : (float, float), optional
        Between which every reward must lie.
    sd : float, optional
        The standard deviation of the rewards. With a support it only decides where the limits are narrowest, and is a
        quarter of the range by default.

    Returns
    -------
    ConfidenceSequence
        Means and limits.

    Examples
    --------
    >>> import debandit as db
    >>> rule = "floor(beta_thompson, probability=0.1)"
    >>> log = db.simulate(rule, "bernoulli(means=[0.3, 0.4])", horizon=400, runs=1, seed=1, paths=True).log(0)
    >>> found = db.estimators.confidence_sequence(log)
    >>> found.low.round(2), found.high.round(2)
    (array([0.16, 0.35]), array([0.46, 0.52]))
    """
    log, alpha = checked_log(log), checked_number("alpha", alpha, 1e-9, 0.5)
    best = max(1.0, log.horizon / len(log.labels)) if t_opt is None else checked_number("t_opt", t_opt, 1)
    spread = None if sd is None else checked_number("sd", sd, SMALLEST)
    pulls, means = log.pulls.astype(np.float64), log.means
    if support is not None:
        low, high = checked_support(support)
        guess = (high - low) / 4 if sd is None else checked_number("sd", sd, (high - low) / 1e6)
        radius = _bernstein_radius(log, low, high, alpha, best, guess)
        return ConfidenceSequence(means, np.maximum(means - radius, low), np.minimum(means + radius, high))
    if spread is not None:
        with np.errstate(invalid="ignore", divide="ignore"):
            radius = normal_mixture_bound(pulls * spread**2, alpha, best * spread**2) / np.where(pulls, pulls, np.nan)
        return ConfidenceSequence(means, means - radius, means + radius)
    if not log.binary:
        raise InputError(
            "a confidence sequence needs to know how far rewards can lie apart",
            where="support",
            remedy="Give support=(low, high), the lowest and the highest possible reward, or sd= if rewards are about "
            "normal.",
        )
    return ConfidenceSequence(means, *bernoulli_limits(np.rint(np.nan_to_num(means * pulls)), pulls, alpha, best))


def mixing(alpha: float) -> float:
    """v / rho: the mixture with parameter rho is narrowest where the variance is v."""
    twice = -2 * np.log(alpha)
    return float(twice + np.log(1 + twice))


def normal_mixture_bound(variance: Floats | float, alpha: float, v_opt: float) -> Floats:
    """What the absolute value of a sum never exceeds, but with probability alpha, if its terms are sub-Gaussian."""
    rho = v_opt / mixing(alpha)
    bound: Floats = np.sqrt((variance + rho) * (np.log(1 + variance / rho) - 2 * np.log(alpha)))
    return bound


def gamma_exponential_bound(variance: Floats | float, alpha: float, v_opt: float, scale: float, most: Floats) -> Floats:
    """What a sum never exceeds, but with probability alpha, if it is sub-exponential with this scale; at most `most`.

    It solves log M(s, v) = ln(1 / alpha) for s, where M is the mixture over a gamma law.
    """
    from debandit.special import gammainc, gammaln

    prior = v_opt / mixing(2 * alpha) / scale**2  # this bound is on one side
    shape = variance / scale**2 + prior
    constant = prior * np.log(prior) - gammaln(prior) - np.log(gammainc(prior, prior)) + gammaln(shape)

    def log_mixture(sums: Floats) -> Floats:
        x = sums / scale + shape
        logs: Floats = constant + np.log(gammainc(shape, x)) - shape * np.log(x) + x - prior
        return logs

    return _crossing(lambda sums: log_mixture(sums) < -np.log(alpha), np.zeros_like(most), most)


def bernoulli_limits(wins: Floats, pulls: Floats, alpha: float, t_opt: float) -> tuple[Floats, Floats]:
    """The probabilities that the mixture of Beta(m p, m (1 - p)) has not ruled out; 0 and 1 are possible limits."""
    from debandit.special import betaln, xlog1py, xlogy

    mass = max(t_opt / mixing(alpha) - 1, 1e-3)
    losses, rate = pulls - wins, wins / np.maximum(pulls, 1)

    def possible(p: Floats) -> np.ndarray:
        a, b = mass * p, mass * (1 - p)
        with np.errstate(invalid="ignore"):  # NaN if p is 1 in floating point: not possible, for there are losses
            evidence = betaln(a + wins, b + losses) - betaln(a, b) - xlogy(wins, p) - xlog1py(losses, -p)
        return np.asarray(evidence < -np.log(alpha))

    low = np.where(wins > 0, _crossing(possible, rate, np.zeros_like(rate)), 0.0)
    high = np.where(losses > 0, _crossing(possible, rate, np.ones_like(rate)), 1.0)
    seen = np.where(pulls > 0, 1.0, np.nan)
    return low * seen, high * seen


def _crossing(inside: Callable[[Floats], np.ndarray], near: Floats, far: Floats) -> Floats:
    """Where `inside` ends on the way from `near`, or `far` if nowhere before it."""
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        holds = inside(middle)
        near, far = np.where(holds, middle, near), np.where(holds, far, middle)
    return far


def _bernstein_radius(log: ExperimentLog, low: float, high: float, alpha: float, t_opt: float, sd: float) -> Floats:
    """Half the width for each arm, from the squared errors of predicting each reward by the mean of those before."""
    rewards = rounds_of(log, "a confidence sequence with support").rewards
    outside = np.flatnonzero((rewards < low) | (rewards > high))
    if len(outside):
        what = f"the reward {rewards[outside[0]]:g} in round {outside[0] + 1} is not between {low:g} and {high:g}"
        raise InputError(what, where="support", remedy="Give limits that no reward can exceed.")
    squares = np.array([_prediction_errors(sample, (low + high) / 2) for sample in log.samples()])
    pulls = np.where(log.pulls, log.pulls, np.nan)
    radius: Floats = (
        gamma_exponential_bound(squares, alpha / 2, t_opt * sd**2, high - low, (high - low) * pulls) / pulls
    )
    return radius


def _prediction_errors(rewards: Floats, first: float) -> float:
    before = np.concatenate([[first], np.cumsum(rewards)[:-1] / np.arange(1, len(rewards))])[: len(rewards)]
    return float(((rewards - before) ** 2).sum())


def checked_support(support: object) -> tuple[float, float]:
    """The lowest and the highest reward that is possible."""
    limits = checked_numbers(support, "support")  # type: ignore[arg-type]  # it complains of anything else
    if limits.shape != (2,) or not (np.abs(limits) <= LARGEST).all() or not limits[0] < limits[1]:
        what = "support needs the lowest and the highest possible reward"
        raise InputError(what, where="support", remedy="Give two numbers, as in support=(0, 100).")
    return float(limits[0]), float(limits[1])
