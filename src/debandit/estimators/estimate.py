"""What an estimator says, and the simplest one: the sample mean."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from debandit.engine.data import Floats
from debandit.errors import InputError
from debandit.log import ExperimentLog, LoggedRounds
from debandit.policies import Policy
from debandit.simulation import Runs

Logs = ExperimentLog | Sequence[ExperimentLog] | Runs


class Estimate(NamedTuple):
    """An estimate and its standard error for each arm.

    Attributes
    ----------
    value, se : array of float
        Of shape (arms,) for a log, (logs, arms) for a list of logs.
    """

    value: Floats
    se: Floats


def naive(log: Logs, policy: Policy | str | None = None) -> Estimate:  # noqa: ARG001 (all estimators have one shape)
    """Take each arm's mean reward as it is, biased because pulls depend on rewards; `debias` says by how much.

    The standard error is sd / sqrt(n), with n - 1 in the sd, as if the n pulls had been planned. There is none for an
    arm with a single pull, and no value for one without any: NaN.

    Parameters
    ----------
    log : ExperimentLog, list of ExperimentLog, or Runs
        What happened.
    policy : Policy or str, optional
        Not needed.

    Returns
    -------
    Estimate
        A value and a standard error for each arm.

    Examples
    --------
    >>> import debandit as db
    >>> rule = "floor(beta_thompson, probability=0.1)"
    >>> log = db.simulate(rule, "bernoulli(means=[0.3, 0.4])", horizon=400, runs=1, seed=1, paths=True).log(0)
    >>> db.estimators.naive(log).value.round(3)
    array([0.295, 0.436])
    """
    if isinstance(log, Runs):
        return Estimate(log.means, _standard_error(log.variances, log.pulls))
    batch = checked_batch(log)
    pulls, means, variances = (
        np.stack([getattr(log, name) for log in batch]) for name in ("pulls", "means", "variances")
    )
    place = 0 if isinstance(log, ExperimentLog) else slice(None)
    return Estimate(means[place], _standard_error(variances, pulls)[place])


def _standard_error(variances: Floats, pulls: np.ndarray) -> Floats:
    """From variances with 1/n."""
    error: Floats = np.sqrt(variances / np.where(pulls > 1, pulls - 1, np.nan))
    return error


def checked_batch(logs: ExperimentLog | Sequence[ExperimentLog]) -> list[ExperimentLog]:
    """A list of logs with the same number of arms."""
    batch = [logs] if isinstance(logs, ExperimentLog) else list(logs) if isinstance(logs, Sequence) else []
    if not batch or not all(isinstance(log, ExperimentLog) for log in batch):
        raise InputError("an estimator needs an ExperimentLog or a list of them", where="log", remedy="See read_log.")
    if len({len(log.labels) for log in batch}) > 1:
        raise InputError("the logs of a list must have the same arms", where="log", remedy="Use one call for each.")
    return batch


Answer = TypeVar("Answer", bound=tuple[Floats, ...])


def for_each(logs: ExperimentLog | Sequence[ExperimentLog], estimate: Callable[[ExperimentLog], Answer]) -> Answer:
    """The estimate of one log, or those of a list, one below the other."""
    each = [estimate(log) for log in checked_batch(logs)]
    return each[0] if isinstance(logs, ExperimentLog) else type(each[0])(*map(np.stack, zip(*each, strict=True)))


def checked_log(log: object) -> ExperimentLog:
    """One log, for an estimator that takes no lists."""
    if not isinstance(log, ExperimentLog):
        raise InputError("this estimator needs one ExperimentLog", where="log", remedy="See read_log.")
    return log


def rounds_of(log: ExperimentLog, method: str) -> LoggedRounds:
    """The rounds of a log, for a method that needs their order."""
    if log.rounds is None:
        what = f"{method} needs every round in the order of time, and this log has only totals"
        raise InputError(what, where="log", remedy="Use debias, which needs no order.")
    return log.rounds
