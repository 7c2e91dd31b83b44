"""The evidence for a family of rules, and its likeliest member."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from debandit.engine.data import Floats
from debandit.errors import InputError
from debandit.identification.families import Family, Range
from debandit.identification.read_off import Options
from debandit.identification.record import AnyRecord, Record
from debandit.identification.score import Scored, fitted, per_number, plain_log_likelihood
from debandit.policies import Policy

SEARCHED = 2000  # rounds after the beginning that the search looks at; all of them count for the score
FINALISTS = 5  # rules that are compared on more rounds
NEAR = 10.0  # families are not searched further if the logarithm of their evidence is lower than the best one's by this


def best_fits(families: Iterable[Family], record: AnyRecord, whole: AnyRecord | None = None) -> list[Scored]:
    """The likeliest options of every rule; the charge makes the score the logarithm of odds times evidence.

    If the record is the beginning of a `whole`, a rule without chance must have options that agree with all of it.
    """
    found = [(family, fit) for family in families if (fit := on_grid(family, record, whole)) is not None]
    top = max((fit.score for _, fit in found), default=0.0)
    best: dict[str, Scored] = {}
    for family, fit in found:
        fit = _refined(family, fit, record) if family.free and fit.score > top - NEAR else fit
        known = best.get(family.name)
        best[family.name] = fit if known is None else _together(known, fit)
    return list(best.values())


def on_more(families: Sequence[Family], fits: Iterable[Scored], whole: Record, few: int, more: int) -> list[Scored]:
    """The best rules, which were found on few rounds, on more of them, with whatever is around them then.

    Options that are read off are read off anew, for fewer of them agree with more rounds. Those that are searched for
    stay as they are, unless the beginning turns out to be longer than what few rounds can show.
    """
    record, searched = whole.first(more), {family.name for family in families if family.free}
    names = {fit.core.name for fit in fits}
    found = best_fits([each for each in families if each.name in names - searched], record, whole)
    found += [_again(fit, record) for fit in fits if fit.core.name in searched]
    best = sorted(found, key=lambda fit: -fit.score)[:FINALISTS]
    begun = {fit.core.name: fit.around.beginning.stretches for fit in best}
    hidden = {name for name in searched & set(begun) if begun[name] > few // 2}
    part = record.first(max((begun[name] for name in hidden), default=0) + few)
    again = best_fits([each for each in families if each.name in hidden], part)
    return [fit for fit in best if fit.core.name not in hidden] + [_again(fit, record) for fit in again]


def _again(fit: Scored, record: AnyRecord) -> Scored:
    again = fitted(fit.core, record, note=fit.note, begins=fit.around.begins, floors=fit.around.floors)
    return replace(again, charge=fit.charge - fit.around.charge + again.around.charge)


def _together(one: Scored, other: Scored) -> Scored:
    """Two lines of one rule: the evidence of both, and the member of the better one."""
    better = max(one, other, key=lambda fit: fit.score)
    return replace(better, charge=better.log_likelihood - float(np.logaddexp(one.score, other.score)))


def on_grid(family: Family, record: AnyRecord, whole: AnyRecord | None = None) -> Scored | None:
    """The average likelihood over the grid of options, and the best point of it."""
    fits: list[Scored] = []
    seen = family.read_off(family.rule, dict(family.fixed), record if family.rule.randomised else whole or record)
    grids = [_grid(family.rule, name, r, record) for name, r in family.free.items()]
    for opening in _openings(family.rule, record):
        for point in product(*grids):
            numbers = {name: value for name, (value, _) in zip(family.free, point, strict=True)}
            options = {**family.fixed, **seen.options, **opening, **numbers}
            policy = _built(family.rule, options)
            if policy is not None:
                charge = seen.charge - math.log(family.odds) - sum(math.log(weight) for _, weight in point)
                fits.append(fitted(policy, record, charge, seen.note, begins=family.begins, floors=family.floors))
    if not fits:
        return None
    best = max(fits, key=lambda fit: fit.score)
    return replace(best, charge=best.log_likelihood - float(np.logaddexp.reduce([fit.score for fit in fits])))


def _grid(rule: type[Policy], name: str, r: Range, record: AnyRecord) -> list[tuple[float, float]]:
    """Values with their probabilities beforehand."""
    values = [float(f"{r.value(x, record):.3g}") for x in np.linspace(r.low, r.high, r.points)]
    return [(rule.defaults()[name], 1 / 2), *((value, 1 / 2 / r.points) for value in values)]


def _openings(rule: type[Policy], record: AnyRecord) -> list[Options]:
    """Initial pulls as the log shows them, and the default: what seems to be an opening may be chance."""
    default = rule.defaults().get("initial_pulls")
    if default is None:
        return [{}]
    return [{"initial_pulls": pulls} for pulls in dict.fromkeys((record.opening or default, default))]


def _built(rule: type[Policy], options: Options) -> Policy | None:
    try:
        return rule(**options)
    except InputError:
        return None


def _refined(family: Family, fit: Scored, record: AnyRecord) -> Scored:
    """Maximum likelihood from the best point of the grid, and the evidence by BIC if the grid is too coarse for it."""
    numbers = _likeliest(fit, family.free, record.first(fit.around.beginning.stretches + SEARCHED))
    changed = replace(fit.core, **numbers)  # type: ignore[type-var]  # all rules are dataclasses
    better = fitted(changed, record, note=fit.note, begins=family.begins, floors=family.floors)
    if better.log_likelihood <= fit.log_likelihood:
        return fit
    by_bic = better.score - len(numbers) * per_number(record.horizon) + math.log(family.odds)
    return replace(better, charge=better.log_likelihood - max(fit.score, by_bic))


def _likeliest(fit: Scored, numbers: Mapping[str, Range], record: AnyRecord) -> dict[str, float]:
    """The likeliest numbers by Nelder-Mead; three digits are more than a log can tell."""
    policy = fit.core
    from scipy.optimize import minimize

    def options(point: Floats) -> dict[str, float]:
        return {
            name: float(f"{r.value(min(max(x, r.low), r.high), record):.3g}")
            for (name, r), x in zip(numbers.items(), point, strict=True)
        }

    def misfit(point: Floats) -> float:
        made = _built(type(policy), policy.options() | options(point))
        return math.inf if made is None else -plain_log_likelihood(made, record, fit.around)

    start = np.array([_scale(getattr(policy, name), r, record) for name, r in numbers.items()])
    steps = [(r.high - r.low) / (r.points - 1) / 2 for r in numbers.values()]
    corners = np.array([start, *(start + step * axis for step, axis in zip(steps, np.eye(len(start)), strict=True))])
    found = minimize(
        misfit,
        start,
        method="Nelder-Mead",
        bounds=[(r.low, r.high) for r in numbers.values()],
        options={"initial_simplex": corners, "xatol": 0.05, "fatol": 0.02, "maxfev": 20 * len(numbers)},
    )
    return options(found.x)


def _scale(value: float, r: Range, record: AnyRecord) -> float:
    """The place of a number on its scale; the nearest of many points is near enough to begin with."""
    points = np.linspace(r.low, r.high, 10 * r.points)
    return float(points[np.argmin([abs(r.value(x, record) - value) for x in points])])
