"""Before an experiment: what a rule would cost, and how well its arms would be known afterwards.

Pulls, regret and the winner are read off many simulated experiments. Some of them are debiased as a user would debias
them: that says how biased the means are before and after correction, what the intervals are worth, and how often the
p-value finds a difference.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tqdm import tqdm

from debandit.checks import checked_whole
from debandit.debiasing import debias_all
from debandit.engine.data import Floats
from debandit.errors import InputError, quoted, shorten, with_few_sizes
from debandit.files import known
from debandit.policies import Policy, as_policy
from debandit.settings import LEVELS
from debandit.simulation import Runs, simulate
from debandit.tables import Column, Part, Printed, Table, decimals_for, plain
from debandit.worlds import World, as_world

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

SCHEMA, SCHEMA_VERSION = "debandit.plan", 1
MANY = 4000  # experiments that are only simulated
AT_ONCE = 20  # experiments that are debiased at once
ALPHA = 0.05
_ARMS = (
    Column("arm", "arm", "text"),
    Column("truth", "true mean", "number"),
    Column("pulls", "pulls", "count"),
    Column("raw_bias", "raw bias", "number"),
    Column("quoted_bias", "quoted bias", "number"),
    Column("quoted_bias_se", "± s.e.", "number"),
    Column("width", "width", "number"),
    Column("coverage", "covers", "share"),
)
_PLANS = (
    Column("rule", "rule", "text"),
    Column("horizon", "rounds", "count"),
    Column("regret", "regret", "number"),
    Column("winner", "right winner", "share"),
    Column("power", "power", "share"),
    Column("width", "widest", "number"),
    Column("coverage", "covers least", "share"),
)


class Outcome(NamedTuple):
    """A number of the plan, and its Monte-Carlo standard error.

    Attributes
    ----------
    value, se : float
        The number and its error; NaN if it was seen less than twice.
    """

    value: float
    se: float

    @classmethod
    def of(cls, values: Floats) -> "Outcome":
        """The mean of what was seen in each experiment; NaN counts as not seen."""
        seen = values[np.isfinite(values)]
        if len(seen) < 2:
            return cls(float("nan"), float("nan"))
        return cls(float(seen.mean()), float(seen.std(ddof=1) / np.sqrt(len(seen))))


@dataclass(frozen=True, eq=False)
class Plan(Printed):
    """What is to be expected of one rule in one world for some rounds. Lists have one `Outcome` per arm.

    Attributes
    ----------
    policy, world, horizon : Policy, World, int
        What was planned.
    control, best : int
        The arm that others are compared with, and the one with the highest true mean, counted from 0.
    level : float
        Confidence level of the intervals.
    experiments : int
        How many were debiased.
    pulls : list
        Pulls of each arm.
    regret : Outcome
        What is lost against always pulling the best arm, in rewards.
    winner : Outcome
        How often the arm with the highest mean is the best one.
    raw_bias, quoted_bias, corrected_bias : list
        The bias of each arm's raw, quoted and corrected mean.
    width, coverage : list
        Of each arm's interval.
    power : Outcome
        How often the p-value of the `compared` arm against the control is below 5 %.
    """

    policy: Policy
    world: World
    horizon: int
    control: int
    best: int
    level: float
    experiments: int
    pulls: list[Outcome]
    regret: Outcome
    winner: Outcome
    raw_bias: list[Outcome]
    quoted_bias: list[Outcome]
    corrected_bias: list[Outcome]
    width: list[Outcome]
    coverage: list[Outcome]
    power: Outcome

    @property
    def compared(self) -> int:
        """The best arm besides the control."""
        return _best_besides(self.world, self.control)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per arm."""
        listed = ("pulls", "raw_bias", "quoted_bias", "corrected_bias", "width", "coverage")
        return [
            {
                "rule": str(self.policy),
                "horizon": self.horizon,
                "arm": str(arm + 1),
                "truth": float(self.world.means[arm]),
                **_named({key: getattr(self, key)[arm] for key in listed}),
                **_named({key: getattr(self, key) for key in ("regret", "winner", "power")}),
            }
            for arm in range(self.world.arm_count)
        ]

    def __str__(self) -> str:
        return plain(self.parts())

    def parts(self) -> list[Part]:
        """What it means in words, and a line for each arm."""
        errors = [each.se for each in (*self.raw_bias, *self.quoted_bias)]
        title = f"{with_few_sizes(str(self.policy))}, {self.horizon:,} rounds"
        table = Table(self.rows(), _ARMS, decimals_for(errors))
        said = (Part("plan", text) for text in self._sentences())
        return [Part("title", title, strong=True), *said, Part("arms", table)]

    def _sentences(self) -> Iterator[str]:
        best, control, other = self.best + 1, self.control + 1, self.compared + 1
        share = 100 * self.pulls[self.best].value / sum(each.value for each in self.pulls)  # some rules stop early
        lost = f"{self.regret.value:,.1f}"
        yield f"Arm {best}, the best one, gets {share:.0f} % of the rounds; the others cost {lost} in rewards."
        yield f"It has the highest mean in the end in {100 * self.winner.value:.0f} of 100 experiments."
        worst = max(range(len(self.raw_bias)), key=lambda k: abs(self.raw_bias[k].value))
        raw, quoted = self.raw_bias[worst].value, self.quoted_bias[worst].value
        digits = decimals_for([0.1 * np.nanmax(np.abs([raw, quoted]))])
        off = f"off by {raw:+.{digits}f} on average, the quoted one by {quoted:+.{digits}f}"
        yield f"The raw mean of arm {worst + 1} is {off}."
        if np.isfinite(self.power.value):
            gap = self.world.means[self.compared] - self.world.means[self.control]
            found = f"found (p < {ALPHA:g}) in {100 * self.power.value:.0f} of 100 experiments."
            yield f"The difference of {gap:.3g} between arm {other} and arm {control}, the control, is {found}"


@dataclass(frozen=True, eq=False)
class Plans(Printed):
    """Several rules or horizons side by side.

    Attributes
    ----------
    plans : tuple of Plan
        The plans, which can also be had by their place: ``plans[0]``.
    """

    plans: tuple[Plan, ...]

    def __getitem__(self, place: int) -> Plan:
        return self.plans[place]

    def __len__(self) -> int:
        return len(self.plans)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per plan and arm."""
        return [row for plan in self.plans for row in plan.rows()]

    def parts(self) -> list[Part]:
        """All plans side by side, and then one after the other."""
        first = self.plans[0]
        made = (
            f"Pulls, regret, raw bias and the winner are averages over {MANY:,} simulated experiments; quoted bias, "
            f"{100 * first.level:g} % intervals and power over {first.experiments:,}, debiased as a log would be."
        )
        return [*self._side_by_side(), *(part for plan in self.plans for part in plan.parts()), Part("made", made)]

    def _side_by_side(self) -> list[Part]:
        if len(self.plans) == 1:
            return []
        rows = [
            {
                **plan.rows()[0],
                "rule": shorten(with_few_sizes(str(plan.policy)), 40),
                "width": max(each.value for each in plan.width),
                "coverage": min(each.value for each in plan.coverage),
            }
            for plan in self.plans
        ]
        table = Table(rows, _PLANS, decimals_for([plan.regret.se for plan in self.plans]))
        return [Part("title", "Side by side", strong=True), Part("plans", table)]

    def document(self) -> dict[str, Any]:
        """Everything, as a JSON file has it."""
        return {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "rows": known(self.rows())}

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def plot(self, path: Any = None) -> "alt.VConcatChart":
        """A picture of regret, power, the right winner and the widths; written to `path`, if there is one."""
        from debandit.plots import draw_plans, save_as

        chart = draw_plans(self.rows())
        if path is not None:
            save_as(chart, path)
        return chart

    def __str__(self) -> str:
        return plain(self.parts())


def plan(
    policy: Policy | str | Sequence[Policy | str],
    world: World | str,
    *,
    horizon: int | Sequence[int],
    control: int = 1,
    experiments: int = 100,
    runs: int = 200,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
) -> Plans:
    """Say what is to be expected of an experiment, for each of some rules and horizons.

    Parameters
    ----------
    policy : Policy or str, or a list of them
        The rules that may choose the arms.
    world : World or str
        Where rewards would come from: what you believe, or fear.
    horizon : int or list of int
        Rounds of the experiment.
    control : int, default 1
        The number of the arm that the best one is compared with, counted from 1.
    experiments : int, default 100
        Simulated experiments that are debiased.
    runs : int, default 200
        Runs to debias each of them.
    level : float, default 0.95
        Confidence level of the intervals.
    seed : int, default 0
        Same seed, same answer.
    threads : int, optional
        Threads to use; by default as many as there are cores.

    Returns
    -------
    Plans
        A `Plan` for each rule and horizon.

    Examples
    --------
    >>> import debandit as db
    >>> world = "bernoulli(means=[0.1, 0.2])"
    >>> plans = db.plan("batched(beta_thompson, size=50)", world, horizon=[100, 400], experiments=20, runs=50)
    >>> for plan in plans:
    ...     print(plan.horizon, [round(arm.value) for arm in plan.pulls], round(plan.winner.value, 2))
    100 [37, 63] 0.91
    400 [68, 332] 1.0
    """
    several = [policy] if isinstance(policy, (str, Policy)) else list(policy)
    horizons = [horizon] if isinstance(horizon, (int, np.integer)) else list(horizon)
    rules, place = [as_policy(each) for each in several], as_world(world)
    if place.means.ndim != 1:
        raise InputError("give one world at a time: a list of numbers, not of lists", where="world")
    if not LEVELS[0] <= level <= LEVELS[1]:
        raise InputError(f"a level lies between {LEVELS[0]} and {LEVELS[1]}, not {quoted(level)}", where="level")
    against = checked_whole("control", control, 1, place.arm_count) - 1
    count = checked_whole("experiments", experiments, 2, MANY)
    options = {"runs": runs, "level": level, "control": str(against + 1), "seed": seed, "threads": threads}
    pairs = list(itertools.product(rules, [checked_whole("horizon", each) for each in horizons]))
    with tqdm(total=count * len(pairs), disable=None, unit="experiment", leave=False) as progress:
        return Plans(tuple(_planned(rule, place, rounds, against, count, options, progress) for rule, rounds in pairs))


def _planned(
    policy: Policy, world: World, horizon: int, control: int, count: int, options: dict[str, Any], progress: Any
) -> Plan:
    seed, threads = options["seed"], options["threads"]
    if (most := policy.planned(horizon)) > horizon:
        what = f"the rule may go on for {most:,} rounds, and the plan is for {horizon:,}"
        raise InputError(what, where="horizon", remedy=f"Plan all {most:,} rounds; it ends sooner where it decides so.")
    many = simulate(policy, world, horizon=horizon, runs=MANY, seed=seed, threads=threads)
    some = simulate(policy, world, horizon=horizon, runs=count, seed=seed, threads=threads, paths=True)
    results = []
    for first in range(0, count, AT_ONCE):
        logs = [some.log(run) for run in range(first, min(first + AT_ONCE, count))]
        results += debias_all(logs, policy, log_index=first, unseen=_stand_in(world), **options)
        progress.update(len(logs))
    truth, best = world.means, int(np.argmax(world.means))
    quoted, corrected, low, high = (
        np.array([getattr(result, key) for result in results]) for key in ("quoted", "corrected", "low", "high")
    )
    compared = _best_besides(world, control)
    p_values = np.array([result.differences.p_value[compared] if result.differences else np.nan for result in results])
    covered = np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high))
    arms = range(world.arm_count)
    return Plan(
        policy,
        world,
        horizon,
        control,
        best,
        options["level"],
        count,
        pulls=[Outcome.of(many.pulls[:, arm].astype(np.float64)) for arm in arms],
        regret=Outcome.of((many.pulls * (truth[best] - truth)).sum(axis=-1)),
        winner=Outcome.of(_right_winner(many)),
        raw_bias=[Outcome.of(many.means[:, arm] - truth[arm]) for arm in arms],
        quoted_bias=[Outcome.of(quoted[:, arm] - truth[arm]) for arm in arms],
        corrected_bias=[Outcome.of(corrected[:, arm] - truth[arm]) for arm in arms],
        width=[Outcome.of((high - low)[:, arm]) for arm in arms],
        coverage=[Outcome.of(covered[:, arm]) for arm in arms],
        power=Outcome.of(np.where(np.isnan(p_values), np.nan, p_values < ALPHA)),
    )


def _best_besides(world: World, control: int) -> int:
    means = np.where(np.arange(world.arm_count) == control, -np.inf, world.means)
    return int(np.argmax(means))


def _right_winner(runs: Runs) -> Floats:
    """Whether the arm with the highest sample mean is one of the best (runs,)."""
    means = np.where(np.isnan(runs.means), -np.inf, runs.means)
    truth = runs.world.means
    return np.asarray(truth[np.argmax(means, axis=-1)] == truth.max(), np.float64)


def _stand_in(world: World) -> tuple[float, float]:
    """A mean and a standard deviation for arms that some experiment never pulled."""
    return float(world.means.mean()), float(np.sqrt(world.variances.mean()))


def _named(outcomes: dict[str, Outcome]) -> dict[str, float]:
    """The values under their names, their errors under these and "_se"."""
    return {f"{key}{end}": each for key, pair in outcomes.items() for end, each in zip(("", "_se"), pair, strict=True)}
