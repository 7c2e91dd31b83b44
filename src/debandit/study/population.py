"""A random population of experiments, to measure methods on."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from debandit.engine.data import Floats, WorldData
from debandit.policies import (
    UCB,
    Batched,
    BetaThompson,
    EpsilonGreedy,
    ExploreThenCommit,
    Floor,
    Policy,
    ThompsonSampling,
)
from debandit.special import ndtri, stdtrit
from debandit.worlds import Bernoulli, Drifting, Empirical, Normal, World
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
OTHER_SCALES = {
    "long": "But 2, 3 or 5 arms, 300, 1,000 or 5,000 rounds, and means over 0, 0.1 or 0.4 (0/1 rewards: over "
    "0, 0.05 or 0.2): arms that are equal or nearly so are the hard case in long runs.",
    "equal": "But 2 or 4 arms, 100 or 1,000 rounds, and all means equal: whatever a test finds is wrong.",
    "web": "0/1 rewards with probabilities from 0.01 to 0.10, 20,000 to 100,000 users in 10, 14, 20, 28 or 50 batches, "
    "Thompson sampling of the Beta kind that learns after each batch. 2, 3 and 5 arms take turns, and so do lifts of "
    "0, 5, 10 and 20 % of the last arm over the first, the others equally spaced between them. Of the simulated limits "
    "of differences and lifts, and of the p-values, only those of the last arm against the first are measured.",
    "web-equal": "As on the web, but all arms are equal, and only the p-value of the last arm against the first is "
    "measured.",
    "web-ucb": "As on the web, but under UCB that learns after each batch, in which it pulls one arm.",
    "web-drift": "As on the web, but in 14, 28 or 42 batches, which are the days of whole weeks, with a floor: each "
    "arm has at least 2, 5 or 10 % of the users. Each day of the week moves the log-odds of all arms by a normal "
    "number of its own, with the standard deviation 0.3. The truth is the mean over all days.",
}
_TABLE = 20_000  # quantiles that stand for a law


class Scale(NamedTuple):
    """What is drawn of each setting: the number of arms, of rounds, and how far the means are spread."""

    arms: tuple[int, ...]
    rounds: tuple[int, ...]
    spreads: tuple[float, ...]
    binary_spreads: tuple[float, ...]


SMALL = Scale((2, 3, 5, 8), (60, 100, 300), (0.2, 0.6, 1.2), (0.1, 0.3, 0.5))
LONG = Scale((2, 3, 5), (300, 1000, 5000), (0.0, 0.1, 0.4), (0.0, 0.05, 0.2))
EQUAL = Scale((2, 4), (100, 1000), (0.0,), (0.0,))


class Web(NamedTuple):
    """The rule that runs in batches on a web site, and the lifts of the last arm over the first, which take turns."""

    rule: Policy
    lifts: tuple[float, ...]
    batches: tuple[int, ...] = (10, 14, 20, 28, 50)
    floors: tuple[float, ...] = ()
    weekly: float = 0.0  # standard deviation of the effects of the days of the week


WEB = {
    "web": Web(BETA, (0.0, 0.05, 0.1, 0.2)),
    "web-equal": Web(BETA, (0.0,)),
    "web-ucb": Web(UCB(), (0.0, 0.05, 0.1, 0.2)),
    "web-drift": Web(BETA, (0.0, 0.05, 0.1, 0.2), batches=(14, 28, 42), floors=(0.02, 0.05, 0.1), weekly=0.3),
}


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
    scale: Scale = SMALL,
) -> Iterator[Setting]:
    """`count` random settings of each family, as `DESCRIPTION` says; the rules take turns."""
    for family in families:
        random = np.random.default_rng([seed, FAMILIES.index(family)])
        thompson = binary_thompson if family == "binary" else ThompsonSampling(initial_pulls=1)
        rules: tuple[Policy, ...] = (ExploreThenCommit(pulls=5), UCB(), thompson, EpsilonGreedy())
        for i in range(count):
            arms, horizon = int(random.choice(scale.arms)), int(random.choice(scale.rounds))
            label = f"{family} {i + 1}: {arms} arms, {horizon} rounds"
            yield Setting(label, rules[i % 4], _world(family, arms, random, scale), horizon)


def web(count: int, seed: int, site: Web = WEB["web"]) -> Iterator[Setting]:
    """`count` random experiments on a web site, as `OTHER_SCALES` says."""
    random = np.random.default_rng([seed, len(FAMILIES)])
    for i in range(count):
        arms, lift = (2, 3, 5)[i % 3], site.lifts[i // 3 % len(site.lifts)]
        batches, users = int(random.choice(site.batches)), int(random.integers(20_000, 100_001))
        size, lowest = users // batches, random.uniform(0.01, 0.1 / (1 + lift))
        label = f"web {i + 1}: {arms} arms, {batches} batches of {size} users"
        world: World = Bernoulli(lowest * (1 + lift * np.arange(arms) / (arms - 1)))
        policy: Policy = Batched(site.rule, size=size)
        if site.floors:
            policy = Floor(policy, probability=float(random.choice(site.floors)))
        if site.weekly:
            world = Drifting(world, random.normal(0, site.weekly, 7), size)
        yield Setting(label, policy, world, size * batches)


def family_of(world: str) -> str:
    """The family of a world as rows have it; drift does not change it."""
    name = world.removeprefix(f"{Drifting.name}(").partition("(")[0]
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


def _world(family: str, arms: int, random: np.random.Generator, scale: Scale) -> World:
    steps, sds = np.arange(arms) / (arms - 1), np.exp(random.normal(0, 0.4, arms))
    if family == "binary":
        spread = random.choice(scale.binary_spreads)
        return Bernoulli(random.uniform(0.02, 0.98 - spread) + spread * steps)
    means = random.choice(scale.spreads) * steps
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
