"""How much bias the default correction leaves, and what it does to the error, over a random population of settings."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar

from debandit.checks import checked_seed, checked_whole
from debandit.policies import ThompsonSampling
from debandit.study.cell import Cell
from debandit.study.measured import Average, MeasuredRows, Table, average_row
from debandit.study.plan import Study
from debandit.study.population import CONTINUOUS, RULES, population
from debandit.study.rows import StudyRows
from debandit.study.scores import DEFAULT, ENOUGH, METHODS, NAIVE, Group, Score, score
from debandit.tables import Column, Row

FIVE = (*CONTINUOUS, "shifted zero-inflated")
FAMILIES = (*FIVE, "zero-inflated", "long-lognormal", "binary")
ARMS = (2, 3, 5, 8)
OVERALL = "first five families"
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


@dataclass(frozen=True)
class Accuracy(MeasuredRows):
    """What `debandit study accuracy` found."""

    command: ClassVar[str] = "accuracy"
    explanation: ClassVar[str] = (
        "All methods correct the same experiments. Bias index: the mean over arms of |mean of the estimates - "
        "truth| / RMSE of the naive mean. RMSE: the mean over arms of the ratio of the two RMSEs. All are averages "
        "over settings (largest: of one setting), ± the standard error of an average over so many random settings; "
        f"z = difference / standard error, where there are {ENOUGH} settings. Less bias in: the share of the "
        "settings where the default's index is below MB's. MB: the paper's multiplier bootstrap (`--world "
        "gaussian`); default: `--world auto`. By rule: the first five families, if nothing else is said."
    )
    remark: ClassVar[str] = (
        "Thompson sampling is the normal kind also for 0/1 rewards: MB's worlds have normal rewards, on which the Beta "
        "kind cannot run."
    )

    @cached_property
    def scores(self) -> list[Score]:
        """Setting by setting."""
        settings: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            if row["quantity"] in ("bias", "mse"):
                settings[row["setting"]].append(row)
        return [score(rows) for rows in settings.values()]

    def group(self, *families: str, rule: str = "", arms: int = 0) -> Group:
        """The settings of some families, of all or one rule and number of arms."""
        return Group(
            [
                each
                for each in self.scores
                if each.family in families and rule in ("", each.rule) and arms in (0, each.arms)
            ]
        )

    def what_was_done(self) -> str:
        """And how large the index is without any bias, since a mean error is known up to its standard error only."""
        by_chance = Average.of(each.by_chance[DEFAULT] for each in self.scores).value
        return f"{super().what_was_done()} An estimate without bias would show an index of {by_chance:.3f}, by chance."

    def tables(self) -> Iterator[Table]:
        """By family, by rule, and by family with rule or number of arms."""
        for title, groups in self.groupings():
            rows = [{"group": name, **group.row()} for name, group in groups.items() if group.scores]
            yield Table(title, rows, [Column("group", title.removeprefix("By ").lower(), "text"), *_COLUMNS])

    def averages(self) -> Iterator[Row]:
        """Bias index and RMSE of families and rules."""
        for title, groups in list(self.groupings())[:2]:
            for (name, group), method in product(groups.items(), METHODS):
                if group.scores:
                    yield average_row(title, name, method, "bias_index", group.index(method))
                    yield average_row(title, name, method, "rmse_ratio", group.rmse(method, NAIVE))

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
    """Whose rows are shown as `Accuracy`."""

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
    cells = tuple(Cell(*setting, METHODS, experiments, runs) for setting in drawn)
    return AccuracyStudy("Accuracy of the corrected means", cells, seed, figure="accuracy")
