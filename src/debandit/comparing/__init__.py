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

    First the policy is checked against the log, as in `debias`. A method that is not possible for the log is left out,
    with the reason. See docs/compare.md.

    Parameters
    ----------
    log : ExperimentLog, data frame, mapping of columns or path
        What happened.
    policy : Policy or str
        The rule that chose the arms.
    support : (float, float), optional
        Between which every reward must lie: what a confidence sequence needs to know unless the rewards are 0/1.
    **options
        Those of `debias`; `runs` are its runs. With a `control` there are differences to it, too.

    Returns
    -------
    Comparison
        What each method says of each arm, what it assumes, and which one is recommended.

    Examples
    --------
    >>> import debandit as db
    >>> rule = "floor(beta_thompson, probability=0.1)"
    >>> log = db.simulate(rule, "bernoulli(means=[0.3, 0.4])", horizon=400, runs=1, seed=1, paths=True).log(0)
    >>> found = db.compare(log, rule, runs=1000)
    >>> for row in found.rows():
    ...     if row["arm"] == "1" and not row["refused"]:
    ...         print(row["method"], round(row["estimate"], 2))
    naive 0.3
    quoted 0.31
    corrected 0.31
    ipw 0.35
    aipw 0.29
    aw_aipw 0.29
    aw_aipw_two_point 0.3
    w_decorrelation 0.3
    confidence_sequence 0.3
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
