"""How often the intervals cover the truth, and how wide they are, over a random population of experiments.

For two Bernoulli arms `exact_minimum` enumerates all that can happen, without random numbers.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debandit.checks import checked_seed, checked_whole
from debandit.engine.data import Floats
from debandit.intervals import Sample, Sums, binary, pooled_t, wald
from debandit.policies import Policy
from debandit.simulation import simulate
from debandit.study.cell import Cell
from debandit.study.comparisons import COMPARISONS, EXPLANATION, LEVEL, comparisons
from debandit.study.measured import Average, MeasuredRows, Table, average_row
from debandit.study.methods import LIMITS, PULLS, YARDSTICK, binomial_se
from debandit.study.plan import Study
from debandit.study.population import CONTINUOUS, RULES, family_of, population
from debandit.study.rows import StudyRows
from debandit.tables import Column, Row
from debandit.theory import exact_counts

LEAST, MOST = 0.93, 0.97
FAMILIES = (*CONTINUOUS, "long-lognormal", "zero-inflated", "binary")
SPECIAL = {"binary": "binary", "two-part": "zero-inflated"}  # intervals for the rewards of one family
_PULLS = dict(zip(("1", "2", "3-5", "6-10", "> 10"), PULLS, strict=True))
COLUMNS = (
    Column("intervals", "interval", "text"),
    Column("arms", "arms", "count"),
    Column("mean", "mean", "number"),
    Column("mean_se", "± s.e.", "number"),
    Column("worst", "worst arm", "number"),
    Column("worst_se", "± s.e.", "number"),
    Column("low", "below 93 %", "share"),
    Column("surely", "by > 2 s.e.", "count"),
    Column("good", "93 to 97 %", "share"),
    Column("width", "width", "number"),
)
GRID = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# every rule for 0/1 rewards, and the numbers of rounds with which all that can happen on two arms is enumerated: those
# of exp3 double with every round, and the chances of ts_postdiff are slow. With two arms top_two_thompson's own leader
# of 1/2 would be uniform. Ties to the last arm are ties to the first one with the arms exchanged.
ENUMERATED = dict.fromkeys(
    (
        *("etc", "etc(pulls=5)", "etc(pulls=5,ties=random)", "greedy", "greedy(ties=random)"),
        *("epsilon_greedy", "epsilon_greedy(ties=random)"),
        *("decaying_epsilon_greedy", "decaying_epsilon_greedy(ties=random)"),
        *("softmax", "ucb", "ucb(ties=random)", "ucb_tuned", "ucb_tuned(ties=random)", "kl_ucb", "kl_ucb(ties=random)"),
        *("successive_elimination", "successive_elimination(sd=0.5)", "successive_elimination(sd=0.25)"),
        *("thompson", "thompson(initial_pulls=1,center=sample)", "thompson_variance", "top_two_thompson(leader=0.7)"),
        *("beta_thompson", "play_the_winner", "uniform", "fixed_weights(weights=[0.8,0.2])"),
    ),
    (20, 30, 40, 60, 100),
) | {"ts_postdiff": (20, 30, 40), "exp3": (20,)}


@dataclass(frozen=True)
class Arms:
    """Coverages of many arms with their binomial errors, and their relative widths."""

    values: Floats
    errors: Floats
    widths: Floats

    def mean(self) -> Average:
        """The average over the arms."""
        return Average(float(self.values.mean()), math.sqrt((self.errors**2).sum()) / len(self.values))

    def low(self) -> Average:
        """The share that is covered too seldom."""
        share = float((self.values < LEAST).mean())
        return Average(share, binomial_se(share, len(self.values)))

    def summary(self) -> Row:
        """The arms as a line of a table."""
        worst = int(self.values.argmin())
        return {
            "arms": len(self.values),
            "mean": self.mean().value,
            "mean_se": self.mean().se,
            "worst": self.values[worst],
            "worst_se": self.errors[worst],
            "low": self.low().value,
            "surely": (self.values + 2 * self.errors < LEAST).sum(),
            "good": ((self.values >= LEAST) & (self.values <= MOST)).mean(),
            "width": self.widths.mean() if len(self.widths) else None,
        }


@dataclass(frozen=True)
class Coverage(MeasuredRows):
    """What `debandit study coverage` found."""

    command: ClassVar[str] = "coverage"
    explanation: ClassVar[str] = (
        "Coverage of the nominal 95 % intervals, arm by arm: mean over the arms, the worst arm, the share of arms "
        "below 93 %, how many of them by more than two binomial standard errors, and the share between 93 and 97 %. "
        "Width: an arm's mean width divided by that of a plain moderated t (n + 1 degrees of freedom, here "
        f"`{YARDSTICK}`), averaged over the arms; cases without an upper limit are left out of it. Experiments in "
        "which an arm has no such interval (never pulled, or no variation in any arm) are left out of that arm's "
        "coverage; Wald is counted from two pulls on, and as a miss where an arm's rewards do not vary. "
        f"{EXPLANATION}"
    )

    remark: ClassVar[str] = "For 0/1 rewards Thompson sampling is the Beta kind, without initial pulls."

    def arms(self, method: str, *families: str, rule: str = "") -> Arms:
        """The arms of some families, under all rules or those of a kind."""
        coverage: list[tuple[float, float]] = []
        widths: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
        for row in self.rows:
            of_rule = row["rule"].partition("(")[0].removeprefix("beta_")
            if row["method"] == method and family_of(row["world"]) in families and rule in ("", of_rule):
                if row["quantity"] == "coverage" and row["at"] is None:
                    coverage.append((row["value"], row["se"]))
                elif row["quantity"] != "coverage":
                    widths[row["setting"], row["arm"]][row["quantity"]] = row["value"]
        values = np.array(coverage).reshape(-1, 2)
        return Arms(
            values[:, 0], values[:, 1], np.array([each["width"] / each["plain_width"] for each in widths.values()])
        )

    def tables(self) -> Iterator[Table]:
        """Tables by family, by rule, and by number of pulls."""
        for title, first, groups in (
            ("By family", "rewards", self._by_family()),
            ("By rule", "rule and rewards", self._by_rule()),
        ):
            rows = [{"group": group, "intervals": method, **arms.summary()} for group, method, arms in groups]
            yield Table(title, rows, [Column("group", first, "text"), *COLUMNS])
        rows = [{"group": group, "intervals": method, **arms.summary()} for group, method, arms in self._compared()]
        yield Table("Differences, lift and the winner", rows, [Column("group", "rewards", "text"), *COLUMNS[:-1]])
        columns = [Column("group", "rewards", "text"), Column("intervals", "interval", "text")]
        columns += [Column(name, f"{name} ± s.e.", "text") for name in _PULLS]
        yield Table("Mean coverage by number of pulls", list(self._by_pulls()), columns)

    def averages(self) -> Iterator[Row]:
        """Mean coverage, and the share of the arms that are covered too seldom."""
        for group, method, arms in self._by_family():
            yield average_row("By rewards", group, method, "coverage", arms.mean())
            yield average_row("By rewards", group, method, "low_share", arms.low())

    def _by_family(self) -> Iterator[tuple[str, str, Arms]]:
        yield from self._groups("the four continuous families", CONTINUOUS)
        for family in FAMILIES:
            yield from self._groups(family, (family,))

    def _compared(self) -> Iterator[tuple[str, str, Arms]]:
        yield from self._groups("the four continuous families", CONTINUOUS, methods=COMPARISONS)
        for family in FAMILIES:
            yield from self._groups(family, (family,), methods=COMPARISONS)

    def _by_rule(self) -> Iterator[tuple[str, str, Arms]]:
        for rule in RULES:
            yield from self._groups(f"{rule}, continuous", CONTINUOUS, rule)
            for family in FAMILIES[len(CONTINUOUS) :]:
                yield from self._groups(f"{rule}, {family}", (family,), rule)

    def _groups(
        self, name: str, families: tuple[str, ...], rule: str = "", methods: Iterable[str] = tuple(LIMITS)
    ) -> Iterator[tuple[str, str, Arms]]:
        for method in methods:
            arms = self.arms(method, *families, rule=rule)
            if len(arms.values):
                yield name, method, arms

    def _by_pulls(self) -> Iterator[Row]:
        cells: dict[tuple[str, str], dict[float, list[tuple[float, int]]]] = defaultdict(lambda: defaultdict(list))
        for row in self.rows:
            if row["quantity"] == "coverage" and row["at"] is not None:
                cells[family_of(row["world"]), row["method"]][row["at"]].append((row["value"], row["n"]))
        for (family, method), found in cells.items():
            shown = {name: _pooled(found[first]) for name, first in _PULLS.items()}
            yield {"group": family, "intervals": method, **shown}


def _pooled(shares: list[tuple[float, int]]) -> str:
    """The share among all, with its error."""
    n = sum(count for _, count in shares)
    share = sum(value * count for value, count in shares) / max(n, 1)
    return str(Average(share, binomial_se(share, n))) if n else "–"


@dataclass(frozen=True)
class CoverageStudy(Study):
    """A study whose rows are shown as `Coverage`."""

    found: ClassVar[type[StudyRows]] = Coverage


def coverage_study(*, settings: int = 25, experiments: int = 2000, seed: int = 0) -> CoverageStudy:
    """Simulate `experiments` in each of `settings` random settings of every family, with every interval."""
    drawn = population(FAMILIES, checked_whole("settings", settings, 1, 10**6), checked_seed(seed))
    cells = (Cell(*setting, _intervals(family_of(str(setting.world))), experiments) for setting in drawn)
    return CoverageStudy("Coverage of the intervals", tuple(cells), seed, figure="coverage")


def _intervals(family: str) -> tuple[str, ...]:
    return (*(method for method in LIMITS if SPECIAL.get(method, family) == family), *comparisons(family))


def coverage_of_sums(*, settings: int, experiments: int, seed: int) -> dict[str, Arms]:
    """The coverage of pooled-t by family where only pulls, means and variances are known: skewness 0, kurtosis 3."""
    found: dict[str, list[Arms]] = defaultdict(list)
    for family in FAMILIES[:-1]:
        for i, setting in enumerate(population((family,), settings, seed)):
            runs = simulate(*setting[1:3], horizon=setting.horizon, runs=experiments, seed=seed + i, paths=True)
            sample, truths = Sample(*runs.paths(), setting.world.arm_count), setting.world.means
            low, high, *_ = pooled_t(Sums(sample.pulls, sample.means, sample.squares), LEVEL)
            plain_low, plain_high = LIMITS[YARDSTICK](sample)
            counts = (~np.isnan(low)).sum(axis=0)
            shares = ((low <= truths) & (truths <= high)).sum(axis=0) / counts
            errors = np.array([binomial_se(share, int(n)) for share, n in zip(shares, counts, strict=True)])
            widths = np.nanmean(high - low, axis=0) / np.nanmean(plain_high - plain_low, axis=0)
            found[family].append(Arms(shares, errors, widths))
    alike = {"the four continuous families": [arms for family in CONTINUOUS for arms in found[family]], **found}
    return {
        name: Arms(*(np.concatenate([getattr(each, part) for each in arms]) for part in ("values", "errors", "widths")))
        for name, arms in alike.items()
    }


def exact_minimum(
    policy: Policy | str, horizon: int, grid: Sequence[float] = GRID
) -> dict[str, tuple[float, float, float]]:
    """The lowest coverage of an arm by the binary and by the Wald interval, with its p and that of the other arm.

    By enumeration over all pairs of probabilities from the grid, of two Bernoulli arms, given that the arm was pulled.
    """
    pulls, wins = np.meshgrid(np.arange(horizon + 1.0), np.arange(horizon + 1.0), indexing="ij")
    wins = np.minimum(wins, pulls)  # more never happen
    means = wins / np.maximum(pulls, 1)
    limits = {
        "binary": binary(pulls, wins, LEVEL),
        "wald": wald(pulls, means, pulls * means * (1 - means), LEVEL),
    }
    worst = dict.fromkeys(limits, (2.0, 0.0, 0.0))
    for truths in itertools.product(grid, repeat=2):
        chances = exact_counts(policy, truths[0], truths[1], horizon)[:, 1:]
        for arm, method in itertools.product(range(2), limits):
            low, high = (limit[1:] for limit in limits[method])
            covered = chances[arm][(low <= truths[arm]) & (truths[arm] <= high)].sum()
            found = (float(covered / chances[arm].sum()), truths[arm], truths[1 - arm])
            worst[method] = min(worst[method], found)
    return worst
