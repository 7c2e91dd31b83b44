"""Real adaptive experiments, with their logs, rules and sources; docs/datasets.md works through them."""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from debandit.checks import did_you_mean
from debandit.errors import InputError, shorten
from debandit.files import write_new
from debandit.log import ExperimentLog
from debandit.policies import Batched, BetaThompson, PlayTheWinner, Policy, Quota, TSPostDiff, Uniform, WarmUp
from debandit.policies.chance_wrappers import exploration_sampling
from debandit.readers import read_log
from debandit.tables import wrapped


@dataclass(frozen=True, eq=False)
class Dataset:
    """A real experiment, and the rule that is said to have made it.

    Attributes
    ----------
    name, description, source : str
        What it is, and where it comes from.
    log : ExperimentLog
        What happened.
    policy : Policy
        The rule.
    csv : str
        The rounds, or the counts of batches, as a file; empty if only counts of the whole are known.
    columns : tuple of (str, str)
        The options that name that file's columns, as ("arm", "treatment").

    Examples
    --------
    >>> import debandit as db
    >>> ecmo = db.datasets.ecmo
    >>> ecmo.log, str(ecmo.policy)
    (ExperimentLog(12 rounds; ECMO: 11, conventional: 1), 'play_the_winner(balls=1.0, added=1.0)')
    >>> db.check(ecmo.log, ecmo.policy).verdict
    'fits'
    """

    name: str
    description: str
    source: str
    log: ExperimentLog
    policy: Policy
    csv: str = ""
    columns: tuple[tuple[str, str], ...] = ()

    def save(self, path: str | Path) -> None:
        """Write the log as a CSV file; never over another file."""
        if not self.csv:
            raise InputError(
                f"only counts of {self.name} are known, and a CSV file needs rounds or batches",
                remedy=f"In Python: debandit.datasets.{self.name}.log",
            )
        write_new(path, self.csv)

    def __str__(self) -> str:
        lines = [wrapped(f"{self.description} Rule: {self.policy}."), wrapped(f"Source: {self.source}")]
        if self.csv:
            options = " ".join(f"--{option} {column}" for option, column in self.columns)
            lines += [
                f"debandit check {self.name}",
                f"debandit datasets {self.name} --save {self.name}.csv",
                f'debandit check {self.name}.csv {options} --policy "{self.policy}"',
            ]
        else:
            lines += [f"debandit check {self.name}", "Only counts are known."]
        return "\n".join(lines)


def _ecmo() -> Dataset:
    with as_file(files("debandit") / "data" / "ecmo.csv") as path:
        columns = (("arm", "treatment"), ("reward", "survived"))
        return Dataset(
            "ecmo",
            "Twelve newborns with respiratory failure, treated by a randomised play-the-winner urn: 11 got ECMO.",
            "R. H. Bartlett et al., Extracorporeal circulation in neonatal respiratory failure: a prospective "
            "randomized study, Pediatrics 76 (1985), 479-487.",
            read_log(path, **dict(columns)),
            PlayTheWinner(balls=1.0, added=1.0),
            path.read_text(encoding="utf-8"),
            columns,
        )


def _pad() -> Dataset:
    with as_file(files("debandit") / "data" / "pad.csv") as path:
        columns = (("batch", "wave"), ("arm", "arm"), ("pulls", "calls"), ("successes", "successes"))
        return Dataset(
            "pad",
            "Six ways to enrol rice farmers by phone: 14 waves of 600 calls, by exploration sampling.",
            "M. Kasy and A. Sautmann, Adaptive treatment assignment in experiments for policy choice, Econometrica 89 "
            "(2021), 113-132.",
            read_log(path, **dict(columns)),
            Quota(WarmUp(Batched(exploration_sampling(draws=50_000)), pulls=100)),
            path.read_text(encoding="utf-8"),
            columns,
        )


def _classroom(name: str, policy: Policy, first: tuple[int, int], second: tuple[int, int]) -> Dataset:
    """A classroom experiment, from successes and pulls of its two arms."""
    pulls, rates = [first[1], second[1]], [first[0] / first[1], second[0] / second[1]]
    return Dataset(
        f"classroom_{name}",
        f"A classroom experiment of 2021 with three rules in parallel: the {sum(pulls)} rounds of {policy.name}.",
        "successes and pulls of each arm as reported. We assume Beta(1, 1) priors, no burn-in and no batches.",
        ExperimentLog.from_summaries(["1", "2"], pulls, rates, binary=True),
        policy,
    )


ecmo = _ecmo()
pad = _pad()
classroom_uniform = _classroom("uniform", Uniform(), (59, 264), (59, 292))
classroom_thompson = _classroom("thompson", BetaThompson(), (63, 257), (53, 251))
classroom_postdiff = _classroom("postdiff", TSPostDiff(c=0.004), (49, 272), (68, 238))

ALL = {each.name: each for each in (ecmo, pad, classroom_uniform, classroom_thompson, classroom_postdiff)}


def find(name: str) -> Dataset:
    """The dataset of this name."""
    if name not in ALL:
        remedy = f"{did_you_mean(name, list(ALL))} There are: {', '.join(ALL)}".strip()
        raise InputError(f"there is no data set {shorten(name)!r}", remedy=remedy)
    return ALL[name]
