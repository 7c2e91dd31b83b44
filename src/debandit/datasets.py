"""Real adaptive experiments, with their logs, rules and sources; docs/datasets.md works through them."""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from debandit.checks import did_you_mean
from debandit.errors import InputError, shorten
from debandit.files import write_new
from debandit.log import ExperimentLog
from debandit.policies import BetaThompson, PlayTheWinner, Policy, TSPostDiff, Uniform
from debandit.readers import read_log


@dataclass(frozen=True, eq=False)
class Dataset:
    """An experiment, and the rule that is said to have made it."""

    name: str
    description: str
    source: str
    log: ExperimentLog
    policy: Policy
    csv: str = ""  # the rounds as a file; empty if only counts are known
    columns: tuple[str, str] = ("", "")  # of the arms and of the rewards in that file

    def save(self, path: str | Path) -> None:
        """Write the rounds as a CSV file; never over another file."""
        if not self.csv:
            raise InputError(
                f"of {self.name} only counts are known, and a CSV file has the rounds",
                remedy=f"In Python: debandit.datasets.{self.name}.log",
            )
        write_new(path, self.csv)

    def __str__(self) -> str:
        lines = [f"{self.description} Rule: {self.policy}.", f"Source: {self.source}"]
        if self.csv:
            arm, reward = self.columns
            lines += [
                f"debandit datasets {self.name} --save {self.name}.csv",
                f"debandit check {self.name}.csv --arm {arm} --reward {reward} --policy {self.policy.name}",
            ]
        else:
            lines += [f"Only counts are known; in Python: debandit.datasets.{self.name}.log"]
        return "\n".join(lines)


def _ecmo() -> Dataset:
    with as_file(files("debandit") / "data" / "ecmo.csv") as path:
        columns = "treatment", "survived"
        return Dataset(
            "ecmo",
            "Twelve newborns with respiratory failure, by a randomised play-the-winner urn: 11 got ECMO.",
            "R. H. Bartlett et al., Extracorporeal circulation in neonatal respiratory failure: a prospective "
            "randomized study, Pediatrics 76 (1985), 479-487.",
            read_log(path, arm=columns[0], reward=columns[1]),
            PlayTheWinner(balls=1.0, added=1.0),
            path.read_text(encoding="utf-8"),
            columns,
        )


def _classroom(name: str, policy: Policy, first: tuple[int, int], second: tuple[int, int]) -> Dataset:
    """A classroom experiment, from successes and pulls of its two arms."""
    pulls, rates = [first[1], second[1]], [first[0] / first[1], second[0] / second[1]]
    return Dataset(
        f"classroom_{name}",
        f"A classroom experiment of 2021 with three rules side by side; the {sum(pulls)} rounds of {policy.name}.",
        "successes and pulls of each arm as reported; that the priors were Beta(1, 1), without burn-in and without "
        "batches, is assumed.",
        ExperimentLog.from_summaries(["1", "2"], pulls, rates, binary=True),
        policy,
    )


ecmo = _ecmo()
classroom_uniform = _classroom("uniform", Uniform(), (59, 264), (59, 292))
classroom_thompson = _classroom("thompson", BetaThompson(), (63, 257), (53, 251))
classroom_postdiff = _classroom("postdiff", TSPostDiff(c=0.004), (49, 272), (68, 238))

ALL = {each.name: each for each in (ecmo, classroom_uniform, classroom_thompson, classroom_postdiff)}


def find(name: str) -> Dataset:
    """The dataset of this name."""
    if name not in ALL:
        remedy = f"{did_you_mean(name, list(ALL))} There are: {', '.join(ALL)}".strip()
        raise InputError(f"there is no dataset {shorten(name)!r}", remedy=remedy)
    return ALL[name]
