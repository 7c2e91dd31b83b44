"""Algorithm 1: re-run the policy in the bootstrap world, see how biased the means come out, correct the real ones.

The order of work: the options are checked (`settings`), then the policy against each log, and each log gets its world
and its interval (`cases`); then come the runs (`running`), and what they say is put together (`results`).
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

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
    listed = "\n".join(f"        {name}: {field.metadata['text']}" for name, field in OPTIONS.items())
    vars(function)["__signature__"] = signature.replace(parameters=shown)
    function.__doc__ = f"{function.__doc__}\n    Options:\n{listed}\n"
    return function


@overload
def debias(log: list[ExperimentLog], policy: Policy | str, **options: Any) -> list[Debiased]: ...
@overload
def debias(log: Any, policy: Policy | str, **options: Any) -> Debiased: ...
@_with_options
def debias(log: Any, policy: Policy | str, **options: Any) -> Debiased | list[Debiased]:
    """Estimate and remove the bias of each arm's sample mean.

    The log is an `ExperimentLog`, a data frame, or the path of a file, whose columns are guessed (see `read_log`). A
    list of logs gives a list, as `debias_all` does.

    First the policy is checked against the log (see `check`). A log that it cannot have made is refused, unless
    `force`d; if it is unlikely to have made the log, the result has a warning.

    `world="auto"` is jeffreys for 0/1 rewards, gaussian for a log of means and variances only or of large batches, and
    else smoothed; the result says which and why. See docs/worlds.md.

    `runs="auto"` grows until the Monte-Carlo error of every arm's bias is below 10 % of the standard error of its
    sample mean, at most 200,000. Not a bit depends on `threads` or on the `executor`.

    `method="rao-blackwell"` needs no world (see `estimators.rao_blackwell`); a run is then a replay of the policy.

    Without a `control` each arm is compared with the one that looks best among the others of the log. See
    `Debiased.differences`, and `Debiased.winner` for the winner's curse; docs/intervals.md has the intervals, and
    docs/runs.md the control variates.
    """
    results = debias_all(log, policy, **options)
    return results if are_several(log) else results[0]


@_with_options
def debias_all(logs: Any, policy: Policy | str, **options: Any) -> list[Debiased]:
    """Estimate and remove the biases of many logs of one policy, all at once, with the options of `debias`.

    The random numbers of a log depend on the seed and on its place in the list, counted from `log_index`. In more than
    20 logs, only those that are impossible under a policy without randomness are found and refused.
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
