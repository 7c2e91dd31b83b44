"""W-decorrelation: each pull of an arm counts less than the one before, by a factor that is fixed beforehand."""

from collections.abc import Sequence

import numpy as np

from debandit.checks import MOST_RUNS, checked_number, checked_whole
from debandit.engine.data import Floats
from debandit.engine.experiment import fits
from debandit.errors import InputError, Refused, listed
from debandit.estimators.estimate import Estimate, for_each, rounds_of
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.simulation import simulate
from debandit.worlds import as_bootstrap

METHOD = "W-decorrelation"
QUANTILE = 0.05


def w_decorrelation(
    log: ExperimentLog | Sequence[ExperimentLog],
    policy: Policy | str | None = None,
    *,
    lambda_: float | None = None,
    runs: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> Estimate:
    """Undo the correlation of rewards and later pulls (Deshpande, Mackey, Syrgkanis and Taddy, 2018).

    The estimate is ``mean + sum_j R (1 - R)^j (y_j - mean)`` over the arm's rewards ``y_0, y_1, ...``, with ``R = 1 /
    (1 + lambda)``, which is W-decorrelation in its closed form for arms. ``se^2 = s^2 sum_j R^2 (1 - R)^(2j)``, where
    s^2 is the variance of the arm's rewards (divisor n - 1).

    It assumes no propensities, but rewards without drift, and that each arm is pulled far more often than ln T times:
    with fewer pulls some bias is left. An arm without a pull has no estimate, one with a single pull no se.

    Parameters
    ----------
    log : ExperimentLog or list of ExperimentLog
        What happened, with every round.
    policy : Policy or str, optional
        The rule that chose the arms.
    lambda_ : float, optional
        It must not depend on the log. By default it is, for each arm, the 5 % quantile of ``min(N_k, T - N_k) / ln T``
        over simulated experiments of `policy` in the log's bootstrap world.
    runs, seed, threads : int, optional
        Of these simulated experiments.

    Returns
    -------
    Estimate
        A value and a standard error for each arm.

    Examples
    --------
    >>> import debandit as db
    >>> rule = "floor(beta_thompson, probability=0.1)"
    >>> log = db.simulate(rule, "bernoulli(means=[0.3, 0.4])", horizon=400, runs=1, seed=1, paths=True).log(0)
    >>> found = db.estimators.w_decorrelation(log, rule)
    >>> found.value.round(3), found.se.round(3)
    (array([0.301, 0.42 ]), array([0.116, 0.125]))
    """
    count = checked_whole("runs", runs, 1, MOST_RUNS)
    if lambda_ is not None:
        checked_number("lambda_", lambda_, 0)

    def one(log: ExperimentLog) -> Estimate:
        rounds_of(log, METHOD)
        if lambda_ is None:
            penalties = _simulated(log, policy, count, seed, threads).tolist()
        else:
            penalties = [lambda_] * len(log.labels)
        value, se = np.array([_decorrelated(y, c) for y, c in zip(log.samples(), penalties, strict=True)]).T
        return Estimate(value, se)

    return for_each(log, one)


def _decorrelated(rewards: Floats, penalty: float) -> tuple[float, float]:
    """The estimate and its standard error from one arm's rewards in the order of time."""
    if len(rewards) == 0:
        return np.nan, np.nan
    rate = 1 / (1 + penalty)
    weights = rate * (1 - rate) ** np.arange(len(rewards))
    mean = rewards.mean()
    sd = rewards.std(ddof=1) if len(rewards) > 1 else np.nan
    return float(mean + weights @ (rewards - mean)), float(sd * np.sqrt(weights @ weights))


def _simulated(log: ExperimentLog, policy: Policy | str | None, runs: int, seed: int, threads: int | None) -> Floats:
    """The default lambda of each arm."""
    if policy is None:
        what = f"without a rule {METHOD} cannot find its lambda by simulation"
        raise InputError(what, where="policy", remedy="Give the rule, or lambda_=, fixed before you saw the log.")
    if log.unseen:
        what = f"no reward was logged for {listed(log.unseen)}, so the rule cannot be simulated to find lambda"
        raise Refused(what, where="log", remedy="Give lambda_=, fixed before you saw the log.")
    rule, horizon = as_policy(policy).in_log(log), as_policy(policy).planned(log.horizon)
    world = as_bootstrap("auto").chosen_for(log, rule.in_large_batches(len(log.labels), horizon))[0].fit(log)
    fits(rule, world)
    pulls = simulate(rule, world, horizon=horizon, runs=runs, seed=seed, threads=threads).pulls
    rounds = pulls.sum(axis=1, keepdims=True)  # fewer if the experiment ends by itself
    least = np.minimum(pulls, rounds - pulls) / np.log(rounds)
    quantile: Floats = np.quantile(least, QUANTILE, axis=0)
    return quantile
