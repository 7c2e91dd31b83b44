"""Running a rule in a world, many times."""

from dataclasses import dataclass

import numpy as np

from debandit.engine import spread
from debandit.engine.data import Floats, Ints
from debandit.errors import InputError
from debandit.log import ExperimentLog
from debandit.policies import Policy
from debandit.worlds import World


@dataclass(frozen=True, eq=False)
class Runs:
    """Many simulated experiments. A stack of W worlds puts an axis W before the axis of runs."""

    policy: Policy
    world: World
    horizon: int
    seed: int
    pulls: Ints  # (runs, arms)
    sums: Floats  # (runs, arms)
    path_arms: np.ndarray | None = None  # (runs, rounds), with paths=True
    path_rewards: Floats | None = None

    @property
    def means(self) -> Floats:
        """Each run's sample means; NaN where an arm was never pulled."""
        with np.errstate(invalid="ignore"):
            return self.sums / self.pulls

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
        """One run as a log; the arms are called 1, 2, ..."""
        if self.path_arms is None or self.path_rewards is None:
            raise InputError("the runs were not recorded round by round", remedy="Use simulate(..., paths=True).")
        place = (world, run) if self.path_arms.ndim == 3 else run
        labels = [str(arm + 1) for arm in range(self.world.arm_count)]
        return ExperimentLog(self.path_arms[place] + 1, self.path_rewards[place], labels=labels)


def simulate(
    policy: Policy,
    world: World,
    *,
    horizon: int,
    runs: int,
    seed: int = 0,
    paths: bool = False,
    threads: int | None = None,
) -> Runs:
    """Run `policy` in `world` for `horizon` rounds, `runs` times.

    The answer depends on the seed alone, not on `threads` (None: all cores). With `paths` every round is kept;
    explore-then-commit then plays its rounds one by one and draws other random numbers than without.
    """
    experiment = experiment_of(policy, world, horizon=horizon, seed=seed, purpose=spread.SIMULATE)
    kept = spread.store(experiment, _count("runs", runs), paths=paths, threads=checked_threads(threads))
    outer = (*world.means.shape[:-1], runs)
    return Runs(
        policy,
        world,
        horizon,
        seed,
        kept.pulls.reshape(*outer, -1),
        kept.sums.reshape(*outer, -1),
        kept.path_arms.reshape(*outer, horizon) if paths else None,
        kept.path_rewards.reshape(*outer, horizon) if paths else None,
    )


def tally(
    policy: Policy, world: World, *, horizon: int, runs: int, seed: int = 0, threads: int | None = None
) -> spread.Tally:
    """The same runs as `simulate` without keeping them, so that memory does not grow with their number."""
    experiment = experiment_of(policy, world, horizon=horizon, seed=seed, purpose=spread.SIMULATE)
    worlds = len(experiment.world_ids)
    return spread.tally(experiment, np.full(worlds, _count("runs", runs)), threads=checked_threads(threads))


def experiment_of(policy: Policy, world: World, *, horizon: int, seed: int, purpose: int) -> spread.Experiment:
    """Rule and world as data, once they are known to fit."""
    _count("horizon", horizon)
    fits(policy, world)
    enough_rounds(policy, world.arm_count, horizon)
    data = world.data()
    return spread.Experiment(
        policy.kernel,
        policy.rule(world.arm_count, horizon),
        data,
        np.arange(len(data.means) // world.arm_count),
        world.arm_count,
        horizon,
        checked_seed(seed),
        purpose,
    )


def fits(policy: Policy, world: World) -> None:
    """A rule for 0/1 rewards needs a world of 0/1 rewards."""
    if policy.binary_rewards and not world.binary:
        raise InputError(
            f"{policy.name} is a rule for 0/1 rewards, but the rewards of the world {world.name} are not 0/1",
            where="world",
            remedy="Use the world bernoulli to simulate, or efron to debias a log of 0/1 rewards.",
        )


def enough_rounds(policy: Policy, arm_count: int, horizon: int) -> None:
    """The initial pulls must fit into the horizon."""
    needed = policy.opening * arm_count
    if horizon < needed:
        raise InputError(
            f"{horizon} rounds are fewer than the {needed} initial pulls of {policy} with {arm_count} arms",
            where="horizon",
            remedy="Check the rule and its options, and that the log is complete.",
        )


def checked_seed(seed: int) -> int:
    """Streams are keyed by 64 bits."""
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or not 0 <= seed < 2**64:
        raise InputError(f"a seed is a whole number from 0 to 2^64 - 1, not {seed!r}", where="seed")
    return int(seed)


def checked_threads(threads: int | None) -> int | None:
    """None stands for all cores."""
    return None if threads is None else _count("threads", threads)


def _count(name: str, value: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} must be a whole number above 0, not {value!r}", where=name)
    return int(value)
