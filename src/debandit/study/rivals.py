"""The methods of `compare` in studies: on all experiments at once, and whether their intervals cover the truth."""

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from debandit import estimators
from debandit.checks import checked_workers
from debandit.comparing.methods import Found, normal, student, unsaid
from debandit.debiasing import debias_all
from debandit.debiasing.cases import no_world
from debandit.engine import spread
from debandit.engine.data import Floats
from debandit.engine.experiment import DEBIAS, Experiment
from debandit.engine.kernels import ObjectKernel
from debandit.engine.places import Places
from debandit.engine.runs import TOTALS, Wish
from debandit.errors import InputError, Refused
from debandit.estimators.batchwise import cells_of_runs
from debandit.estimators.decorrelation import QUANTILE
from debandit.estimators.sequences import bernoulli_limits
from debandit.intervals import WINNER, Limits, binary, pooled_t, two_part, welch
from debandit.intervals.interval import CLOSED_ROUNDS, MANY_ZEROS
from debandit.periods import Weighted
from debandit.policies.history import History
from debandit.replay import NUMBERS_AT_ONCE, of_pulled, path_chances
from debandit.simulation import Runs, experiment_of, fits
from debandit.study.comparisons import LEVEL, sample_of
from debandit.worlds import Unseen, as_bootstrap

if TYPE_CHECKING:
    from debandit.study.cell import Cell


class Task(NamedTuple):
    """The experiments of a chunk, and what a method needs to know besides."""

    experiments: Runs
    cell: "Cell"
    seed: int
    threads: int | None

    def in_worlds(self) -> Experiment:
        """The rule in the default bootstrap world of each experiment."""
        runs, unseen = self.experiments, self.cell.unseen
        if unseen is None and not runs.pulls.all():
            run, arm = np.argwhere(runs.pulls == 0)[0]
            raise no_world(f"arm {arm + 1} of experiment {run + 1}")
        worlds = as_bootstrap("auto").fit(runs, None if unseen is None else Unseen.of(unseen))
        ids = np.arange(len(runs.pulls))
        fits(runs.policy, worlds)
        return experiment_of(runs.policy, worlds.data(), ids, horizon=runs.horizon, seed=self.seed, purpose=DEBIAS)


def _naive(task: Task) -> Found:
    found = estimators.naive(task.experiments)
    return student(*found, (task.experiments.pulls - 1).astype(np.float64), LEVEL)


def _quoted(task: Task) -> Found:
    """The means that `debias` would quote in its default world, with its interval."""
    runs = task.experiments
    if runs.horizon > CLOSED_ROUNDS:
        return _simulated(task)
    world = task.in_worlds()
    places = Places.of(runs.pulls, runs.means)
    wish = Wish(places=places, controls=np.zeros_like(places.place))  # the winner comes with differences to some arm
    count = np.full(len(runs.pulls), task.cell.runs)
    total = spread.tally(world, count, wish, workers=checked_workers(task.threads, None))
    quoted = runs.means - total.quoted(total.arms, total.best).bias
    sample, leads = sample_of(runs), places.place == 0
    if runs.binary:
        wins = np.rint(np.nan_to_num(sample.means * sample.pulls))
        arm, best = (binary(sample.pulls, wins, LEVEL, *tails) for tails in ((), (WINNER,)))
        return unsaid(quoted, *(np.where(leads, *pair) for pair in zip(best, arm, strict=True)))
    arm, best = (Limits(*pooled_t(sample, LEVEL, *tails)[:2]) for tails in ((), (WINNER,)))
    rewards = runs.paths()[1]
    zeros = ((rewards.min(axis=1) >= 0) & ((rewards == 0).mean(axis=1) >= MANY_ZEROS))[:, None]
    usual = [np.where(leads, *pair) for pair in zip(best, arm, strict=True)]
    if not zeros.any():
        return unsaid(quoted, *usual)
    return unsaid(quoted, *(np.where(zeros, *pair) for pair in zip(two_part(sample, LEVEL), usual, strict=True)))


def _simulated(task: Task) -> Found:
    """What `debias` says of each experiment; where limits are simulated, it takes a fraction of a second for each."""
    runs, cell = task.experiments, task.cell
    found = debias_all(
        [runs.log(i) for i in range(len(runs.pulls))],
        cell.policy,
        runs=cell.runs,
        seed=task.seed,
        unseen=cell.unseen,
        force=True,
        threads=task.threads,
    )
    limits = np.array([result.limits for result in found])
    return unsaid(np.array([result.quoted for result in found]), limits[:, 0], limits[:, 1])


def _rao_blackwell(task: Task) -> Found:
    """One experiment after the other, with as many replays as the cell has runs: unbiased with any number."""
    runs, cell = task.experiments, task.cell
    logs = (runs.log(i) for i in range(len(runs.pulls)))
    found = [
        estimators.rao_blackwell(log, cell.policy, runs=cell.runs, seed=task.seed, threads=task.threads, log_index=i)
        for i, log in enumerate(logs)
    ]
    return unsaid(np.array([each.value for each in found]))


_chances: WeakKeyDictionary[Runs, Floats] = WeakKeyDictionary()  # a replay takes longer than what is made of it


def chances_of(experiments: Runs) -> Floats:
    """The propensities of all arms (runs, T, K), replayed once for all methods."""
    if experiments not in _chances:
        arms, rewards = experiments.paths()
        rows = max(1, NUMBERS_AT_ONCE // (experiments.horizon * experiments.world.arm_count))
        parts = [
            path_chances(arms[i : i + rows], rewards[i : i + rows], experiments.policy, experiments.world.arm_count)
            for i in range(0, len(arms), rows)
        ]
        _chances[experiments] = np.concatenate(parts)
    return _chances[experiments]


def _weighted(estimator: Callable[..., tuple[Floats, Floats]]) -> Callable[[Task], Found]:
    def found(task: Task) -> Found:
        runs = task.experiments
        pulled = of_pulled(chances_of(runs), runs.paths()[0])
        return normal(*estimator(runs, propensities=pulled), LEVEL)

    return found


def _adaptively_weighted(weights: str) -> Callable[[Task], Found]:
    def found(task: Task) -> Found:
        runs = task.experiments
        return normal(*estimators.aw_aipw(runs, weights=weights, propensities=chances_of(runs)), LEVEL)

    return found


def _decorrelated(task: Task) -> Found:
    """`w_decorrelation` of all experiments at once, lambda from as many runs as the cell has."""
    runs, horizon, count = task.experiments, task.experiments.horizon, task.cell.runs
    workers = checked_workers(task.threads, None)
    table = spread.store(task.in_worlds(), count, kept=TOTALS, paths=False, workers=workers).table
    pulls = table[0].reshape(runs.world.arm_count, -1, count)  # (K, experiments, runs)
    penalty = np.quantile(np.minimum(pulls, horizon - pulls) / np.log(horizon), QUANTILE, axis=-1).T
    left = (penalty / (1 + penalty))[:, None]  # 1 - R, for each arm
    arms, rewards = runs.paths()
    taken = arms[..., None] == np.arange(runs.world.arm_count)
    earlier = History(arms, rewards, runs.world.arm_count).pulls
    weights = np.where(taken, (1 - left) * left**earlier, 0.0)
    value = runs.means + (weights * (rewards[..., None] - np.nan_to_num(runs.means)[:, None])).sum(axis=1)
    se = estimators.naive(runs).se * np.sqrt(runs.pulls * (weights**2).sum(axis=1))
    return normal(value, se, LEVEL)


def _batch_weighted(task: Task) -> Found:
    return Found(*estimators.batch_weighted(task.experiments, alpha=1 - LEVEL))


def _batch_weighted_difference(task: Task) -> Found:
    """Differences of batch-weighted means to that of the first arm."""
    runs, first = task.experiments, np.zeros(task.experiments.world.arm_count, np.int64)
    cells = cells_of_runs(runs, None, BATCH_WEIGHTED)
    found = [Weighted(each, runs.binary).differences(first, (1 - LEVEL) / 2) for each in cells]
    return Found(*np.stack(found, axis=1))


def _batched_ols(task: Task) -> Found:
    """Differences to the first arm, one experiment after the other; NaN where they are refused."""
    runs, found = task.experiments, np.full((4, *task.experiments.pulls.shape), np.nan)
    for i in range(len(runs.pulls)):
        with contextlib.suppress(Refused):
            told = estimators.batched_ols(runs.log(i), runs.policy, control="1", alpha=1 - LEVEL, seed=task.seed)
            found[:, i] = told[:4]
    return Found(*found)


def _naive_difference(task: Task) -> Found:
    """Differences to the first arm, with Welch's limits."""
    sample = sample_of(task.experiments)
    control = np.zeros(sample.shape[1], np.int64)
    found = unsaid(sample.means - sample.means[:, :1], *welch(sample, control, LEVEL))
    return Found(*(np.where(np.arange(len(control)) > 0, each, np.nan) for each in found))


def _sequence(task: Task) -> Found:
    runs = task.experiments
    if not runs.binary:
        support, logs = runs.world.support, (runs.log(i) for i in range(len(runs.pulls)))
        found = [estimators.confidence_sequence(log, alpha=1 - LEVEL, support=support) for log in logs]
        return unsaid(*np.array(found).swapaxes(0, 1))
    pulls, best = runs.pulls.astype(np.float64), max(1.0, runs.horizon / runs.world.arm_count)
    return unsaid(runs.means, *bernoulli_limits(np.rint(runs.sums), pulls, 1 - LEVEL, best))


BY_PROPENSITIES = ("ipw", "aipw", "aw_aipw", "aw_aipw_two_point")
WEIGHTED = (*BY_PROPENSITIES, "w_decorrelation")  # methods that weight every round of every arm
QUOTED, RAO_BLACKWELL, BATCH_WEIGHTED, SEQUENCE = "quoted", "rao_blackwell", "batch_weighted", "confidence_sequence"
DIFFERENCES = ("naive_difference", "batched_ols", "batch_weighted_difference")  # to the first arm
FOUND: dict[str, Callable[[Task], Found]] = {
    "naive": _naive,
    "ipw": _weighted(estimators.ipw),
    "aipw": _weighted(estimators.aipw),
    QUOTED: _quoted,
    RAO_BLACKWELL: _rao_blackwell,
    "aw_aipw": _adaptively_weighted("constant"),
    "aw_aipw_two_point": _adaptively_weighted("two-point"),
    "w_decorrelation": _decorrelated,
    BATCH_WEIGHTED: _batch_weighted,
    SEQUENCE: _sequence,
    DIFFERENCES[0]: _naive_difference,
    DIFFERENCES[1]: _batched_ols,
    DIFFERENCES[2]: _batch_weighted_difference,
}
RIVALS = tuple(FOUND)[3:]  # a cell with one of these measures the intervals of all
WITHOUT_RUNS = ("naive", *BY_PROPENSITIES, BATCH_WEIGHTED, SEQUENCE, *DIFFERENCES)


def truths_of(method: str, cell: "Cell") -> Floats:
    """What a method estimates: the arms' means, or their differences to the first."""
    means = cell.world.means
    return means - means[0] if method in DIFFERENCES else means


def measured(method: str, task: Task) -> dict[str, Floats]:
    """The estimates, whether the interval covers the truth and how wide it is, of shape (experiments, arms)."""
    found, truths = FOUND[method](task), truths_of(method, task.cell)
    values: dict[str, Any] = {"estimate": found.estimate}
    if method == RAO_BLACKWELL:  # it alone has no interval; others may have none for some experiments
        return values
    known = ~np.isnan(found.low)
    covered = np.where(known, (found.low <= truths) & (truths <= found.high), np.nan)
    return values | {"covered": covered, "limits_width": np.where(known, found.high - found.low, np.nan)}


def check_rival(method: str, cell: "Cell", where: str) -> None:
    """Refuse a method that no experiment of the cell allows."""
    policy, remedy = cell.policy, "Take the method out, or give its cells a list of their own."
    if method in BY_PROPENSITIES and not policy.randomised:
        raise InputError(f"{method} needs a rule with randomness, and {policy} has none", where=where, remedy=remedy)
    if method == RAO_BLACKWELL and (policy.randomised or isinstance(policy.kernel, ObjectKernel)):
        raise InputError(
            f"{method} needs a rule without randomness, and {policy} draws its choices", where=where, remedy=remedy
        )
    batches = policy.conditions(cell.world.arm_count, cell.horizon).ends
    if method in (BATCH_WEIGHTED, *DIFFERENCES[1:]) and not len(batches):
        raise InputError(
            f"{method} needs a rule with batches, such as batched({policy}, size=20)", where=where, remedy=remedy
        )
    if method == SEQUENCE and not cell.world.binary and cell.world.support is None:
        raise InputError(f"{method} needs a world of 0/1 or uniform rewards", where=where, remedy=remedy)
