"""How far off corrected and quoted means are, over a random population of settings: bias that is left, and error."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np

from debandit.checks import checked_seed, checked_whole
from debandit.engine.data import Floats
from debandit.policies import ThompsonSampling
from debandit.study.cell import Cell
from debandit.study.measured import Average, MeasuredRows, Table, average_row
from debandit.study.placed import CORRECTED, GROUPS, QUOTED, VALUES, Placed, placed
from debandit.study.plan import Study
from debandit.study.population import BETA, CONTINUOUS, RULES, Setting, family_of, population
from debandit.study.rows import StudyRows, range_of
from debandit.tables import Column, Row

NAIVE, MB, DEFAULT = METHODS = ("naive", "gaussian", CORRECTED)
ENOUGH = 10  # settings that a z needs
FIVE = (*CONTINUOUS, "shifted zero-inflated")
FAMILIES = (*FIVE, "zero-inflated", "long-lognormal", "binary")
ARMS = (2, 3, 5, 8)
OVERALL = "first five families"
KINDS = {"rewards on a scale": FIVE, "0/1 rewards": ("binary",)}  # of settings in the table by place
_COLUMNS = (
    Column("settings", "settings", "count"),
    Column("index_naive", "bias index: naive", "text"),
    Column("index_gaussian", "MB", "text"),
    Column("index_auto", "default", "text"),
    Column("difference", "default - MB", "text"),
    Column("z", "z", "score"),
    Column("less_bias", "less bias in", "share"),
    Column("mb_to_naive", "RMSE: MB/naive", "text"),
    Column("to_naive", "default/naive (largest)", "text"),
    Column("to_mb", "default/MB", "text"),
)
_BY_PLACE = (
    Column("rewards", "rewards", "text"),
    Column("group", "arms", "text"),
    Column("settings", "settings", "count"),
    *(
        Column(f"off_{value}", f"{before}{name}", "text")
        for before, value, name in (
            ("off: ", NAIVE, "naive"),
            ("", DEFAULT, "corrected"),
            ("", QUOTED, "quoted"),
        )
    ),
    Column(f"rmse_{DEFAULT}", "RMSE: corrected/naive", "text"),
    Column(f"rmse_{QUOTED}", "quoted/naive", "text"),
)


@dataclass(frozen=True)
class Score:
    """What came out of one setting, by method."""

    family: str
    rule: str
    arms: int
    index: Mapping[str, float]  # mean over arms of |bias| / RMSE of the naive mean
    by_chance: Mapping[str, float]  # the index that an unbiased estimate with this error would be expected to show
    rmse: Mapping[tuple[str, str], float]  # mean over arms of RMSE / RMSE, of a method and of what it is compared with


def score(rows: Sequence[Row]) -> Score:
    """The score of one setting, from its rows."""
    found: dict[tuple[str, str], dict[int, tuple[float, float]]] = defaultdict(dict)
    for row in rows:
        found[row["method"], row["quantity"]][row["arm"]] = row["value"], row["se"]
    bias, error, squared = {}, {}, {}
    for method in METHODS:
        bias[method], error[method] = np.array(list(found[method, "bias"].values())).T
        squared[method] = np.array(list(found[method, "mse"].values())).T[0]
    return Score(
        family_of(rows[0]["world"]),
        rows[0]["rule"].partition("(")[0],
        len(bias[NAIVE]),
        {method: bias_index(bias[method], squared[NAIVE]) for method in METHODS},
        {method: math.sqrt(2 / math.pi) * bias_index(error[method], squared[NAIVE]) for method in METHODS},
        {(one, two): rmse_ratio(squared[one], squared[two]) for one, two in product(METHODS, repeat=2)},
    )


def bias_index(bias: Floats, naive_mse: Floats) -> float:
    """The mean over arms of |bias| / RMSE of the naive mean."""
    return float((np.abs(bias) / np.sqrt(naive_mse)).mean())


def rmse_ratio(mse: Floats, other_mse: Floats) -> float:
    """The mean over arms of the ratio of the RMSEs."""
    return float(np.sqrt(mse / other_mse).mean())


@dataclass(frozen=True)
class Group:
    """Settings of a kind, and what is said of them on average; standard errors are those of a sample of settings."""

    scores: Sequence[Score]

    def index(self, method: str) -> Average:
        """The average bias index of a method."""
        return Average.of(each.index[method] for each in self.scores)

    def difference(self) -> Average:
        """The bias index of the default minus that of MB, averaged over the settings."""
        return Average.of(each.index[DEFAULT] - each.index[MB] for each in self.scores)

    def rmse(self, method: str, other: str) -> Average:
        """The average ratio of a method's RMSE to another's."""
        return Average.of(each.rmse[method, other] for each in self.scores)

    def row(self) -> Row:
        """The group as a line of a table."""
        difference = self.difference()
        return {
            "settings": len(self.scores),
            **{f"index_{method}": str(self.index(method)) for method in METHODS},
            "difference": str(difference),
            "z": difference.value / difference.se if len(self.scores) >= ENOUGH else None,
            "less_bias": np.mean([each.index[DEFAULT] < each.index[MB] for each in self.scores]),
            "mb_to_naive": str(self.rmse(MB, NAIVE)),
            "to_naive": f"{self.rmse(DEFAULT, NAIVE)} ({max(each.rmse[DEFAULT, NAIVE] for each in self.scores):.3f})",
            "to_mb": str(self.rmse(DEFAULT, MB)),
        }


@dataclass(frozen=True)
class Accuracy(MeasuredRows):
    """What `debandit study accuracy` found."""

    command: ClassVar[str] = "accuracy"
    explanation: ClassVar[str] = (
        "All methods correct the same experiments. Bias index: the mean over arms of |mean of the estimates - "
        "truth| / RMSE of the naive mean. RMSE: the mean over arms of the ratio of the two RMSEs. All are averages "
        "over settings (largest: of one setting), ± the standard error of an average over this many random settings; "
        f"z = difference / standard error, where there are {ENOUGH} settings. Less bias in: the share of the "
        "settings where the default's index is below MB's. MB: the paper's multiplier bootstrap (`--world "
        "gaussian`); default: `--world auto`. By rule: the first five families, if nothing else is said. By place: off "
        "is |mean error| / RMSE of the naive mean, both over all such arms of all experiments; a fixed arm's are the "
        "bias index and the RMSE above. Corrected is the default, and quoted is corrected given the arm's place."
    )
    remark: ClassVar[str] = (
        "Thompson sampling is the normal kind also for 0/1 rewards: MB's worlds have normal rewards, on which the Beta "
        "kind cannot run. By place the same settings with the Beta kind are measured, too."
    )

    @cached_property
    def scores(self) -> list[Score]:
        """The score of every setting in which all methods ran."""
        return [score(rows) for rows in self._settings(METHODS)]

    @cached_property
    def by_place(self) -> list[tuple[str, Placed]]:
        """The errors of every setting by place, with its family."""
        return [(family_of(rows[0]["world"]), placed(rows)) for rows in self._settings(VALUES)]

    def _settings(self, methods: Sequence[str]) -> list[list[Row]]:
        """The rows of each setting that has these methods."""
        settings: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            settings[row["setting"]].append(row)
        return [rows for rows in settings.values() if {row["method"] for row in rows} >= set(methods)]

    def group(self, *families: str, rule: str = "", arms: int = 0) -> Group:
        """The settings of some families, of all or one rule and number of arms."""
        return Group(
            [
                each
                for each in self.scores
                if each.family in families and rule in ("", each.rule) and arms in (0, each.arms)
            ]
        )

    def options(self) -> dict[str, str]:
        """Those of the command line; Beta Thompson sampling comes on top of the settings of a family."""
        return super().options() | {"settings": range_of(Counter(each.family for each in self.scores).values())}

    def what_was_done(self) -> str:
        """What was done, and how large the index is without any bias: a mean error is never exactly 0."""
        by_chance = Average.of(each.by_chance[DEFAULT] for each in self.scores).value
        return f"{super().what_was_done()} An estimate without bias would show an index of {by_chance:.3f}, by chance."

    def tables(self) -> Iterator[Table]:
        """Tables by family, by rule, and by family with rule or number of arms."""
        for title, groups in self.groupings():
            rows = [{"group": name, **group.row()} for name, group in groups.items() if group.scores]
            yield Table(title, rows, [Column("group", title.removeprefix("By ").lower(), "text"), *_COLUMNS])
        rows = [
            {"rewards": kind, "group": group, "settings": len(found)}
            | {f"off_{value}": str(Average.of(each.off[group, value] for each in found)) for value in VALUES}
            | {f"rmse_{value}": str(Average.of(each.rmse[group, value] for each in found)) for value in VALUES}
            for kind, found in self._kinds()
            for group in GROUPS
        ]
        yield Table("By place", rows, _BY_PLACE)

    def _kinds(self) -> Iterator[tuple[str, list[Placed]]]:
        for kind, families in KINDS.items():
            found = [each for family, each in self.by_place if family in families]
            if found:
                yield kind, found

    def averages(self) -> Iterator[Row]:
        """Bias index and RMSE of families and rules, and of arms by their place."""
        for title, groups in list(self.groupings())[:2]:
            for (name, group), method in product(groups.items(), METHODS):
                if group.scores:
                    yield average_row(title, name, method, "bias_index", group.index(method))
                    yield average_row(title, name, method, "rmse_ratio", group.rmse(method, NAIVE))
        for (kind, found), name, method in product(self._kinds(), GROUPS, VALUES):
            title = f"By place, {kind}"
            yield average_row(title, name, method, "bias_index", Average.of(each.off[name, method] for each in found))
            yield average_row(title, name, method, "rmse_ratio", Average.of(each.rmse[name, method] for each in found))

    def groupings(self) -> Iterator[tuple[str, dict[str, Group]]]:
        """The groups of each table."""
        yield "By rewards", {OVERALL: self.group(*FIVE)} | {family: self.group(family) for family in FAMILIES}
        rules = {rule: self.group(*FIVE, rule=rule) for rule in RULES}
        yield "By rule", rules | {f"{rule}, binary": self.group("binary", rule=rule) for rule in RULES}
        pairs = product(FAMILIES, RULES)
        yield "By rewards and rule", {f"{family}, {rule}": self.group(family, rule=rule) for family, rule in pairs}
        cells = product(FAMILIES, ARMS)
        yield "By rewards and arms", {f"{family}, {arms} arms": self.group(family, arms=arms) for family, arms in cells}


@dataclass(frozen=True)
class AccuracyStudy(Study):
    """A study whose rows are shown as `Accuracy`."""

    found: ClassVar[type[StudyRows]] = Accuracy


def accuracy_study(
    *,
    settings: int = 40,
    experiments: int = 1000,
    runs: int = 200,
    seed: int = 0,
    families: Sequence[str] = FAMILIES,
) -> AccuracyStudy:
    """Correct `experiments` in each of `settings` random settings of every family, by the default and by MB."""
    settings = checked_whole("settings", settings, 1, 10**6)
    drawn = population(families, settings, checked_seed(seed), binary_thompson=ThompsonSampling(initial_pulls=1))
    cells = [Cell(*setting, (*METHODS, QUOTED), experiments, runs) for setting in drawn]
    if "binary" in families:  # an arm may go without a pull: without one it has no rewards, but a world in the runs
        cells += [Cell(*setting, VALUES, experiments, runs, unseen=(0.5, 0.5)) for setting in _beta(settings, seed)]
    return AccuracyStudy("Accuracy of the corrected means", tuple(cells), seed, figure="accuracy")


def _beta(settings: int, seed: int) -> Iterator[Setting]:
    """The settings with 0/1 rewards of which Thompson sampling has its turn, under another name."""
    for setting in population(("binary",), settings, seed, binary_thompson=BETA):
        if setting.policy == BETA:
            yield setting._replace(label=f"{setting.label}, Beta Thompson sampling")
