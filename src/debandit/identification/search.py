"""Maximum likelihood within one family of rules."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import product

import numpy as np

from debandit.engine.data import Floats
from debandit.errors import InputError
from debandit.identification.families import Family, Range
from debandit.identification.read_off import Options
from debandit.identification.record import Record
from debandit.identification.score import Fit, fitted, per_number, plain_log_likelihood
from debandit.policies import Policy

SEARCHED = 2000  # rounds that the search looks at; all of them count for the score
RARE = math.log(20)
HOPELESS = math.log(100)  # a rule whose charges alone are so much worse than the best one is not searched further


def best_fits(families: Iterable[Family], record: Record) -> list[Fit]:
    """For every rule the options that explain the log best, each charged for."""
    best: dict[str, Fit] = {}
    to_beat = -math.inf
    for family in families:
        for fit in list(_fits(family, record, to_beat)):
            known = best.setdefault(fit.policy.name, fit)
            best[fit.policy.name] = max(known, fit, key=lambda each: each.score)
            to_beat = max(to_beat, fit.score)
    return list(best.values())


def _fits(family: Family, record: Record, to_beat: float) -> Iterator[Fit]:
    """With more and more numbers free, as long as a perfect fit could come near the best rule so far."""
    openings = _openings(family.rule, record)
    fixed = {**family.fixed, **openings[0]}
    if not _accepts(family.rule, fixed):
        return
    seen = family.read_off(family.rule, fixed, record)
    fixed.update(seen.options)
    ranges = [*family.free.items(), *family.extra.items()]
    for count in range(len(family.free), len(ranges) + 1):
        charge = seen.charge + count * per_number(record.horizon) + (RARE if family.rare else 0.0)
        if count > len(family.free) and charge > HOPELESS - to_beat:
            return
        found = _likeliest(family.rule, fixed, dict(ranges[:count]), record.first(SEARCHED))
        for opening in openings:
            options = {**fixed, **found, **opening}
            if _accepts(family.rule, options):
                yield fitted(family.rule(**options), record, charge, seen.note)


def _openings(rule: type[Policy], record: Record) -> list[Options]:
    """Initial pulls as the log shows them, and the default: what seems to be an opening may be chance."""
    default = {field.name: field.default for field in fields(rule)}.get("initial_pulls")  # type: ignore[arg-type]
    if default is None:
        return [{}]
    return [{"initial_pulls": pulls} for pulls in dict.fromkeys((record.opening or default, default))]


def _accepts(rule: type[Policy], options: Options) -> bool:
    try:
        rule(**options)
    except InputError:
        return False
    return True


def _likeliest(rule: type[Policy], fixed: Options, numbers: Mapping[str, Range], record: Record) -> dict[str, float]:
    """The best point of a coarse grid, then Nelder-Mead; three digits are more than a log can tell."""
    if not numbers:
        return {}
    from scipy.optimize import minimize

    ranges = list(numbers.values())

    def options(point: Floats) -> dict[str, float]:
        return {
            name: float(f"{r.value(min(max(x, r.low), r.high), record):.3g}")
            for (name, r), x in zip(numbers.items(), point, strict=True)
        }

    def misfit(point: Floats) -> float:
        return -plain_log_likelihood(rule(**fixed, **options(point)), record)

    start = min(product(*(np.linspace(r.low, r.high, r.points) for r in ranges)), key=lambda x: misfit(np.array(x)))
    steps = [(r.high - r.low) / (r.points - 1) / 2 for r in ranges]
    corners = np.array([start, *(start + step * axis for step, axis in zip(steps, np.eye(len(start)), strict=True))])
    found = minimize(
        misfit,
        start,
        method="Nelder-Mead",
        bounds=[(r.low, r.high) for r in ranges],
        options={"initial_simplex": corners, "xatol": 0.05, "fatol": 0.02, "maxfev": 40 * len(ranges)},
    )
    return options(found.x)
