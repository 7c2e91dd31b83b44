"""Adaptively weighted AIPW: rounds with small propensities count less, so that the estimate is nearly normal."""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from debandit.checks import checked_choice, checked_number
from debandit.engine.data import Floats
from debandit.errors import InputError, Refused
from debandit.estimators.estimate import Estimate, Logs, for_each, rounds_of
from debandit.estimators.weighting import Paths, augmented, randomised
from debandit.log import ExperimentLog
from debandit.log_parts import checked_numbers
from debandit.policies import Policy, as_policy
from debandit.replay import NUMBERS_AT_ONCE, forced, of_pulled, path_chances
from debandit.simulation import Runs

METHOD = "AW-AIPW"
WEIGHTS = ("constant", "two-point", "uniform")


def aw_aipw(
    log: Logs,
    policy: Policy | str | None = None,
    *,
    weights: str = WEIGHTS[0],
    alpha: float = 0.7,
    propensities: ArrayLike | None = None,
) -> Estimate:
    """Weight the terms of AIPW so that the estimate is nearly normal (Hadad, Hirshberg, Zhan, Wager and Athey, 2021).

    The estimate is ``Q = sum_t h_t G_t / sum_t h_t`` with ``G_t = m_{t-1} + 1{a_t = k} (r_t - m_{t-1}) / e_t``, the
    propensity e_t of arm k and the running mean m of its rewards, 0 before its first pull; its standard error is
    ``sqrt(sum_t h_t^2 (G_t - Q)^2) / sum_t h_t``. For long experiments the error over se is nearly standard normal.

    None of the propensities may be 0, so the policy needs a floor; forced rounds at the beginning are left out.

    Parameters
    ----------
    log : ExperimentLog, list of ExperimentLog, or Runs
        What happened.
    policy : Policy or str, optional
        The rule that chose the arms; the propensities of all arms in every round are worked out along the log.
    weights : {"constant", "two-point", "uniform"}
        ``h = sqrt(e)``; or ``h = sqrt(s e)``, where ``s_t = lambda_t (1 - s_1 - ... - s_{t-1})`` and
        ``lambda_t = (1 - e) (1 - alpha) / (1 - alpha + T (t/T)^alpha - t) + e / (1 + T - t)``; or ``h = 1``. Uniform
        weights are unbiased, the others only in the limit.
    alpha : float, default 0.7
        For two-point weights.
    propensities : array of float, optional
        Those of all arms, of shape (rounds, arms), for `Runs` (runs, rounds, arms).

    Returns
    -------
    Estimate
        A value and a standard error for each arm.

    Examples
    --------
    >>> import debandit as db
    >>> rule = "floor(beta_thompson, probability=0.1)"
    >>> log = db.simulate(rule, "bernoulli(means=[0.3, 0.4])", horizon=400, runs=1, seed=1, paths=True).log(0)
    >>> found = db.estimators.aw_aipw(log, rule)
    >>> found.value.round(3), found.se.round(3)
    (array([0.291, 0.438]), array([0.06 , 0.027]))
    """
    checked_choice("weights", weights, WEIGHTS)
    estimate = partial(_estimate, weights=weights, alpha=checked_number("alpha", alpha, 0, 0.99))
    if isinstance(log, Runs):
        return _of_runs(log, policy, propensities, estimate)
    if propensities is not None and not isinstance(log, ExperimentLog):
        raise InputError("propensities are those of one log", where="propensities", remedy="Use one call for each.")

    def one(log: ExperimentLog) -> Estimate:
        rounds = rounds_of(log, METHOD)
        given = None if propensities is None else _checked_matrix(propensities, rounds.arms[None], len(log.labels))
        chances = replayed(log, policy) if given is None else given
        _check_floor(chances, log.labels)
        value, se = estimate(rounds.arms[None], rounds.rewards[None], chances)
        return Estimate(value[0], se[0])

    return for_each(log, one)


def _of_runs(
    runs: Runs, policy: Policy | str | None, given: ArrayLike | None, estimate: "partial[Estimate]"
) -> Estimate:
    """The estimates of simulated experiments, some at a time."""
    arm_count = runs.world.arm_count
    arms, rewards = (path.reshape(-1, runs.horizon) for path in runs.paths())
    known = None if given is None else _checked_matrix(given, arms, arm_count)
    rule = runs.policy if policy is None else as_policy(policy)
    rows, parts = max(1, NUMBERS_AT_ONCE // (runs.horizon * arm_count)), []
    for start in range(0, len(arms), rows):
        part = slice(start, start + rows)
        told = arms[part], rewards[part]
        chances = path_chances(*told, randomised(rule), arm_count) if known is None else known[part]
        _check_floor(chances, None)
        parts.append(estimate(*told, chances))
    return Estimate(*(np.concatenate(each).reshape(runs.pulls.shape) for each in zip(*parts, strict=True)))


def _estimate(arms: np.ndarray, rewards: Floats, chances: Floats, *, weights: str, alpha: float) -> Estimate:
    """For arms and rewards of shape (L, T), and the propensities of all arms (L, T, K)."""
    free = ~_opening(chances)[..., None]
    terms = augmented(Paths(arms, rewards, of_pulled(chances, arms), chances.shape[-1]))
    if weights == "two-point":
        h = np.sqrt(_shares(chances, free, alpha) * chances)
    else:
        h = np.sqrt(chances) if weights == "constant" else np.ones(chances.shape)
    h = np.where(free, h, 0.0)
    total = h.sum(axis=1)
    value = (h * terms).sum(axis=1) / total
    return Estimate(value, np.sqrt((h**2 * (terms - value[:, None]) ** 2).sum(axis=1)) / total)


def _shares(chances: Floats, free: np.ndarray, alpha: float) -> Floats:
    """The part of a stick of length 1 that each round breaks off, for each arm; the last one takes what is left."""
    t, horizon = free.cumsum(axis=1), free.sum(axis=1, keepdims=True)  # free rounds, counted from 1
    with np.errstate(divide="ignore", invalid="ignore"):  # before the first one
        slow = (1 - alpha) / (1 - alpha + horizon * (t / horizon) ** alpha - t)
        rate = np.where(free, (1 - chances) * slow + chances / (1 + horizon - t), 0.0)
    left = np.cumprod(1 - rate, axis=1)
    shares: Floats = rate * np.concatenate([np.ones_like(left[:, :1]), left[:, :-1]], axis=1)
    return shares


def _opening(chances: Floats) -> np.ndarray:
    """The rounds before the first free choice (L, T)."""
    opening: np.ndarray = np.logical_and.accumulate(forced(chances).any(axis=-1), axis=1)
    return opening


def replayed(log: ExperimentLog, policy: Policy | str | None) -> Floats:
    """The propensities of all arms (1, T, K), by replay."""
    if policy is None:
        raise InputError(
            f"{METHOD} needs the propensity of every arm in every round; a log has those of the pulled arms at most",
            where="policy",
            remedy='Give the rule, as in aw_aipw(log, "floor(thompson)"), or propensities= of shape (rounds, arms).',
        )
    rule, rounds = randomised(policy).in_log(log), rounds_of(log, METHOD)
    return path_chances(rounds.arms[None], rounds.rewards[None], rule, len(log.labels), labels=log.labels)


def _checked_matrix(given: ArrayLike, arms: np.ndarray, arm_count: int) -> Floats:
    """The propensities (L, T, K) that are given for arms (L, T); those of one log may lack the first axis."""
    values, where = checked_numbers(given, "propensities"), "propensities"
    shape = (*arms.shape, arm_count)
    if values.shape not in (shape, *([shape[1:]] if len(arms) == 1 else [])):
        what = f"propensities of shape {values.shape} for {arms.shape[1]} rounds and {arm_count} arms"
        raise InputError(what, where=where, remedy="Give a row for each round, with a column for each arm.")
    values = values.reshape(shape)
    wrong = ~((values >= 0).all(axis=-1) & (np.abs(values.sum(axis=-1) - 1) < 1e-6))
    if wrong.any():
        what = f"the propensities of round {np.argwhere(wrong)[0, 1] + 1} are not probabilities that add up to 1"
        raise InputError(what, where=where)
    impossible = np.argwhere(of_pulled(values, arms) == 0)
    if len(impossible):
        what = f"the arm that was pulled in round {impossible[0, 1] + 1} has the propensity 0 there"
        raise InputError(what, where=where, remedy="Check the order of the columns: it is that of log.labels.")
    return values


def _check_floor(chances: Floats, labels: tuple[str, ...] | None) -> None:
    """Refuse rounds without a chance for some arm, but for those at the beginning."""
    opening = _opening(chances)
    if opening.all(axis=1).any():
        remedy = "Weighting by propensities needs rounds with a random choice. Use debias."
        raise Refused("every round was forced, so nothing was left to chance", where="log", remedy=remedy)
    impossible = (chances == 0) & ~opening[..., None]
    if impossible.any():
        log, t, k = np.argwhere(impossible)[0]
        arm = labels[k] if labels else str(k + 1)
        which = f"log {log + 1}, " if len(chances) > 1 else ""
        raise Refused(
            f"the arm {arm!r} could not be chosen in round {t + 1}, so {METHOD} is undefined",
            where=f"{which}round {t + 1}",
            remedy="It needs a rule that gives every arm a chance, such as floor(thompson, probability=0.05). "
            "For this log use debias, or w_decorrelation, which need no propensities.",
        )
