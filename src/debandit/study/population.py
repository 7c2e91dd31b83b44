"""A random population of experiments, to measure methods on."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from debandit.engine.data import Floats, WorldData
from debandit.policies import UCB, BetaThompson, EpsilonGreedy, ExploreThenCommit, Policy, ThompsonSampling
from debandit.special import ndtri, stdtrit
from debandit.worlds import Bernoulli, Empirical, Normal, World
from debandit.worlds.laws import Pool

CONTINUOUS = ("normal", "t5", "exponential", "lognormal")
FAMILIES = (*CONTINUOUS, "long-lognormal", "zero-inflated", "binary", "shifted zero-inflated")
RULES = ("etc", "ucb", "thompson", "epsilon_greedy")
BETA = BetaThompson()
DESCRIPTION = (
    "2, 3, 5 or 8 arms, 60, 100 or 300 rounds. Means are equally spaced over 0.2, 0.6 or 1.2 from 0 on, standard "
    "deviations exp(N(0, 0.4^2)). Lognormal has the log-sd 0.5, long-lognormal 1. Zero-inflated: not 0 with "
    "probability 0.2, 0.5 or 0.8, amounts exponential or lognormal (log-sd 0.5), means from 1 on, and scaled only, "
    "so that zeros stay zeros; if shifted, then like all others to the means and standard deviations. Binary: "
    "spreads of 0.1, 0.3 or 0.5, the lowest probability uniform from 0.02 up to 0.98 less the spread. But for "
    "normal and 0/1 rewards a table of 20,000 quantiles, standardised, stands for the law, whose tail ends there; "
    "the truth is the table's own mean. The rules take turns: explore-then-commit with 5 pulls of each arm, UCB, "
    "Thompson sampling with one initial pull of each arm, and epsilon-greedy."
)
_TABLE = 20_000  # quantiles that stand for a law


class Setting(NamedTuple):
    """One kind of experiment."""

    label: str
    policy: Policy
    world: World
    horizon: int


def population(
    families: Sequence[str],
    count: int,
    seed: int,
    *,
    binary_thompson: Policy = BETA,
) -> Iterator[Setting]:
    """`count` random settings of each family, as `DESCRIPTION` says; the rules take turns."""
    for family in families:
        random = np.random.default_rng([seed, FAMILIES.index(family)])
        thompson = binary_thompson if family == "binary" else ThompsonSampling(initial_pulls=1)
        rules: tuple[Policy, ...] = (ExploreThenCommit(pulls=5), UCB(), thompson, EpsilonGreedy())
        for i in range(count):
            arms, horizon = int(random.choice([2, 3, 5, 8])), int(random.choice([60, 100, 300]))
            label = f"{family} {i + 1}: {arms} arms, {horizon} rounds"
            yield Setting(label, rules[i % 4], _world(family, arms, random), horizon)


def family_of(world: str) -> str:
    """The family of a world as rows have it."""
    name = world.partition("(")[0]
    return "binary" if name == Bernoulli.name else name


class Tabled(World):
    """A law that equally likely quantiles stand for, shifted and scaled for each arm; the table is made when needed."""

    name: ClassVar[str] = "tabled"

    def __init__(self, family: str, quantiles: tuple[Any, ...], shifts: Floats, scales: Floats) -> None:
        self._family, self._quantiles, self._shifts, self._scales = family, quantiles, shifts, scales
        table = self._table
        self.means, self.variances = table.means, table.variances

    @property
    def _table(self) -> Empirical:
        values = _quantiles(*self._quantiles)
        table = self._shifts[:, None] + np.outer(self._scales, values)
        return Empirical(Pool(table.ravel(), np.full(len(table), len(values))))

    def options(self) -> dict[str, Any]:
        """The options for people to read: rounded."""
        return {"means": _rounded(self.means), "sds": _rounded(np.sqrt(self.variances))}

    def __str__(self) -> str:
        return super().__str__().replace(self.name, self._family, 1)

    def data(self) -> WorldData:
        """The table as data."""
        return self._table.data()


def _world(family: str, arms: int, random: np.random.Generator) -> World:
    steps, sds = np.arange(arms) / (arms - 1), np.exp(random.normal(0, 0.4, arms))
    if family == "binary":
        spread = random.choice([0.1, 0.3, 0.5])
        return Bernoulli(random.uniform(0.02, 0.98 - spread) + spread * steps)
    means = random.choice([0.2, 0.6, 1.2]) * steps
    if family == "normal":
        return Normal(means, sds)
    if "zero-inflated" not in family:
        return Tabled(family, (family,), means, sds)
    share, amounts = float(random.choice([0.2, 0.5, 0.8])), str(random.choice(["exponential", "lognormal"]))
    if family == "zero-inflated":
        return Tabled(family, (amounts, share, False), np.zeros(arms), 1 + means)
    return Tabled(family, (amounts, share), means, sds)


@cache
def _quantiles(law: str, share: float = 1.0, standardised: bool = True) -> Floats:
    """Quantiles of the law with this probability, else 0; with mean 0 and variance 1, or with mean 1."""
    some = round(share * _TABLE)
    u = (np.arange(some) + 0.5) / some
    if law == "t5":
        values = np.asarray(stdtrit(5, u))
    elif law == "exponential":
        values = -np.log1p(-u)
    else:
        values = np.exp({"lognormal": 0.5, "long-lognormal": 1.0}[law] * ndtri(u))
    values = np.concatenate([np.zeros(_TABLE - some), values])
    return np.asarray((values - values.mean()) / values.std() if standardised else values / values.mean())


def _rounded(values: Floats) -> list[float]:
    return [float(f"{value:.4g}") for value in values]
