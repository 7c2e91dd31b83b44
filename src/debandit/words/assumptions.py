"""What a result says about what was assumed: how far its numbers would move under other assumptions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.tables import Column, Part, Table
from debandit.words.values import Values, by_mean, called, has_quoted

if TYPE_CHECKING:
    from debandit.result import Debiased


class Assumption(NamedTuple):
    """What each arm would be if something else were assumed."""

    what: str
    means: NDArray[np.float64]  # NaN where there is none
    errors: NDArray[np.float64] | None = None  # Monte-Carlo standard errors, where it was simulated for this


def assumption_parts(result: "Debiased", others: Sequence[Assumption]) -> list[Part]:
    """Which arm would look best, how far the numbers move, and a line for each arm and each assumption."""
    said, base = Values.in_sentences(result), result.quoted if has_quoted(result) else result.corrected
    tried = [other for other in others if other.errors is not None]
    return [
        Part("assumptions", " ".join([_of_best(result, others), *_of_moves(result, tried, base, said)])),
        *([Part("caption", "Each arm:"), Part("table", _of_arms(result, tried))] if tried else []),
        Part("caption", "Each assumption:"),
        Part("table", _of_others(result, others, base)),
    ]


def _best(result: "Debiased", means: NDArray[np.float64]) -> str:
    seen = np.where((result.pulls > 0) & np.isfinite(means), means, -np.inf)
    return result.labels[int(np.argmax(seen))]


def _of_best(result: "Debiased", others: Sequence[Assumption]) -> str:
    first = result.labels[by_mean(result)[0]]
    same = sum(_best(result, other.means) == first for other in others)
    name = called(first, first=True)
    if same == len(others):
        return f"{name} looks best whatever is assumed below."
    return f"{name} looks best under {same} of the {len(others)} assumptions below."


def _of_moves(result: "Debiased", tried: Sequence[Assumption], base: NDArray[np.float64], said: Values) -> list[str]:
    """The largest move, beside what the simulation itself leaves open."""
    if not tried:
        return []
    moves = np.abs([other.means - base for other in tried])
    errors = np.array([other.errors for other in tried], dtype=float)
    if not np.isfinite(moves).any():
        return []
    most, arm = np.unravel_index(np.nanargmax(moves), moves.shape)
    finer = said.finer(moves[most, arm], errors[most, arm])
    return [
        f"Other worlds and other options of the rule move no number by more than {finer.difference(moves[most, arm])} "
        f"({called(result.labels[arm])}, with a Monte-Carlo error of {finer.difference(errors[most, arm])})."
    ]


def _of_arms(result: "Debiased", tried: Sequence[Assumption]) -> Table:
    """What is said of each arm, and between which values the number to quote lies under the other assumptions."""
    said, moved = Values.in_tables(result), np.array([other.means for other in tried])
    known = np.isfinite(moved).any(axis=0)
    low, high = (
        np.where(known, least(np.where(np.isfinite(moved), moved, worst), axis=0), np.nan)
        for least, worst in ((np.min, np.inf), (np.max, -np.inf))
    )
    columns = [
        Column("arm", "arm", "text"),
        said.column("naive", f"raw {said.mean}"),
        *([said.column("quoted", "quoted")] if has_quoted(result) else []),
        said.column("corrected", "corrected"),
        *([said.column("adjusted", "period-weighted")] if result.adjusted is not None else []),
        said.interval_column("moved")._replace(title="other worlds and options"),
    ]
    rows = [row | {"moved": pair} for row, pair in zip(result.arm_rows(), zip(low, high, strict=True), strict=True)]
    return Table(rows, columns, said.decimals)


def _of_others(result: "Debiased", others: Sequence[Assumption], base: NDArray[np.float64]) -> Table:
    """What the leader would have under each assumption, and which arm moves most."""
    said, first = Values.in_tables(result), by_mean(result)[0]
    rows = []
    for other in others:
        moves = np.where(np.isfinite(other.means - base), np.abs(other.means - base), -1.0)
        arm = int(np.argmax(moves))
        moved = {"arm": result.labels[arm], "move": float((other.means - base)[arm])} if moves[arm] > 0 else _UNMOVED
        rows.append({"what": other.what, "first": other.means[first], "best": _best(result, other.means), **moved})
    columns = [
        Column("what", "assumption", "text"),
        said.column("first", called(result.labels[first])),
        Column("best", "looks best", "text"),
        said.column("move", "largest move"),
        Column("arm", "of arm", "text"),
    ]
    return Table(rows, columns, said.decimals)


_UNMOVED = {"arm": "–", "move": None}
