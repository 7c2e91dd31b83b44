"""Algorithm 1: re-run the policy in the bootstrap world, see how biased the means come out, correct the real ones.

The order of work: the options are checked (`settings`), then the policy against each log, and each log gets its world
and its interval (`cases`); then come the runs (`running`), and what they say is put together (`results`).
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

from debandit.checks import limits_text
from debandit.debiasing.cases import cases_of, totals_enough
from debandit.debiasing.inferring import Asked, Inference, inferred
from debandit.debiasing.results import bootstrapped, reordered
from debandit.debiasing.running import estimated_biases
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.readers import are_several, logs_of
from debandit.result import Debiased
from debandit.settings import BOOTSTRAP, OPTIONS, checked_options

Function = TypeVar("Function", bound=Callable[..., Any])


def _with_options(function: Function) -> Function:
    """The function, whose signature and documentation show the declared options in place of **options."""
    signature = inspect.signature(function)
    shown = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    for name, field in OPTIONS.items():
        shown.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        )
    listed = "\n".join(
        f"    {name} : {', '.join(filter(None, (limits_text(field), f'default {field.default!r}')))}\n"
        f"        {field.metadata['text']}"
        for name, field in OPTIONS.items()
    )
    vars(function)["__signature__"] = signature.replace(parameters=shown)
    function.__doc__ = (function.__doc__ or "").replace("    {options}", listed)
    return function


@overload
def debias(log: list[ExperimentLog], policy: Policy | str, **options: Any) -> list[Debiased]: ...
@overload
def debias(log: Any, policy: Policy | str, **options: Any) -> Debiased: ...
@_with_options
def debias(log: Any, policy: Policy | str, **options: Any) -> Debiased | list[Debiased]:
    """Estimate and remove the bias of each arm's sample mean.

    First the policy is checked against the log (see `check`). A log that it cannot have made is refused, unless `force`
    is given; if it is unlikely to have made the log, the result has a warning.

    Parameters
    ----------
    log : ExperimentLog, data frame, mapping of columns or path
        What happened. Columns of tables are guessed (see `read_log`). A list of logs gives a list of results, as
        `debias_all` does.
    policy : Policy or str
        The rule that chose the arms, such as ``UCB(c=1)`` or ``"batched(thompson, size=500)"``; see docs/rules.md.
    {options}

    Returns
    -------
    Debiased
        The quoted and the corrected means, intervals, differences, and all that made them.

    Notes
    -----
    ``world="auto"`` is jeffreys for 0/1 rewards, gaussian for a log of means and variances only or of large batches,
    and else smoothed; the result says which and why. See docs/worlds.md.

    ``runs="auto"`` grows until the Monte-Carlo error of every arm's bias is below 10 % of the standard error of its
    sample mean, at most 200,000. Not a bit depends on `threads` or on the `executor`.

    ``method="rao-blackwell"`` needs no world (see `estimators.rao_blackwell`); a run is then a replay of the policy.

    Without a `control` each arm is compared with the one that looks best among the others of the log. docs/quoted.md
    says which number to quote, docs/intervals.md which interval is taken, docs/runs.md what control variates do.

    Examples
    --------
    One simulated experiment with the true means 1 and 1.5:

    >>> import debandit as db
    >>> runs = db.simulate("ucb", "normal(means=[1, 1.5], sds=[1, 1])", horizon=100, runs=1, seed=9, paths=True)
    >>> log = runs.log(0)
    >>> result = db.debias(log, db.UCB(c=1), runs=1000)
    >>> result.naive.round(2), result.quoted.round(2)
    (array([0.87, 1.58]), array([1.22, 1.57]))
    >>> result.low.round(2), result.high.round(2)
    (array([-0.05,  1.38]), array([2.02, 1.81]))
    """
    results = debias_all(log, policy, **options)
    return results if are_several(log) else results[0]


@_with_options
def debias_all(logs: Any, policy: Policy | str, **options: Any) -> list[Debiased]:
    """Estimate and remove the biases of many logs of one policy, all at once.

    Parameters
    ----------
    logs : list of ExperimentLog, data frames or paths
        What happened, in experiments with the same policy.
    policy : Policy or str
        The rule that chose the arms of all of them.
    {options}

    Returns
    -------
    list of Debiased
        A result for each log.

    Notes
    -----
    The random numbers of a log depend on the seed and on its place in the list, counted from `log_index`. In more than
    20 logs, only those that are impossible under a policy without randomness are found and refused.

    Examples
    --------
    >>> import debandit as db
    >>> runs = db.simulate("ucb", "normal(means=[1, 1.5], sds=[1, 1])", horizon=100, runs=3, seed=1, paths=True)
    >>> for result in db.debias_all([runs.log(i) for i in range(3)], "ucb", runs=500):
    ...     print(result.naive.round(2), result.corrected.round(2))
    [1.14 1.41] [1.41 1.49]
    [1.04 1.39] [1.35 1.56]
    [1.02 1.4 ] [1.19 1.45]
    """
    ran, (settings, work) = as_policy(policy), checked_options(options)
    read = logs_of(logs, batched=ran.needs_batches, enough=totals_enough(ran, settings))
    cases = cases_of(read, ran, settings, work)
    return bootstrapped(cases, work) if settings.method == BOOTSTRAP else reordered(cases, work)


def inferences(logs: list[ExperimentLog], policy: Policy, asked: Asked, **options: Any) -> list[Inference]:
    """The limits and p-values of `debias_all`, without its estimates, for logs that the policy did make: for studies.

    They must have the same arms and as many rounds.
    """
    settings, work = checked_options(options)
    cases = cases_of(logs, policy, settings, None)
    return inferred(cases, [case.world for case in cases if case.world], work.workers, asked)


__all__ = ["Asked", "Inference", "debias", "debias_all", "estimated_biases", "inferences"]
