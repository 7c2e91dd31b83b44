"""Batches in which a rule may have heard of rewards, if the log does not say: those of its times, and round sizes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from debandit.identification.beginnings import RARE
from debandit.identification.families import Family
from debandit.identification.record import BatchRecord
from debandit.identification.score import Scored
from debandit.identification.search import NEAR, best_fits, on_grid
from debandit.log import ExperimentLog

SCREENED = ("thompson", "gaussian_thompson", "beta_thompson", "ucb", "epsilon_greedy", "softmax")
DIGITS, LEAST = (1, 2, 3, 5), 10  # of round sizes, and the least of them
FEWEST, MOST = 3, 500  # batches: smaller ones are hardly any
TRIED_FURTHER = 2  # batchings that explain the log best
Size = int | tuple[int, ...]


class Tried(NamedTuple):
    """Batches that may have been, and how well a few rules explain the log in them."""

    record: BatchRecord
    charge: float
    note: str
    score: float


def in_batches(log: ExperimentLog, families: Sequence[Family], best: float) -> list[Scored]:
    """The best of each rule in the likeliest batches, if these explain a log of rounds nearly as well as the `best`."""
    first_lines = {family.name: family for family in reversed(families)}
    few = [family for name, family in first_lines.items() if name in SCREENED]
    tried = sorted((_screened(log, few, *each) for each in _possible(log)), key=lambda each: -each.score)
    found = []
    for record, charge, note, score in tried[:TRIED_FURTHER]:
        if score > max(best, tried[0].score) - NEAR:
            competing = [family.of(record) for family in families if family.competes(record)]
            fits = best_fits([family for family in competing if not family.takes_long(record)], record)
            found += [replace(fit, charge=fit.charge + charge, note=_joined(fit.note, note)) for fit in fits]
    return found


def _screened(log: ExperimentLog, families: Sequence[Family], size: Size, charge: float, note: str) -> Tried:
    record = BatchRecord(log, size)
    fits = [on_grid(family.of(record), record) for family in families]
    return Tried(record, charge, note, max(fit.score for fit in fits if fit is not None) - charge)


def _possible(log: ExperimentLog) -> Iterator[tuple[Size, float, str]]:
    """Sizes, each with a charge and a note on them."""
    for typed, sizes in log.batchings:
        yield sizes, RARE + math.log(len(log.batchings)), f"the batches are those of {typed}"
    scales = [10**power for power in range(len(str(log.horizon)))]
    least, most = max(LEAST, log.horizon // MOST), log.horizon // FEWEST
    numbers = [digit * scale for scale in scales for digit in DIGITS if least <= digit * scale <= most]
    for number in numbers:
        yield number, RARE + math.log(len(numbers)), "the size of its batches is a guess: only round numbers were tried"


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
