"""How often limits and tests are right, and how wide the intervals are, over a random population of experiments."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from debandit.checks import checked_choice, checked_seed, checked_whole
from debandit.errors import InputError
from debandit.intervals import Sample, Sums, pooled_t
from debandit.simulation import simulate
from debandit.study.cell import Cell
from debandit.study.comparisons import (
    ADJUSTED,
    ARM_MEAN,
    BEST,
    DIFFERENCE,
    EXPLANATION,
    INTERVALS,
    LEVEL,
    LEVELS,
    LIFT,
    MEAN,
    TEST,
    WEIGHTED_BY_PERIODS,
    Asked,
    comparisons,
)
from debandit.study.measured import Average, MeasuredRows, Table, average_row
from debandit.study.methods import LIMITS, PULLS, YARDSTICK, binomial_se
from debandit.study.plan import Study
from debandit.study.population import (
    CONTINUOUS,
    DESCRIPTION,
    EQUAL,
    LONG,
    OTHER_SCALES,
    RULES,
    SMALL,
    WEB,
    Scale,
    Setting,
    Web,
    family_of,
    population,
    web,
)
from debandit.study.printed import INSIDE, KINDS, OPTIONS, printed_methods
from debandit.study.rows import StudyRows
from debandit.study.shares import Arms, bounds, columns_of
from debandit.tables import Column, Row
from debandit.worlds import Drifting

FAMILIES = (*CONTINUOUS, "long-lognormal", "zero-inflated", "binary")
SPECIAL = {"binary": "binary", "two-part": "zero-inflated"}  # intervals for the rewards of one family
SCALES: dict[str, Scale | Web] = {"small": SMALL, "long": LONG, "equal": EQUAL, **WEB}
# what is measured of what `debias` says on the web, where runs take long
MEASURED = {
    "web": (ARM_MEAN, DIFFERENCE, LIFT, MEAN),
    "web-equal": (TEST,),
    "web-ucb": (ARM_MEAN, DIFFERENCE, LIFT, MEAN, TEST),
    "web-drift": (ARM_MEAN, DIFFERENCE),
}
REWARDS = {"on a scale": CONTINUOUS, "with many zeros": ("zero-inflated",), "0/1": ("binary",)}
# what limits are for, in words, and the textbook's
QUANTITIES = {
    ARM_MEAN: ("mean of an arm", "wald"),
    DIFFERENCE: ("difference to the first arm", "welch"),
    BEST: ("best minus second", "welch"),
    LIFT: ("lift over the first arm", ""),
    MEAN: ("mean of the best-looking arm", ""),
}
TEXTBOOK = ("wald", "welch")
_PULLS = dict(zip(("1", "2", "3-5", "6-10", "> 10"), PULLS, strict=True))


@dataclass(frozen=True)
class Coverage(MeasuredRows):
    """What `debandit study coverage` found."""

    study: "CoverageStudy"
    command: ClassVar[str] = "coverage"
    explanation: ClassVar[str] = (
        "Coverage of the intervals, arm by arm: mean over the arms, the worst arm, the share of arms that are covered "
        "too seldom (the error is more than 1.4 times what the level allows: below 93 % at 95 %), how many of them by "
        "more than two binomial standard errors, and the share about right (the error is 0.6 to 1.4 times that). "
        "Width: an arm's mean width divided by that of a plain moderated t (n + 1 degrees of freedom, here "
        f"`{YARDSTICK}`), of a simulated interval by that in closed form, averaged over the arms; cases without an "
        "upper limit are left out of it. Experiments in which an arm has no such interval (never pulled, or no "
        "variation in any arm) are left out of that arm's coverage; Wald is counted from two pulls on, and as a miss "
        f"where an arm's rewards do not vary. {EXPLANATION}"
    )

    remark: ClassVar[str] = "For 0/1 rewards Thompson sampling is the Beta kind, without initial pulls."

    @cached_property
    def methods(self) -> dict[str, Asked]:
        """The methods that there are rows of."""
        names = dict.fromkeys(row["method"] for row in self.rows)
        return {name: Asked(ARM_MEAN, name) if name in LIMITS else Asked.of(name) for name in names}

    @property
    def level(self) -> float:
        """The level of all intervals."""
        return self.study.level

    @property
    def settings(self) -> str:
        """What the settings are like."""
        other = OTHER_SCALES.get(self.study.scale, "")
        return other if self.study.scale in WEB else f"{DESCRIPTION} {self.remark} {other}".rstrip()

    def options(self) -> dict[str, str]:
        """Those of the command line that make this study."""
        scale, level = self.study.scale, self.level
        chosen = {"population": "" if scale == "small" else scale, "level": "" if level == LEVEL else f"{level:g}"}
        if scale in WEB:  # nothing is corrected there
            chosen["runs"] = ""
        return super().options() | chosen | {"interval": self.study.interval}

    @cached_property
    def _found(self) -> dict[str, dict[tuple[str, str], list[Row]]]:
        """The rows of each method, by family and rule."""
        found: dict[str, dict[tuple[str, str], list[Row]]] = defaultdict(lambda: defaultdict(list))
        for row in self.rows:
            if row["at"] is None:
                rule = row["rule"].partition("(")[0].removeprefix("beta_")
                found[row["method"]][family_of(row["world"]), rule].append(row)
        return found

    def arms(self, method: str, *families: str, rule: str = "", quantity: str = "coverage") -> Arms:
        """The arms of some families, under all rules or those of a kind."""
        shares: list[tuple[float, float]] = []
        widths: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
        for (family, of_rule), rows in self._found.get(method, {}).items():
            for row in rows if family in families and rule in ("", of_rule) else ():
                if row["quantity"] == quantity:
                    shares.append((row["value"], row["se"]))
                elif row["quantity"].endswith("width") and not method.startswith(LIFT):  # some are astronomic
                    widths[row["setting"], row["arm"]][row["quantity"]] = row["value"]
        values = np.array(shares).reshape(-1, 2)
        relative = [each["width"] / each["plain_width"] for each in widths.values()]
        return Arms(values[:, 0], values[:, 1], np.array(relative), self.level)

    def tables(self) -> Iterator[Table]:
        """The short table, and those by family, by rule, of comparisons, of tests and by number of pulls."""
        columns = columns_of(self.level)
        yield self.in_short()
        of_arms = [name for name, asked in self.methods.items() if asked.kind == ARM_MEAN]
        inside = [name for name, asked in self.methods.items() if asked.kind in INSIDE]
        compared = [name for name, asked in self.methods.items() if asked.kind not in (ARM_MEAN, TEST, *INSIDE)]
        for title, first, groups in (
            ("By family", "rewards", self._by_family(of_arms)),
            ("By rule", "rule and rewards", self._by_rule(of_arms)),
            ("Differences, lift and the winner", "rewards", self._by_family(compared)),
            ("Differences, lift and the winner by rule", "rule and rewards", self._by_rule(compared)),
            ("Quoted and corrected means inside the interval", "rewards", self._by_family(inside)),
        ):
            rows = [{"group": group, "intervals": method, **arms.summary()} for group, method, arms in groups]
            if rows:
                yield Table(title, rows, [Column("group", first, "text"), *columns])
        if (tests := self._tests()).rows:
            yield tests
        if by_pulls := list(self._by_pulls()):
            shown = [Column("group", "rewards", "text"), Column("intervals", "interval", "text")]
            shown += [Column(name, f"{name} ± s.e.", "text") for name in _PULLS]
            yield Table("Mean coverage by number of pulls", by_pulls, shown)

    def in_short(self) -> Table:
        """What is covered how often, for which rewards: our intervals, and the mean of the textbook's."""
        least = 100 * bounds(self.level)[0]
        rows = [
            {
                "of": QUANTITIES[asked.kind][0],
                "rewards": rewards,
                "intervals": asked.interval,
                "mean": arms.mean().value,
                "worst": arms.summary()["worst"],
                "low": arms.low().value,
                "textbook": textbook.mean().value if len(textbook.values) else None,
            }
            for rewards, asked, arms, textbook in self._in_short()
        ]
        columns = (
            Column("of", f"{100 * self.level:g} % intervals for", "text"),
            Column("rewards", "rewards", "text"),
            Column("intervals", "interval", "text"),
            Column("mean", "cover the truth in", "share"),
            Column("worst", "worst case", "share"),
            Column("low", f"cases below {least:g} %", "share"),
            Column("textbook", "textbook's", "share"),
        )
        return Table("In short", rows, columns)

    def _in_short(self) -> Iterator[tuple[str, Asked, Arms, Arms]]:
        for kind, (_, usual) in QUANTITIES.items():
            for rewards, families in REWARDS.items():
                textbook = self.arms_of(kind, usual, *families)
                for interval in (INTERVALS.get(families[0], "pooled-t"), *OPTIONS, ADJUSTED):
                    arms = self.arms_of(kind, interval, *families)
                    if len(arms.values):
                        yield rewards, Asked(kind, interval), arms, textbook

    def arms_of(self, kind: str, interval: str, *families: str) -> Arms:
        """How often such limits cover what they are for, at the study's level."""
        plain = kind == ARM_MEAN and interval in self.methods
        return self.arms(interval if plain else str(Asked(kind, interval, self.level)), *families)

    def averages(self) -> Iterator[Row]:
        """Mean coverage, and the share of the cases that are covered too seldom."""
        points = {}
        for rewards, asked, ours, textbook in self._in_short():
            name = asked.interval if asked.interval in (*OPTIONS, ADJUSTED) else "in closed form"
            points[rewards, asked.kind, name] = ours
            points[rewards, asked.kind, "the textbook's"] = textbook
        for (rewards, kind, method), arms in points.items():
            if len(arms.values):
                block, group = f"Rewards {rewards}", QUANTITIES[kind][0]
                yield average_row(block, group, method, "coverage", arms.mean())
                yield average_row(block, group, method, "low_share", arms.low())

    def _by_family(self, methods: Sequence[str]) -> Iterator[tuple[str, str, Arms]]:
        yield from self._groups("the four continuous families", CONTINUOUS, methods)
        for family in FAMILIES:
            yield from self._groups(family, (family,), methods)

    def _by_rule(self, methods: Sequence[str]) -> Iterator[tuple[str, str, Arms]]:
        for rule in RULES:
            yield from self._groups(f"{rule}, continuous", CONTINUOUS, methods, rule)
            for family in FAMILIES[len(CONTINUOUS) :]:
                yield from self._groups(f"{rule}, {family}", (family,), methods, rule)

    def _groups(
        self, name: str, families: tuple[str, ...], methods: Sequence[str], rule: str = "", quantity: str = "coverage"
    ) -> Iterator[tuple[str, str, Arms]]:
        for method in methods:
            arms = self.arms(method, *families, rule=rule, quantity=quantity)
            if len(arms.values):
                yield name, method, arms

    def _tests(self) -> Table:
        """How often a difference is found at 5 %, by rule: wrongly where there is none, rightly where there is one."""
        tests, rows = [name for name, asked in self.methods.items() if asked.kind == TEST], []
        for quantity, finds in (("type_1", "that is not there"), ("power", "that is there")):
            for rule in ("", *RULES):
                for rewards, families in REWARDS.items():
                    name = f"{rule or 'all rules'}, {rewards}"
                    for _, test, arms in self._groups(name, families, tests, rule, quantity):
                        wrong = quantity == "type_1"
                        rows.append(
                            {
                                **arms.summary(),
                                "group": name,
                                "test": test.partition(": ")[2],
                                "finds": finds,
                                "most": arms.highest().value,
                                "most_se": arms.highest().se,
                                "above": (arms.values - 2 * arms.errors > 0.1).sum() if wrong else None,
                            }
                        )
        columns = (
            Column("group", "rule and rewards", "text"),
            Column("test", "test", "text"),
            Column("finds", "a difference", "text"),
            Column("arms", "pairs", "count"),
            Column("mean", "found in", "number"),
            Column("mean_se", "± s.e.", "number"),
            Column("most", "most", "number"),
            Column("most_se", "± s.e.", "number"),
            Column("above", "above 0.10 by > 2 s.e.", "count"),
        )
        return Table("Tests at 5 %", rows, columns)

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
    scale: str = "small"
    level: float = LEVEL
    interval: str = ""


def coverage_study(
    *,
    settings: int = 25,
    experiments: int = 2000,
    runs: int = 200,
    seed: int = 0,
    scale: str = "small",
    level: float = LEVEL,
    interval: str = "",
) -> CoverageStudy:
    """Simulate `experiments` in each of `settings` random settings of every family, with every interval.

    With an `interval`, auto or simulated, all that `debias` says of each experiment is measured as well: it takes long.
    """
    checked_choice("population", scale, tuple(SCALES))
    if level not in (LEVEL, *LEVELS):
        raise InputError(f"level must be one of {', '.join(map(str, sorted((LEVEL, *LEVELS))))}", where="level")
    if interval:
        checked_choice("interval", interval, OPTIONS)
    drawn = _drawn(scale, checked_whole("settings", settings, 1, 10**6), checked_seed(seed))
    cells = []
    for setting in drawn:
        family = family_of(str(setting.world))
        methods = _intervals(family, level)
        if isinstance(setting.world, Drifting):
            methods += tuple(method for method in WEIGHTED_BY_PERIODS if Asked.of(method).level == level)
        if interval:
            methods += printed_methods(interval, family, level, MEASURED.get(scale, KINDS))
        cells.append(Cell(*setting, methods, experiments, runs))
    return CoverageStudy(
        "Coverage of the intervals", tuple(cells), seed, figure="coverage", scale=scale, level=level, interval=interval
    )


def _drawn(scale: str, settings: int, seed: int) -> Iterator[Setting]:
    drawn_from = SCALES[scale]
    if isinstance(drawn_from, Web):
        return web(settings, seed, drawn_from)
    return population(FAMILIES, settings, seed, scale=drawn_from)


def _intervals(family: str, level: float) -> tuple[str, ...]:
    arms = (method for method in LIMITS if SPECIAL.get(method, family) == family) if level == LEVEL else ()
    return (*arms, *comparisons(family, level))


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
        name: Arms(
            np.concatenate([each.values for each in arms]),
            np.concatenate([each.errors for each in arms]),
            np.concatenate([each.widths for each in arms]),
        )
        for name, arms in alike.items()
    }
