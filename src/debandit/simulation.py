"""Running a rule in a world, many times."""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from debandit.checks import MOST_RUNS, checked_whole, checked_workers
from debandit.engine import spread
from debandit.engine.data import NO_ARM, Floats, Ints
from debandit.engine.experiment import SIMULATE, Experiment
from debandit.engine.experiment import can_drift as can_drift
from debandit.engine.experiment import enough_rounds as enough_rounds
from debandit.engine.experiment import experiment_of as experiment_of
from debandit.engine.experiment import fits as fits
from debandit.engine.runs import TOTALS, WITH_SQUARES, Tally
from debandit.errors import InputError
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.tables import Column, Part, Printed, Table, decimals_for
from debandit.worlds import World, as_world

_ROUNDING = 16 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Runs(Printed):
    """Many simulated experiments. A stack of W worlds puts an axis W before the axis of runs.

    Attributes
    ----------
    policy : Policy
        The rule.
    world : World
        Where rewards came from.
    horizon, seed : int
        Rounds of each run, and the seed.
    pulls, sums : array
        Pulls and sums of rewards, of shape (runs, arms).
    path_arms, path_rewards : array or None
        Every round, of shape (runs, rounds), with ``paths=True``.
    """

    policy: Policy
    world: World
    horizon: int
    seed: int
    pulls: Ints
    sums: Floats
    path_arms: np.ndarray | None = None
    path_rewards: Floats | None = None

    def parts(self) -> list[Part]:
        """What a notebook shows of it: averages over the runs."""
        what = (
            f"{self.pulls.shape[-2]:,} runs of {self.policy}, {self.horizon:,} rounds, in the world {self.world.name}."
        )
        if self.world.means.ndim > 1:
            return [Part("runs", f"{len(self.world.means):,} worlds, {what}")]
        columns = [
            Column("arm", "arm", "text"),
            Column("truth", "true mean", "number"),
            Column("pulls", "pulls", "number"),
        ]
        columns += [Column("bias", "bias", "number"), Column("se", "± s.e.", "number")]
        values = zip(self.world.means, self.pulls.mean(axis=0), self.bias(), self.bias_se(), strict=True)
        rows = [
            {"arm": str(k + 1), "truth": truth, "pulls": pulls, "bias": bias, "se": se}
            for k, (truth, pulls, bias, se) in enumerate(values)
        ]
        return [Part("runs", what), Part("arms", Table(rows, columns, decimals_for(self.bias_se().tolist())))]

    @property
    def means(self) -> Floats:
        """Each run's sample means; NaN where an arm was never pulled."""
        with np.errstate(invalid="ignore"):
            return self.sums / self.pulls

    @cached_property
    def squares(self) -> Floats:
        """Sums of squared deviations from the world's means; without paths the same runs are played again for them."""
        if self.path_arms is None or self.path_rewards is None:
            experiment = _experiment(self.policy, self.world, self.horizon, self.seed)
            runs = self.pulls.shape[-2]
            table = spread.store(experiment, runs, kept=WITH_SQUARES, paths=False, workers=None).table
            again: Floats = table[-1].T.reshape(self.pulls.shape)
            return again
        squares = np.empty(self.sums.shape)
        for arm in range(self.world.arm_count):
            errors = self.path_rewards - self.world.means[..., None, None, arm]
            errors[self.path_arms != arm] = 0.0
            squares[..., arm] = np.einsum("...t,...t->...", errors, errors)
        return squares

    @property
    def variances(self) -> Floats:
        """Each run's sample variances with divisor n; NaN where an arm was never pulled."""
        with np.errstate(invalid="ignore"):
            spread = self.squares / self.pulls
            variances = spread - (self.means - self.world.means[..., None, :]) ** 2
        rounding = _ROUNDING * spread  # equal rewards, and a single one, do not vary
        return np.where((variances > rounding) | np.isnan(variances), variances, 0.0)

    @property
    def binary(self) -> bool:
        """Whether all rewards are 0 or 1."""
        return self.world.binary

    @property
    def has_rewards(self) -> bool:
        """Whether every round was kept."""
        return self.path_rewards is not None

    def pool(self) -> Floats:
        """All rewards, run after run, and within a run arm after arm."""
        arms, rewards = self._recorded()
        grouped = np.take_along_axis(rewards, np.argsort(arms, axis=-1, kind="stable"), axis=-1).ravel()
        return grouped[~np.isnan(grouped)]

    def paths(self) -> tuple[np.ndarray, Floats]:
        """Arms and rewards of every round, of shape (runs, rounds)."""
        arms, rewards = self._recorded()
        if (arms[..., -1] == NO_ARM).any():
            what = "experiments that ended by themselves have different numbers of rounds"
            raise InputError(what, where="policy", remedy="Take them one by one: runs.log(i).")
        return arms, rewards

    def _recorded(self) -> tuple[np.ndarray, Floats]:
        """Every round, NO_ARM where an experiment had ended before it."""
        if self.path_arms is None or self.path_rewards is None:
            raise InputError("the runs were not recorded round by round", remedy="Use simulate(..., paths=True).")
        return self.path_arms, self.path_rewards

    def bias(self) -> Floats:
        """Mean over the runs that pulled the arm, minus the world's mean."""
        errors, pulled, count = self._errors()
        with np.errstate(invalid="ignore", divide="ignore"):
            bias: Floats = np.where(pulled, errors, 0.0).sum(axis=-2) / count
        return bias

    def bias_se(self) -> Floats:
        """Monte-Carlo standard error of `bias`."""
        errors, pulled, count = self._errors()
        deviations = np.where(pulled, errors - self.bias()[..., None, :], 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            error: Floats = np.sqrt((deviations**2).sum(axis=-2) / (count - 1) / count)
        return error

    def _errors(self) -> tuple[Floats, np.ndarray, Ints]:
        pulled = self.pulls > 0
        return self.means - self.world.means[..., None, :], pulled, pulled.sum(axis=-2)

    def log(self, run: int, world: int = 0) -> ExperimentLog:
        """One run as a log; the arms are called 1, 2, ... Without paths it has the counts of 0/1 rewards only."""
        labels = [str(arm + 1) for arm in range(self.world.arm_count)]
        place = (world, run) if self.pulls.ndim == 3 else run
        if self.path_arms is None and self.binary:
            return ExperimentLog.from_summaries(labels, self.pulls[place], self.means[place], binary=True)
        arms, rewards = self._recorded()
        made = arms[place] != NO_ARM
        return ExperimentLog(arms[place][made] + 1, rewards[place][made], labels=labels)


def simulate(
    policy: Policy | str,
    world: World | str,
    *,
    horizon: int,
    runs: int,
    seed: int = 0,
    paths: bool = False,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Runs:
    """Run a policy in a world, many times.

    Parameters
    ----------
    policy : Policy or str
        The rule that chooses the arms.
    world : World or str
        Where rewards come from; a stack of worlds is run in all of them.
    horizon : int
        Rounds of one run.
    runs : int
        How many runs.
    seed : int, default 0
        The answer depends on it alone, not on `threads` nor on the `executor`.
    paths : bool, default False
        Keep every round. Explore-then-commit then plays its rounds one by one, and draws other random numbers than
        without.
    threads : int, optional
        Threads to use; by default as many as there are cores.
    executor : concurrent.futures.Executor, optional
        What to use instead of threads.

    Returns
    -------
    Runs
        Pulls and sums of rewards in every run.

    Examples
    --------
    >>> import debandit as db
    >>> runs = db.simulate("ucb", "normal(means=[1, 1.5], sds=[1, 1])", horizon=100, runs=10_000, seed=1)
    >>> runs.bias().round(2), runs.bias_se().round(3)
    (array([-0.34, -0.04]), array([0.006, 0.003]))
    >>> runs.pulls.mean(axis=0).round(1)
    array([13.6, 86.4])
    """
    rule, place = as_policy(policy), as_world(world)
    experiment = _experiment(rule, place, horizon, seed)
    runs = checked_whole("runs", runs, 1, MOST_RUNS)
    workers = checked_workers(threads, executor)
    played = spread.store(experiment, runs, kept=TOTALS, paths=paths, workers=workers)
    outer = (*place.means.shape[:-1], runs)
    pulls, sums = (each.T.reshape(*outer, -1) for each in played.table)
    return Runs(
        rule,
        place,
        experiment.horizon,
        experiment.seed,
        pulls.astype(np.int64),
        sums,
        played.path_arms.reshape(*outer, horizon) if paths else None,
        played.path_rewards.reshape(*outer, horizon) if paths else None,
    )


def tally(
    policy: Policy | str,
    world: World | str,
    *,
    horizon: int,
    runs: int,
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Tally:
    """The same runs as `simulate` without keeping them, so that memory does not grow with their number."""
    experiment = _experiment(as_policy(policy), as_world(world), horizon, seed)
    count = np.full(len(experiment.world_ids), checked_whole("runs", runs, 1, MOST_RUNS))
    return spread.tally(experiment, count, workers=checked_workers(threads, executor))


def _experiment(policy: Policy, world: World, horizon: int, seed: int) -> Experiment:
    fits(policy, world)
    data = world.data()
    ids = np.arange(len(data.means) // world.arm_count)
    return experiment_of(policy, data, ids, horizon=horizon, seed=seed, purpose=SIMULATE)
