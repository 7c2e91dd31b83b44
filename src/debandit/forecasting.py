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
from debandit.errors import InputError, printable, shorten, with_few_sizes
from debandit.policies import Policy, as_policy
from debandit.settings import LEVELS
from debandit.simulation import Runs, simulate
from debandit.tables import Column, Part, Printed, Row, Table, decimals_for, render
from debandit.worlds import World, as_world

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

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
    """A number of the plan, and its Monte-Carlo standard error."""

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
class Plan:
    """What is to be expected of one rule in one world for some rounds; lists have one entry per arm."""

    policy: Policy
    world: World
    horizon: int
    control: int
    best: int  # the arm with the highest true mean
    level: float
    experiments: int  # that were debiased
    pulls: list[Outcome]
    regret: Outcome  # against always pulling the best arm
    winner: Outcome  # how often the arm with the highest mean is the best one
    raw_bias: list[Outcome]
    quoted_bias: list[Outcome]
    corrected_bias: list[Outcome]
    width: list[Outcome]  # of the interval
    coverage: list[Outcome]
    power: Outcome  # how often the p-value of the best arm against the control is below 5 %

    def rows(self) -> list[Row]:
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
        """What it means in words, and a line for each arm."""
        errors = [each.se for each in (*self.raw_bias, *self.quoted_bias)]
        title = f"{with_few_sizes(str(self.policy))}, {self.horizon:,} rounds"
        table = render(self.rows(), _ARMS, decimals_for(errors))
        return "\n".join([printable(title), "", *self.sentences(), "", table])

    def sentences(self) -> Iterator[str]:
        """What it means, in words."""
        best, control = self.best + 1, self.control + 1
        share = 100 * self.pulls[self.best].value / self.horizon
        lost = f"{self.regret.value:,.1f}"
        yield f"Arm {best}, the best one, gets {share:.0f} % of the rounds; the others cost {lost} in rewards."
        yield f"It has the highest mean in the end in {100 * self.winner.value:.0f} of 100 experiments."
        worst = max(range(len(self.raw_bias)), key=lambda k: abs(self.raw_bias[k].value))
        raw, quoted = self.raw_bias[worst].value, self.quoted_bias[worst].value
        yield f"The raw mean of arm {worst + 1} is off by {raw:+.2g} on average, the quoted one by {quoted:+.2g}."
        if np.isfinite(self.power.value):
            gap = self.world.means[self.best] - self.world.means[self.control]
            found = f"found (p < {ALPHA:g}) in {100 * self.power.value:.0f} of 100 experiments."
            yield f"The difference of {gap:.3g} between arm {best} and arm {control}, the control, is {found}"


@dataclass(frozen=True, eq=False)
class Plans(Printed):
    """Several rules or horizons side by side."""

    plans: tuple[Plan, ...]

    def __getitem__(self, place: int) -> Plan:
        return self.plans[place]

    def __len__(self) -> int:
        return len(self.plans)

    def rows(self) -> list[Row]:
        """One dictionary per plan and arm."""
        return [row for plan in self.plans for row in plan.rows()]

    def parts(self) -> list[Part]:
        """What a notebook shows of it."""
        found = []
        for plan in self.plans:
            errors = [each.se for each in (*plan.raw_bias, *plan.quoted_bias)]
            title = f"{with_few_sizes(str(plan.policy))}, {plan.horizon:,} rounds"
            found += [Part("plan", title, strong=True), *(Part("plan", text) for text in plan.sentences())]
            found.append(Part("arms", Table(plan.rows(), _ARMS, decimals_for(errors))))
        return found

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
        texts = [str(plan) for plan in self.plans]
        if len(self.plans) > 1:
            rows = [
                {
                    **plan.rows()[0],
                    "rule": shorten(with_few_sizes(str(plan.policy)), 40),
                    "width": max(each.value for each in plan.width),
                    "coverage": min(each.value for each in plan.coverage),
                }
                for plan in self.plans
            ]
            table = render(rows, _PLANS, decimals_for([plan.regret.se for plan in self.plans]))
            texts.insert(0, f"Side by side:\n\n{table}")
        first = self.plans[0]
        texts.append(
            f"Averages over {MANY:,} simulated experiments; biases, {100 * first.level:g} % intervals and power over "
            f"{first.experiments:,} of them, debiased as a log would be."
        )
        return "\n\n".join(texts)


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
    """What is to be expected of an experiment, for each of the rules and horizons.

    `control` is the number of the arm that the best one is compared with, counted from 1. `experiments` simulated
    experiments are debiased with `runs` runs each.
    """
    several = [policy] if isinstance(policy, (str, Policy)) else list(policy)
    horizons = [horizon] if isinstance(horizon, (int, np.integer)) else list(horizon)
    rules, place = [as_policy(each) for each in several], as_world(world)
    if place.means.ndim != 1:
        raise InputError("one world at a time, please: a list of numbers, not of lists", where="world")
    if not LEVELS[0] <= level <= LEVELS[1]:
        raise InputError(f"a level lies between {LEVELS[0]} and {LEVELS[1]}, not {level!r}", where="level")
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
    p_values = np.array([result.differences.p_value[best] if result.differences else np.nan for result in results])
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
