"""Weighting by inverse propensities: how likely every logged choice was."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats
from debandit.errors import InputError, Refused
from debandit.estimators.estimate import Estimate, Logs, checked_batch
from debandit.log import ExperimentLog
from debandit.log_parts import checked_numbers
from debandit.policies import Policy, as_policy
from debandit.policies.history import History
from debandit.replay import forced, path_propensities
from debandit.simulation import Runs

NUMBERS_AT_ONCE = 2**22


class Paths(NamedTuple):
    """Rounds of logs of equal length, of shape (..., T)."""

    arms: np.ndarray  # indices
    rewards: Floats
    propensities: Floats
    arm_count: int


def ipw(log: Logs, policy: Policy | str | None = None, *, propensities: Floats | None = None) -> Estimate:
    """Weight each reward by the inverse of the probability of its arm (inverse propensity weighting).

    The estimate is the mean over t of ``1{a_t = k} r_t / e_t(k)``, where ``e_t(k) = P(a_t = k | past)``. It is
    unbiased, but its standard error (from the rounds as if independent) is large where propensities are small. Forced
    rounds are left out. An arm that no free round pulled gets 0.

    Parameters
    ----------
    log : ExperimentLog, list of ExperimentLog, or Runs
        What happened.
    policy : Policy or str, optional
        The rule that chose the arms, whose propensities are worked out along the log if that has recorded none.
    propensities : array of float, optional
        The probability that each pulled arm had, in the shape of the rewards.

    Returns
    -------
    Estimate
        A value and a standard error for each arm.

    Examples
    --------
    >>> import debandit as db
    >>> rule = "floor(beta_thompson, probability=0.1)"
    >>> log = db.simulate(rule, "bernoulli(means=[0.3, 0.4])", horizon=400, runs=1, seed=1, paths=True).log(0)
    >>> found = db.estimators.ipw(log, rule)
    >>> found.value.round(3), found.se.round(3)
    (array([0.35 , 0.424]), array([0.072, 0.03 ]))
    """
    return _averaged(_as_paths(log, policy, propensities), _weighted)


def _weighted(paths: Paths) -> Floats:
    taken = paths.arms[..., None] == np.arange(paths.arm_count)
    return np.where(taken, (paths.rewards / paths.propensities)[..., None], 0.0)


def aipw(log: Logs, policy: Policy | str | None = None, *, propensities: Floats | None = None) -> Estimate:
    """Weight by propensities what is not expected already (augmented inverse propensity weighting).

    The estimate is the mean over t of ``m_{t-1,k} + 1{a_t = k} (r_t - m_{t-1,k}) / e_t(k)``, where m is the running
    mean of the arm's rewards. m is 0 before the first pull and learns from forced rounds too. It is unbiased, because
    ``m_{t-1,k}`` is known before round t.

    Parameters
    ----------
    log : ExperimentLog, list of ExperimentLog, or Runs
        What happened.
    policy, propensities : optional
        As in `estimators.ipw`.

    Returns
    -------
    Estimate
        A value and a standard error for each arm.

    Examples
    --------
    >>> import debandit as db
    >>> rule = "floor(beta_thompson, probability=0.1)"
    >>> log = db.simulate(rule, "bernoulli(means=[0.3, 0.4])", horizon=400, runs=1, seed=1, paths=True).log(0)
    >>> found = db.estimators.aipw(log, rule)
    >>> found.value.round(3), found.se.round(3)
    (array([0.286, 0.439]), array([0.064, 0.028]))
    """
    return _averaged(_as_paths(log, policy, propensities), augmented)


def augmented(paths: Paths) -> Floats:
    """The terms of `aipw`, of shape (..., T, K)."""
    seen = History(paths.arms, paths.rewards, paths.arm_count)
    running = seen.sums / np.maximum(seen.pulls, 1)
    taken = paths.arms[..., None] == np.arange(paths.arm_count)
    surprise = (paths.rewards[..., None] - running) / paths.propensities[..., None]
    return running + np.where(taken, surprise, 0.0)


def _as_paths(logs: Logs, policy: Policy | str | None, given: Floats | None) -> Paths:
    """The rounds with the propensities that are given, that the log recorded, or of the rule replayed along it."""
    if isinstance(logs, Runs):
        (arms, rewards), arm_count = logs.paths(), logs.world.arm_count
        if given is not None:
            return Paths(arms, rewards, _checked_given(given, arms.shape), arm_count)
        rule = randomised(logs.policy if policy is None else policy)
        return Paths(arms, rewards, path_propensities(arms, rewards, rule, arm_count), arm_count)
    batch = checked_batch(logs)
    rounds = [log.rounds for log in batch if log.rounds is not None]
    if len(rounds) < len(batch) or len({len(path.arms) for path in rounds}) > 1:
        raise InputError(
            "weighting needs every round" + (", and as many in each log of a list" if len(batch) > 1 else ""),
            where="log",
            remedy="Use debias for a log with summaries only, and one call for each length of logs.",
        )
    arm_count = len(batch[0].labels)
    arms, rewards = np.stack([path.arms for path in rounds]), np.stack([path.rewards for path in rounds])
    place = 0 if isinstance(logs, ExperimentLog) else slice(None)
    if given is not None:
        return Paths(arms[place], rewards[place], _checked_given(given, arms[place].shape), arm_count)
    chances = np.stack([np.zeros(len(p.arms)) if p.propensities is None else p.propensities for p in rounds])
    silent = np.flatnonzero([path.propensities is None for path in rounds])
    declared = randomised(policy) if len(silent) else None
    rules = [declared.in_log(batch[i]) for i in silent] if declared else []
    for rule in dict.fromkeys(rules):  # one, unless the logs have batches of their own
        mine = silent[[other == rule for other in rules]]
        labels = batch[mine[0]].labels if len(mine) == 1 else None
        chances[mine] = path_propensities(arms[mine], rewards[mine], rule, arm_count, labels=labels)
    return Paths(arms[place], rewards[place], chances[place], arm_count)


def _checked_given(given: Floats, shape: tuple[int, ...]) -> Floats:
    values = checked_numbers(given, "propensities")
    if values.shape != shape or not ((values > 0) & (values <= 1)).all():
        what = "propensities of the pulled arms are numbers above 0, up to 1, one for each round"
        raise InputError(what, where="propensities")
    return values


def randomised(policy: Policy | str | None) -> Policy:
    """The policy, if it leaves anything to chance."""
    if policy is None:
        raise InputError(
            "the log has no propensities and no rule was given",
            where="policy",
            remedy="Give the rule, as in ipw(log, EpsilonGreedy(0.05)), or the column: read_log(..., propensity='p').",
        )
    rule = as_policy(policy)
    if not rule.randomised:
        raise Refused(
            f"{rule} is deterministic: propensities are 0 or 1, and weighting by their inverse is not possible",
            where="policy",
            remedy="Use debias, which needs no propensities.",
        )
    return rule


def _averaged(paths: Paths, terms: Callable[[Paths], Floats]) -> Estimate:
    """The mean over the rounds that were not forced of `terms`, of shape (L, T, K), and its standard error."""
    horizon = paths.arms.shape[-1]
    arms, rewards, chances = (part.reshape(-1, horizon) for part in paths[:3])
    free = ~forced(chances)
    count = free.sum(axis=-1)
    if not count.all():
        raise Refused(
            "every round was forced, so nothing was left to chance",
            where="log" if len(count) == 1 else f"log {np.flatnonzero(count == 0)[0] + 1}",
            remedy="Weighting by propensities needs rounds with a random choice. Use debias.",
        )
    value, se = np.empty((len(count), paths.arm_count)), np.empty((len(count), paths.arm_count))
    rows = max(1, NUMBERS_AT_ONCE // (horizon * paths.arm_count))
    for start in range(0, len(count), rows):
        part = slice(start, start + rows)
        each = terms(Paths(arms[part], rewards[part], chances[part], paths.arm_count))
        value[part], se[part] = _mean_and_se(each, free[part, :, None], count[part, None])
    outer = (*paths.arms.shape[:-1], paths.arm_count)
    return Estimate(value.reshape(outer), se.reshape(outer))


def _mean_and_se(terms: Floats, free: np.ndarray, count: np.ndarray) -> tuple[Floats, Floats]:
    """sd / sqrt(n), the sd with n - 1; NaN if n = 1."""
    mean = np.where(free, terms, 0.0).sum(axis=-2) / count
    squares = (np.where(free, terms - mean[..., None, :], 0.0) ** 2).sum(axis=-2)
    with np.errstate(invalid="ignore"):
        return mean, np.sqrt(squares / np.where(count > 1, count - 1, np.nan) / count)
