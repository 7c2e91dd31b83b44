"""Which built-in rule, with which options and what around it, explains a log best.

The likelihood of the choices (`chances`) is averaged over what each rule's options may be beforehand (`families`,
`search`), which charges for every option that has to be chosen well; then the rules are ranked (`identified`). What may
have been `around` them, an even split at first and a floor, is tried with each; and if the log has no batches of its
own, so are `batchings`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from debandit.checking import p_of_choices
from debandit.errors import InputError
from debandit.identification.batchings import in_batches
from debandit.identification.families import FAMILIES, Family
from debandit.identification.identified import Identified, ranked
from debandit.identification.record import AnyRecord, BatchRecord, Record
from debandit.identification.score import Scored
from debandit.identification.search import NEAR, best_fits, on_more
from debandit.log import ExperimentLog
from debandit.readers import logs_of

MOST_NUMBERS = 2**24  # rounds times arms: of more the beginning would say little
LOOKED_AT = 2**19  # rounds times arms: a rule needs a microsecond or so for each, and hundreds are tried
FIRST_ROUNDS, MORE_ROUNDS = 2000, 20_000  # on which all rules are compared, and the best of them
READ_OFF = 2**22  # rounds times arms that the options of a rule without chance are read off


def identify(log: Any) -> Identified:
    """Rank the built-in rules by how well they explain the choices of a log; their options are estimated.

    An even split at first, a gate and a floor are tried around each rule, and batches if the log has none of its own.
    Of a log with many rounds and no batches only the beginning is looked at.

    Parameters
    ----------
    log : ExperimentLog, path, DataFrame, Arrow table or dict of columns
        A log that has every round, or a table of batches.

    Returns
    -------
    Identified
        The rules, the best one first, and how sure one can be.

    Examples
    --------
    >>> import debandit as db
    >>> world = "normal(means=[1, 1.5], sds=[1, 1])"
    >>> log = db.simulate("ucb(c=2)", world, horizon=200, runs=1, seed=1, paths=True).log(0)
    >>> found = db.identify(log)
    >>> found.verdict, str(found.policy)
    ('clear', 'ucb(c=2.0)')
    """
    (log,) = logs_of([log], batched=True)
    if log.rounds is None and log.batches is None:
        raise InputError(
            "identify needs a table with one row per round, or per batch and arm, and this one has totals only",
            where="log",
            remedy="Many rules lead to the same totals; what tells them apart is which arm followed what. If it has "
            "rows for batches, name their column: --batch COLUMN (in Python batch=).",
        )
    families = [family for family in FAMILIES if log.binary or not family.for_binary]
    with np.errstate(all="ignore"):  # some options make no sense for some logs
        if log.batch_sizes is not None:
            looked_at, (fits, left_out) = log.horizon, _fits(families, BatchRecord(log, None))
        else:
            looked_at, fits, left_out = _in_rounds(log, families)
    found = ranked(fits, horizon=log.horizon, arm_count=len(log.labels), looked_at=looked_at, left_out=left_out)
    return replace(found, p_value=p_of_choices(log, found.policy.in_log(log)))


def _fits(families: Sequence[Family], record: AnyRecord) -> tuple[list[Scored], list[str]]:
    """The best of each rule, and the rules that were left out because they take long."""
    competing = [family.of(record) for family in families if family.competes(record)]
    long = [family.name for family in competing if family.takes_long(record)]
    return best_fits([family for family in competing if family.name not in long], record), list(dict.fromkeys(long))


def _in_rounds(log: ExperimentLog, families: Sequence[Family]) -> tuple[int, list[Scored], list[str]]:
    """How many rounds were looked at, the best of each rule, also in batches, and what was left out.

    Of a long log the rules that explain the beginning best are compared on more of it, with those in batches.
    """
    assert log.rounds is not None
    arm_count = len(log.labels)
    if log.horizon * arm_count > MOST_NUMBERS:
        raise InputError(
            f"{log.horizon:,} rounds of {arm_count:,} arms are too many to compare rules on",
            where="log",
            remedy=f"Rounds times arms may be {MOST_NUMBERS:,}. Try the first rounds, or name the batches (--batch).",
        )
    few, more = (min(log.horizon, most, LOOKED_AT // arm_count) for most in (FIRST_ROUNDS, MORE_ROUNDS))
    whole = Record(log.rounds.arms, log.rounds.rewards, arm_count).first(min(log.horizon, READ_OFF // arm_count))
    fits, left_out = _fits(families, whole.first(few))
    if few < more:
        fits = on_more(families, fits, whole, few, more)
    batched = in_batches(_first(log, more), families, max(fit.score for fit in fits))
    return more, _competing([*fits, *batched]), left_out


def _first(log: ExperimentLog, rounds: int) -> ExperimentLog:
    """The beginning of a log of rounds."""
    assert log.rounds is not None
    if rounds == log.horizon:
        return log
    arms, rewards = log.rounds.arms[:rounds], log.rounds.rewards[:rounds]
    beginning = ExperimentLog.of_codes(log.labels, arms, rewards, labels=log.labels)
    object.__setattr__(beginning, "batchings", log.batchings)
    return beginning


def _competing(fits: Sequence[Scored]) -> list[Scored]:
    """The best of each rule, and others of it that explain the log nearly as well as the best of all."""
    best: dict[str, Scored] = {}
    for fit in sorted(fits, key=lambda fit: -fit.score):
        best.setdefault(fit.core.name, fit)
    top = max(fit.score for fit in fits)
    return [fit for fit in fits if fit is best[fit.core.name] or fit.score > top - NEAR]


__all__ = ["Identified", "identify"]
