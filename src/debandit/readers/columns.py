"""Which column is what: as the options say, else as people call them."""

import difflib
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from debandit.errors import InputError, listed, shorten

NAMES = {  # what people call them; a name after a bar is not as good as one before it
    "arm": "arm action variant variation variation_id treatment condition item_id decision chosen_action",
    "reward": "reward outcome y click clicked success conversion converted cost | value revenue",
    "time": "time timestamp date round t",
    "batch": "batch wave period day",
    "pulls": "pulls n users visitors trials exposures impressions",
    "successes": "successes conversions clicks | success conversion converted click clicked",
    "user": "user user_id userid visitor_id customer_id client_id session_id participant_id patient_id subject_id",
}
NEGATED = "cost"


METRIC = "metric:"  # the role of a metric, before its name


class Roles(NamedTuple):
    """The column of each role, what was guessed, and what else is worth a word."""

    columns: dict[str, str]
    guessed: dict[str, str]
    notes: list[str]
    doubts: list[str]  # notes that may change what one thinks of the result

    @property
    def negated(self) -> bool:
        """Whether the reward is minus its column."""
        return _plain(self.guessed.get("reward", "")) == NEGATED

    @property
    def metrics(self) -> dict[str, str]:
        """The names of the metrics by their roles."""
        return {role: column for role, column in self.columns.items() if role.startswith(METRIC)}

    @property
    def line(self) -> str:
        """What was guessed, in one line."""
        return "reading " + ", ".join(f"{role} = {shorten(column)}" for role, column in self.guessed.items())


def roles_of(
    columns: list[str],
    given: Mapping[str, str | None],
    needed: Sequence[str],
    wanted: Sequence[str],
    where: str,
    metrics: Sequence[str] = (),
) -> Roles:
    """The columns that the options name, and a guess for what is `needed`, or `wanted` if it is there, besides.

    A metric may be a column that is something else as well, even the reward.
    """
    for metric in metrics:
        _find(metric, "metric", columns, where)
    named = {role: column for role, column in given.items() if column is not None}
    for role, column in named.items():
        _find(column, role, columns, where)
    twice = [(one, two) for one in named for two in named if one < two and named[one] == named[two]]
    for one, two in twice:
        what = f"{one} and {two} cannot be the same column {shorten(named[one])!r}"
        raise InputError(what, where=f"--{one}, --{two}")
    guessed: dict[str, str] = {}
    notes, missing = [], []
    for role in (*needed, *wanted):
        if role in named:
            continue
        left = [c for c in columns if c not in named.values() and c not in metrics]
        found, others = _guess(role, left, where)
        if found is not None:
            guessed[role] = found
        if others and role == "reward":
            notes.append(f"not used: {listed(others)} (--metric {shorten(others[0])} would correct it as well)")
        if found is None and role in needed:
            taken = [(other, c) for other, c in named.items() if _plain(c) in NAMES.get(role, role).split()]
            if taken:
                what = f"{taken[0][0]} and {role} cannot be the same column {shorten(taken[0][1])!r}"
                raise InputError(what, where=where, remedy=f"Name the other with --{role}.")
            missing.append(role)
    if missing:
        raise _unnamed(missing, columns, where)
    roles = Roles(named | guessed | {METRIC + metric: metric for metric in metrics}, guessed, notes, [])
    if roles.negated:
        roles.doubts.append(f"the reward is minus the column {shorten(guessed['reward'])!r}, as costs should be low")
    return roles


def candidates(role: str, columns: Sequence[str]) -> list[list[str]]:
    """The columns that may have a role by their names: those with the best names, then those with lesser ones."""
    return [[c for c in columns if _plain(c) in names.split()] for names in NAMES.get(role, role).split("|")]


def _guess(role: str, columns: list[str], where: str) -> tuple[str | None, list[str]]:
    """The column with the best name for a role, and columns with lesser ones."""
    best, *lesser = [found for found in candidates(role, columns) if found] or [[]]
    if len(best) > 1 and best.count(best[0]) > 1:
        _find(best[0], role, best, where)
    if len(best) > 1:
        both = " and ".join(repr(shorten(c)) for c in best[:2])
        remedy = f"Say which: --{role} {typed(best[0])}"
        raise InputError(f"the columns {both} may both be the {role}", where=where, remedy=remedy)
    return next(iter(best), None), [c for found in lesser for c in found]


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _find(column: str, role: str, columns: list[str], where: str) -> None:
    """Complain unless there is one such column."""
    if column not in columns:
        raise _absent(column, role, columns, where)
    if columns.count(column) > 1:
        raise InputError(f"the column {shorten(column)!r} appears {columns.count(column)} times", where=where)


def typed(column: str) -> str:
    """The name of a column as one types it into a shell."""
    return shlex.quote(shorten(column))


def _absent(column: str, role: str, columns: list[str], where: str) -> InputError:
    hint = _near(column, role, columns) or f"Name it with --{role}."
    return InputError(f"no column {shorten(column)!r}", where=where, remedy=f"{hint} {_listed(columns)}")


def _unnamed(missing: list[str], columns: list[str], where: str) -> InputError:
    """None of the columns has a usual name of what is missing; all of it is asked for at once."""
    first, *others = missing
    usual = NAMES.get(first, first).replace("|", "").split()[:3]
    also = "".join(f", and the {other} with --{other}" for other in others)
    hint = _near(first, first, columns) or f"Name it with --{first}{also}."
    hint += " For a table of counts give --pulls and --successes." if "reward" in missing else ""
    return InputError(
        f"no column is called {', '.join(usual)} or the like", where=where, remedy=f"{hint} {_listed(columns)}"
    )


def _near(column: str, role: str, columns: list[str]) -> str:
    """What may have been meant; empty if nothing is like it."""
    lowered = {each.lower(): each for each in reversed(columns[:1000])}
    near = difflib.get_close_matches(column.lower(), lowered, 1, 0.5)
    return f"Did you mean --{role} {typed(lowered[near[0]])}?" if near else ""


def _listed(columns: list[str]) -> str:
    return f"The columns are: {', '.join(shorten(each, 30) for each in columns[:20])}"
