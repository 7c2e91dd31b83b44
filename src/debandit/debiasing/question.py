"""What `debias` is asked: logs and options, checked."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal, get_args

from debandit.checking import check_before_debiasing
from debandit.debiasing.running import RunCount
from debandit.engine.spread import Workers
from debandit.errors import InputError, quoted
from debandit.intervals import Interval, check_interval, interval_of
from debandit.log import ExperimentLog
from debandit.policies import Policy
from debandit.result import Settings
from debandit.simulation import checked_workers
from debandit.version import __version__
from debandit.worlds import Bootstrap, Unseen

Method = Literal["bootstrap", "rao-blackwell"]


@dataclass(frozen=True)
class Question:
    """The options are those of `debias`."""

    logs: Sequence[ExperimentLog]
    policy: Policy
    world: Bootstrap
    runs: RunCount
    seed: int
    unseen: Unseen | None
    threads: int | None
    executor: Executor | None
    log_index: int
    force: bool
    interval: str
    level: float
    method: Method
    control: str | None
    control_variates: bool

    def __post_init__(self) -> None:
        if not all(isinstance(log, ExperimentLog) for log in self.logs):
            raise InputError("debias needs an ExperimentLog or a list of them", where="log", remedy="See read_log.")
        check_interval(self.interval, self.level)
        if self.method not in get_args(Method):
            what = f"there is no method {quoted(self.method)}"
            raise InputError(what, where="method", remedy=f"There are {' and '.join(get_args(Method))}.")
        if self.method == "rao-blackwell" and self.control is not None:
            what = "the method rao-blackwell does not compare arms"
            raise InputError(what, where="control", remedy="Use the bootstrap (the default method).")

    @property
    def workers(self) -> Workers:
        """Where to work."""
        return checked_workers(self.threads, self.executor)

    def rules(self) -> list[Policy]:
        """The rule as each log's experiment had it."""
        return [self.policy.in_log(log) for log in self.logs]

    def worlds(self) -> list[tuple[Bootstrap, str]]:
        """The kind of world that is taken for each log, and why."""
        return [
            self.world.chosen_for(log, rule.in_large_batches(len(log.labels), log.horizon))
            for log, rule in zip(self.logs, self.rules(), strict=True)
        ]

    def intervals(self) -> list[Interval]:
        """Of each log."""
        return [interval_of(log, self.interval, self.level) for log in self.logs]

    def doubts(self) -> list[list[str]]:
        """What speaks against the rule in each log; impossible ones are refused."""
        return check_before_debiasing(
            self.logs,
            self.rules(),
            seed=self.seed,
            unseen=self.unseen,
            force=self.force,
            threads=self.threads,
            executor=self.executor,
        )

    def settings(self) -> list[Settings]:
        """Of each log's result."""
        bootstrap = self.method == "bootstrap"
        return [
            Settings(
                policy=str(rule),
                world=str(world) if bootstrap else "none",
                world_because=because if bootstrap else "",
                unseen=None if self.unseen is None else (self.unseen.mean, self.unseen.sd),
                runs_asked=self.runs,
                seed=self.seed,
                horizon=log.horizon,
                log_sha256=log.sha256,
                log_index=self.log_index + i,
                binary=log.binary,
                version=__version__,
                interval=self.interval,
                level=float(self.level),
                method=self.method,
                control=None if self.control is None else str(self.control),
                control_variates=bootstrap and self.control_variates,
            )
            for i, (log, rule, (world, because)) in enumerate(zip(self.logs, self.rules(), self.worlds(), strict=True))
        ]
