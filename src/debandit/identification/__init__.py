"""Which built-in rule, with which options, explains a log best.

The likelihood of the choices (`chances`) is averaged over what each rule's options may be beforehand (`families`,
`search`), which charges for every option that has to be chosen well; then the rules are ranked (`identified`).
"""

from dataclasses import replace

import numpy as np

from debandit.checking import p_of_choices
from debandit.errors import InputError
from debandit.identification.families import FAMILIES
from debandit.identification.identified import Identified, ranked
from debandit.identification.record import Record
from debandit.identification.search import best_fits
from debandit.log import ExperimentLog

MOST_NUMBERS = 2**24  # rounds times arms: of more the beginning would say little
LOOKED_AT = 2**19  # rounds times arms: a rule needs a microsecond or so for each, and hundreds are tried


def identify(log: ExperimentLog) -> Identified:
    """Rank the built-in rules by how well they explain the choices of a log; their options are estimated.

    Of a log with many rounds and arms only the beginning is looked at.

    Parameters
    ----------
    log : ExperimentLog
        A log that has every round.

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
    if log.rounds is None:
        raise InputError(
            "identify needs a table with one row per round, and this one has counts",
            where="log",
            remedy="Many rules lead to the same counts; what tells them apart is which arm followed what.",
        )
    if log.horizon * len(log.labels) > MOST_NUMBERS:
        raise InputError(
            f"{log.horizon:,} rounds of {len(log.labels):,} arms are too many to compare rules on",
            where="log",
            remedy=f"Rounds times arms may be {MOST_NUMBERS:,}. Try the first rounds of the log.",
        )
    record = Record(log.rounds.arms, log.rounds.rewards, len(log.labels)).first(LOOKED_AT // len(log.labels))
    families = [family for family in FAMILIES if family.competes(record, log.binary)]
    with np.errstate(all="ignore"):  # some options make no sense for some logs
        fits = best_fits([family for family in families if not family.takes_long(record)], record)
    found = ranked(
        fits,
        horizon=log.horizon,
        arm_count=len(log.labels),
        looked_at=record.horizon,
        left_out=[family.name for family in families if family.takes_long(record)],
    )
    return replace(found, p_value=p_of_choices(log, found.policy))


__all__ = ["Identified", "identify"]
