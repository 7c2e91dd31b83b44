"""The methods that are put side by side: one table, with what each assumes and how it is found."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from debandit.debiasing import debias
from debandit.engine.data import Floats
from debandit.errors import InputError
from debandit.estimators import (
    aipw,
    aw_aipw,
    batch_weighted,
    batched_ols,
    confidence_sequence,
    ipw,
    naive,
    rao_blackwell,
    w_decorrelation,
)
from debandit.estimators.adaptive import replayed
from debandit.estimators.estimate import rounds_of
from debandit.log import ExperimentLog
from debandit.periods import Weighted, cells_of
from debandit.policies import Policy
from debandit.replay import forced, of_pulled
from debandit.result import Debiased
from debandit.result_parts import Differences
from debandit.settings import Settings, Work

NAIVE, QUOTED, CORRECTED, RAO_BLACKWELL, BATCH_WEIGHTED = (
    "naive",
    "quoted",
    "corrected",
    "rao_blackwell",
    "batch_weighted",
)


class Found(NamedTuple):
    """What a method says of each arm (K,); NaN where it says nothing."""

    estimate: Floats
    se: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the methods work on; what several of them need is worked out once."""

    log: ExperimentLog
    policy: Policy
    settings: Settings
    work: Work
    support: tuple[float, float] | None
    result: Debiased  # of `debias` with its own world

    @cached_property
    def chances(self) -> Floats:
        """The propensities of all arms (1, T, K), by replay of the rule."""
        return replayed(self.log, self.policy)

    @cached_property
    def propensities(self) -> Floats:
        """The propensities of the pulled arms (T,), as they were recorded or by replay."""
        rounds = rounds_of(self.log, "weighting by propensities")
        recorded = rounds.propensities
        return of_pulled(self.chances[0], rounds.arms) if recorded is None else recorded


class Method(NamedTuple):
    """A method of `compare`.

    Attributes
    ----------
    name, title : str
        Its name in files and studies, and what people call it.
    assumes : str
        What it assumes.
    means, differences : function or None
        How it finds means, and differences to a control.
    missing : str
        Why it may have nothing to say of an arm.
    """

    name: str
    title: str
    assumes: str
    means: Callable[[Inputs], Found] | None
    differences: Callable[[Inputs], Found] | None = None
    missing: str = "the arm was never pulled"


def student(value: Floats, se: Floats, df: Floats | float, level: float) -> Found:
    """The estimate with limits by Student's t; none where nothing varied."""
    from debandit.special import stdtrit

    with np.errstate(invalid="ignore"):
        half = np.where(se > 0, stdtrit(df, (1 + level) / 2) * se, np.nan)
    return Found(value, se, value - half, value + half)


def normal(value: Floats, se: Floats, level: float) -> Found:
    """The estimate with normal limits."""
    return student(value, se, np.inf, level)


def unsaid(value: Floats, low: Floats | None = None, high: Floats | None = None) -> Found:
    """An estimate that comes without a standard error, perhaps with limits."""
    nothing = np.full(value.shape, np.nan)
    return Found(value, nothing, nothing if low is None else low, nothing if high is None else high)


def _naive(given: Inputs) -> Found:
    return student(*naive(given.log), _freedom(given), given.settings.level)


def _naive_difference(given: Inputs) -> Found:
    """Welch's."""
    variance, df, control = naive(given.log).se ** 2, _freedom(given), _control(given)
    both = variance + variance[control]
    with np.errstate(invalid="ignore", divide="ignore"):
        degrees = both**2 / (variance**2 / df + variance[control] ** 2 / df[control])
    return student(_compared(given).naive, np.sqrt(both), degrees, given.settings.level)


def _ours(given: Inputs, which: str) -> Found:
    return unsaid(getattr(given.result, which), *given.result.limits)


def _our_difference(given: Inputs, which: str) -> Found:
    found = _compared(given)
    return unsaid(getattr(found, which), found.low, found.high)


def _of_paper(given: Inputs) -> Found:
    settings, work = given.settings, given.work
    asked = {name: getattr(settings, name) for name in ("runs", "unseen", "control_variates", "seed")}
    how = {name: getattr(work, name) for name in ("force", "threads", "executor")}
    return unsaid(debias(given.log, given.policy, world="gaussian", interval="none", **asked, **how).corrected)


def _rao_blackwell(given: Inputs) -> Found:
    work = given.work
    found = rao_blackwell(
        given.log, given.policy, seed=given.settings.seed, threads=work.threads, executor=work.executor
    )
    return unsaid(found.value)  # its se is a Monte-Carlo error


def _weighted(given: Inputs, estimator: Callable[..., tuple[Floats, Floats]]) -> Found:
    found = estimator(given.log, propensities=given.propensities)
    return _where_free(given, normal(*found, given.settings.level))


def _adaptively_weighted(given: Inputs, weights: str) -> Found:
    found = aw_aipw(given.log, weights=weights, propensities=given.chances)
    return _where_free(given, normal(*found, given.settings.level))


def _where_free(given: Inputs, found: Found) -> Found:
    """Without arms that no free choice has pulled: the formulas make something of nothing there."""
    arms = rounds_of(given.log, "weighting by propensities").arms[~forced(given.propensities)]
    pulled = np.bincount(arms, minlength=len(given.log.labels)) > 0
    return Found(*(np.where(pulled, each, np.nan) for each in found))


def _decorrelated(given: Inputs) -> Found:
    seed, threads = given.settings.seed, given.work.threads
    return normal(*w_decorrelation(given.log, given.policy, seed=seed, threads=threads), given.settings.level)


def _batch_weighted(given: Inputs) -> Found:
    given.policy.in_log(given.log)  # which must have heard of rewards between these batches
    return _if_it_varies(Found(*batch_weighted(given.log, given.policy, alpha=1 - given.settings.level)))


def _batch_weighted_difference(given: Inputs) -> Found:
    ran = given.policy.in_log(given.log)
    cells = cells_of(given.log, ran.batch_sizes(len(given.log.labels), given.log.horizon))
    if cells is None:
        raise InputError("it needs batches, and a rule that learns only between them", where="log")
    to = np.full(len(given.log.labels), given.log.labels.index(str(given.settings.control)))
    return _if_it_varies(Found(*Weighted(cells, given.log.binary).differences(to, (1 - given.settings.level) / 2)))


def _if_it_varies(found: Found) -> Found:
    """Without limits where nothing varied."""
    return found._replace(**{key: np.where(found.se > 0, getattr(found, key), np.nan) for key in ("low", "high")})


def _batched_ols(given: Inputs) -> Found:
    if given.settings.control is None:
        what = "it compares arms with a control, and no control was named"
        raise InputError(what, where="control", remedy="Name one with --control (in Python control=).")
    level, seed = given.settings.level, given.settings.seed
    found = batched_ols(given.log, given.policy, control=str(given.settings.control), alpha=1 - level, seed=seed)
    return Found(*found[:4])


def _sequence(given: Inputs) -> Found:
    return unsaid(*confidence_sequence(given.log, alpha=1 - given.settings.level, support=given.support))


def _compared(given: Inputs) -> Differences:
    if given.result.differences is None:
        raise InputError("there are no differences to show", where="control")
    return given.result.differences


def _freedom(given: Inputs) -> Floats:
    return (given.log.pulls - 1).astype(np.float64)


def _control(given: Inputs) -> int:
    return given.log.labels.index(str(given.settings.control))


_UNCHOSEN = "no round with a free choice pulled it"
METHODS = (
    Method(
        NAIVE,
        "naive",
        "that pulls do not depend on rewards, which is not true after a bandit",
        _naive,
        _naive_difference,
    ),
    Method(
        QUOTED,
        "quoted",
        "the right rule, and rewards that do not drift; corrects given the arm's place in this log",
        partial(_ours, which="quoted"),
        partial(_our_difference, which="quoted"),
    ),
    Method(
        CORRECTED,
        "corrected",
        "the same; corrects on average over experiments",
        partial(_ours, which="corrected"),
        partial(_our_difference, which="corrected"),
    ),
    Method(
        "gaussian",
        "corrected, paper's MB",
        "the same, and that each arm's sample variance is its true one",
        _of_paper,
    ),
    Method(
        RAO_BLACKWELL,
        "Rao-Blackwell",
        "the right rule, without randomness, and rewards that do not drift; exactly unbiased then",
        _rao_blackwell,
    ),
    Method(
        "ipw",
        "IPW",
        "the right propensities; unbiased, but if they are small a few rounds decide everything",
        partial(_weighted, estimator=ipw),
        missing=_UNCHOSEN,
    ),
    Method(
        "aipw",
        "AIPW",
        "the right propensities; unbiased, and scatters less than IPW if means are far from 0",
        partial(_weighted, estimator=aipw),
        missing=_UNCHOSEN,
    ),
    Method(
        "aw_aipw",
        "AW-AIPW, constant",
        "the right propensities of all arms, none of them 0, and a long experiment",
        partial(_adaptively_weighted, weights="constant"),
        missing=_UNCHOSEN,
    ),
    Method(
        "aw_aipw_two_point",
        "AW-AIPW, two-point",
        "the same; gives even less weight to arms that the rule gives up",
        partial(_adaptively_weighted, weights="two-point"),
        missing=_UNCHOSEN,
    ),
    Method(
        "w_decorrelation",
        "W-decorrelation",
        "far more than ln T pulls of every arm, and rewards that do not drift",
        _decorrelated,
    ),
    Method(
        BATCH_WEIGHTED,
        "batch-weighted",
        "a rule that learns only between batches; means may drift, but alike for all arms if one lacks pulls in a "
        "batch",
        _batch_weighted,
        _batch_weighted_difference,
        missing="it shares no batch with the others",
    ),
    Method(
        "batched_ols",
        "batched OLS",
        "two pulls of arm and control in every batch, equal variances, one difference in all batches",
        None,
        _batched_ols,
        missing="it or the control has fewer than two pulls in some batch, or rewards that do not vary",
    ),
    Method(
        "confidence_sequence",
        "confidence sequence",
        "rewards whose mean does not drift; holds for any rule and any reason to stop, and so is wide",
        _sequence,
    ),
)
TITLES = {method.name: method.title for method in METHODS}
