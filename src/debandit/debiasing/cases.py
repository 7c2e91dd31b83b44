"""What is decided about each log before anything is simulated, in one order: policy against log, then its world."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from debandit.checking import check_before_debiasing
from debandit.checking.fit import WARNED
from debandit.checks import did_you_mean
from debandit.engine.data import Ints
from debandit.engine.experiment import enough_rounds, fits
from debandit.engine.kernels import ObjectKernel
from debandit.errors import InputError, Refused, listed, quoted
from debandit.intervals import chosen_interval
from debandit.log import ExperimentLog
from debandit.periods import COMMON, Adjusted, cells_of, drift_of
from debandit.policies import Policy
from debandit.policies.availability import absent_of, doubted_absences
from debandit.settings import ADJUST_BATCHES, BOOTSTRAP, NO_ADJUSTMENT, Settings, Work
from debandit.version import __version__
from debandit.worlds import Bootstrap, World, as_bootstrap


@dataclass(frozen=True, eq=False)
class Case:
    """A log, and all that is decided about it; each thing is worked out once."""

    log: ExperimentLog
    policy: Policy  # as it ran in this log
    doubts: list[str]  # what speaks against this policy
    settings: Settings
    world: World | None  # None with the method rao-blackwell
    controls: Ints  # (K,) the arm that each is compared with
    interval: str  # its name
    cannot_simulate: str  # why no limits can be simulated, if so
    adjusted: Adjusted | None  # period-weighted means, if they are wanted

    @property
    def planned(self) -> int:
        """How many rounds the experiment might have had."""
        return self.policy.planned(self.log.horizon)


def totals_enough(policy: Policy, settings: Settings) -> Callable[[ExperimentLog], bool] | None:
    """Whether a log's totals per batch are all that is needed of it, as a question to such a log; None: never."""
    if not (policy.needs_batches and policy.by_totals and settings.method == BOOTSTRAP):
        return None
    bootstrap = as_bootstrap(settings.world)

    def enough(log: ExperimentLog) -> bool:
        large = policy.in_log(log).in_large_batches(len(log.labels), policy.planned(log.horizon))
        return large and (log.binary or (settings.interval in ("none", "wald") and bootstrap.needs_totals(log)))

    return enough


def cases_of(logs: Sequence[ExperimentLog], policy: Policy, settings: Settings, work: Work | None) -> list[Case]:
    """A case for each log; a log that the policy cannot have made is refused, unless it is forced.

    Without `work` it is known that the policy made them.
    """
    bootstrap, policies = as_bootstrap(settings.world), [policy.in_log(log) for log in logs]
    for log, ran in zip(logs, policies, strict=True):
        _check_rewards(log, ran, settings)
    doubts: list[list[str]] = [[] for _ in logs]
    if work is not None:
        doubts = check_before_debiasing(
            logs,
            policies,
            seed=settings.seed,
            unseen=settings.unseen,
            force=work.force,
            threads=work.threads,
            executor=work.executor,
        )
    return [
        _case(log, ran, doubt, bootstrap, dataclasses.replace(settings, log_index=settings.log_index + i))
        for i, (log, ran, doubt) in enumerate(zip(logs, policies, doubts, strict=True))
    ]


def _case(log: ExperimentLog, policy: Policy, doubts: list[str], bootstrap: Bootstrap, settings: Settings) -> Case:
    name, because, world = "none", "", None
    if settings.method == BOOTSTRAP:
        chosen, because = bootstrap.chosen_for(
            log, policy.in_large_batches(len(log.labels), policy.planned(log.horizon))
        )
        name, world = str(chosen), chosen.fit(log, settings.unseen)
        fits(policy, world)
    kept = dataclasses.replace(
        settings,
        world=name,
        world_because=because,
        control_variates=settings.control_variates and world is not None,
        policy=str(policy),
        horizon=log.horizon,
        log_sha256=log.sha256,
        binary=log.binary,
        reward=log.reward,
        absent={} if log.batches is None else absent_of(policy, log, log.batches),
        version=__version__,
    )
    cannot, controls = _cannot_simulate(policy, settings), compared_with(log, settings.control)
    if log.batches is not None:
        doubts = [*doubts, *doubted_absences(policy, log, log.batches)]
    return Case(
        log,
        policy,
        doubts,
        kept,
        world,
        controls,
        chosen_interval(log, settings.interval, cannot)[0],
        cannot,
        _adjusted(log, policy, settings, controls),
    )


def _adjusted(log: ExperimentLog, policy: Policy, settings: Settings, controls: Ints) -> Adjusted | None:
    """Period-weighted means, if they were asked for, or if all arms drift together and nobody said no."""
    sizes = policy.batch_sizes(len(log.labels), log.horizon)
    cells = cells_of(log, sizes) if sizes and settings.adjust != NO_ADJUSTMENT else None
    if cells is None:
        if settings.adjust == ADJUST_BATCHES:
            raise InputError(
                "period-weighted means need a rule that learns only between batches, and this one learns from every "
                "reward at once",
                where="adjust",
                remedy="If it learned only between batches, write batched(RULE), or batched(RULE, size=...).",
            )
        return None
    drift = drift_of(cells, log.binary)
    wanted = settings.adjust == ADJUST_BATCHES or (drift is not None and drift.kind(WARNED) == COMMON)
    return Adjusted.of(cells, log.binary, controls, settings.level, drift) if wanted else None


def _cannot_simulate(policy: Policy, settings: Settings) -> str:
    if settings.method != BOOTSTRAP:
        return f"the method {settings.method} has no worlds to run the rule in"
    return "rules of Python objects are too slow for it" if isinstance(policy.kernel, ObjectKernel) else ""


def _check_rewards(log: ExperimentLog, policy: Policy, settings: Settings) -> None:
    """Refuse arms without a world, rewards that the policy cannot use, and too few rounds."""
    if log.unseen and settings.unseen is None and (settings.method == BOOTSTRAP or log.rounds is None):
        raise no_world(listed(log.unseen))
    policy.check_rewards(log)
    enough_rounds(policy, len(log.labels), policy.planned(log.horizon))


def no_world(arms: str) -> Refused:
    """The refusal of arms that were never pulled."""
    return Refused(
        f"no reward was logged for {arms}: without rewards an arm has no bootstrap world",
        where="arms",
        remedy="Give such arms a world with --unseen MEAN,SD (in Python unseen=(mean, sd)).",
    )


def compared_with(log: ExperimentLog, control: str | None) -> Ints:
    """The arm that each is compared with: the named one, or of the others that with the highest sample mean."""
    if control is None:
        order = np.argsort(-np.nan_to_num(log.means, nan=-np.inf), kind="stable")
        best: Ints = np.where(np.arange(len(order)) == order[0], order[1], order[0])
        return best
    if control not in log.labels:
        remedy = did_you_mean(control, log.labels) or f"The arms are {listed(list(log.labels))}."
        raise InputError(f"there is no arm {quoted(control)} to compare with", where="control", remedy=remedy)
    return np.full(len(log.labels), log.labels.index(control))
