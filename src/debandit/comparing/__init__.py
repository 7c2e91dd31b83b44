"""All methods side by side on one log: what each says, what it assumes, and which is recommended.

`methods` is the table of them, `advice` the recommendation and its grounds, `comparison` the record and its text.
"""

from typing import Any

from debandit.comparing.advice import advice_for
from debandit.comparing.comparison import DIFFERENCE, MEAN, Answer, Comparison
from debandit.comparing.methods import METHODS, Found, Inputs, Method
from debandit.debiasing import debias
from debandit.errors import InputError, Refused, quoted
from debandit.estimators.sequences import checked_support
from debandit.policies import Policy, as_policy
from debandit.readers import are_several, logs_of
from debandit.settings import checked_options

_NOT_HERE = ("method", "adjust", "log_index")  # options of `debias` that make no sense for all methods at once


def compare(
    log: Any, policy: Policy | str, *, support: tuple[float, float] | None = None, **options: Any
) -> Comparison:
    """Apply all methods to one log: `debias` and its rivals of `estimators`.

    The log and the options are those of `debias`; `runs` are its runs. First the policy is checked against the log, as
    there. A method that is not possible for the log is left out, with the reason. `support=(low, high)`, between which
    every reward must lie, is what a confidence sequence needs to know unless the rewards are 0/1. With a `control`
    there are differences to it, too. See docs/compare.md.
    """
    if are_several(log):
        raise InputError("compare takes one log", where="log", remedy="Use one call for each.")
    for name in options:
        if name in _NOT_HERE:
            raise InputError(f"there is no option {quoted(name)}", where="compare", remedy="All methods are shown.")
    rule, (settings, work) = as_policy(policy), checked_options(options)
    possible = None if support is None else checked_support(support)
    (one,) = logs_of([log], batched=rule.needs_batches)
    given = Inputs(one, rule, settings, work, possible, debias(one, rule, **options))
    answers = tuple(_answer(method, given) for method in METHODS)
    return Comparison(answers, advice_for(given, {a.method.name for a in answers if not a.refused}), given.result)


def _answer(method: Method, given: Inputs) -> Answer:
    """What the method says, or the words of its refusal."""
    asked = {MEAN: method.means, DIFFERENCE: method.differences}
    if given.settings.control is None and method.means is not None:
        del asked[DIFFERENCE]
    try:
        found = {quantity: find(given) for quantity, find in asked.items() if find is not None}
    except (InputError, Refused) as error:
        return Answer(method, error.what, {})
    return Answer(method, "", found)


__all__ = ["METHODS", "Answer", "Comparison", "Found", "Inputs", "Method", "compare"]
