"""How often the intervals cover the truth, and how wide they are, over a random population of experiments."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit
from tqdm import tqdm

from debandit.engine.data import Floats
from debandit.files import made_directory, write_whole
from debandit.intervals import Sample, binary, moderated_t, pooled_t, two_part, wald
from debandit.policies import UCB, BetaThompson, EpsilonGreedy, ExploreThenCommit, Policy, ThompsonSampling
from debandit.simulation import checked_count, checked_seed, simulate
from debandit.study.rows import FIELDS, PARQUET, csv_of, parquet_of
from debandit.tables import Column, Row, markdown, render
from debandit.theory import exact_counts
from debandit.version import __version__
from debandit.worlds import Bernoulli, Empirical, Normal, World
from debandit.worlds.world import Pool

LEVEL, LEAST, MOST = 0.95, 0.93, 0.97
CONTINUOUS = ("normal", "t5", "exponential", "lognormal")
FAMILIES = (*CONTINUOUS, "long-lognormal", "zero-inflated", "binary")
YARDSTICK = "moderated-t"
PULLS = (1, 2, 3, 6, 11)  # where the groups of numbers of pulls begin
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
_TABLE = 20_000  # quantiles that stand for a law
_COLUMNS = (
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
EXPLANATION = (
    "Coverage of the nominal 95 % intervals, arm by arm: mean over the arms, the worst arm, the share of arms below "
    "93 %, how many of them by more than two binomial standard errors, and the share between 93 and 97 %. Width: an "
    f"arm's mean width divided by that of a plain moderated t (n + 1 degrees of freedom, here `{YARDSTICK}`), averaged "
    "over the arms; cases without an upper limit are left out of it. Experiments in which an arm has no such interval "
    "(never pulled, or no variation in any arm) are left out of that arm's coverage; Wald is counted from two pulls "
    "on, and as a miss where an arm's rewards do not vary."
)


@dataclass(frozen=True)
class Setting:
    """One kind of experiment."""

    family: str
    policy: Policy
    world: World
    horizon: int


def population(count: int, seed: int) -> Iterator[Setting]:
    """`count` random settings of each family; the rules take turns.

    2, 3, 5 or 8 arms, 60, 100 or 300 rounds. Means are equally spaced over 0.2, 0.6 or 1.2 from 0 on, standard
    deviations exp(N(0, 0.4^2)). Lognormal has the log-sd 0.5, long-lognormal 1. Zero-inflated: means from 1 on, and
    scaled only, so that zeros stay zeros; not 0 with probability 0.2, 0.5 or 0.8, amounts exponential or lognormal
    (log-sd 0.5). Binary: spreads of 0.1, 0.3 or 0.5, the lowest probability uniform from 0.02 up to 0.98 less the
    spread. But for normal and 0/1 rewards a table of 20,000 quantiles, standardised, stands for the law, whose tail
    ends there; coverage is that of the table's own mean.
    """
    for place, family in enumerate(FAMILIES):
        random = np.random.default_rng([seed, place])
        thompson: Policy = BetaThompson() if family == "binary" else ThompsonSampling(initial_pulls=1)
        rules: tuple[Policy, ...] = (ExploreThenCommit(pulls=5), UCB(), thompson, EpsilonGreedy())
        for i in range(count):
            arms, horizon = int(random.choice([2, 3, 5, 8])), int(random.choice([60, 100, 300]))
            yield Setting(family, rules[i % 4], _world(family, arms, random), horizon)


def _world(family: str, arms: int, random: np.random.Generator) -> World:
    steps, sds = np.arange(arms) / (arms - 1), np.exp(random.normal(0, 0.4, arms))
    if family == "binary":
        spread = random.choice([0.1, 0.3, 0.5])
        return Bernoulli(random.uniform(0.02, 0.98 - spread) + spread * steps)
    means = random.choice([0.2, 0.6, 1.2]) * steps
    if family == "normal":
        return Normal(means, sds)
    if family == "zero-inflated":
        share, amounts = random.choice([0.2, 0.5, 0.8]), str(random.choice(["exponential", "lognormal"]))
        some = round(share * _TABLE)
        values = np.concatenate([np.zeros(_TABLE - some), _quantiles(amounts, some)])
        tables = np.outer(1 + means, values / values.mean())
    else:
        values = _quantiles(family, _TABLE)
        tables = means[:, None] + np.outer(sds, (values - values.mean()) / values.std())
    return Empirical(Pool(tables.ravel(), np.full(arms, _TABLE)))


def _quantiles(law: str, count: int) -> Floats:
    u = (np.arange(count) + 0.5) / count
    if law == "t5":
        return np.asarray(stdtrit(5, u))
    if law == "exponential":
        return -np.log1p(-u)
    return np.asarray(np.exp({"lognormal": 0.5, "long-lognormal": 1.0}[law] * ndtri(u)))


def limits(family: str, sample: Sample) -> dict[str, tuple[Floats, Floats]]:
    """Every interval that the family's rewards can have."""
    pooled = pooled_t(sample, LEVEL)
    found = {
        "pooled-t": (pooled.low, pooled.high),
        YARDSTICK: moderated_t(sample, LEVEL),
        "wald": wald(sample.pulls, sample.means, sample.squares, LEVEL),
    }
    if family == "binary":
        return {"binary": binary(sample.pulls, np.rint(np.nan_to_num(sample.means * sample.pulls)), LEVEL), **found}
    return {"two-part": two_part(sample, LEVEL), **found} if family == "zero-inflated" else found


def rows_of_setting(setting: Setting, name: str, experiments: int, seed: int, threads: int | None) -> list[Row]:
    """Coverage (at: all, or by pulls from so many on) and relative width, interval by interval, arm by arm."""
    world, rule = setting.world, setting.policy
    runs = simulate(rule, world, horizon=setting.horizon, runs=experiments, seed=seed, paths=True, threads=threads)
    sample = Sample(*runs.paths(), world.arm_count)
    group = np.searchsorted(PULLS, sample.pulls, side="right")
    found = limits(setting.family, sample)
    plain = found[YARDSTICK][1] - found[YARDSTICK][0]
    common: dict[str, Any] = dict.fromkeys(FIELDS) | {
        "setting": name,
        "rule": str(rule),
        "world": setting.family,
        "horizon": setting.horizon,
        "experiments": experiments,
        "remark": "",
        "seed": seed,
        "version": __version__,
    }
    rows: list[Row] = []
    for method, (low, high) in found.items():
        known = sample.pulls > 1 if method == "wald" else ~np.isnan(low)  # a textbook would print no width at all
        covered, width = (low <= world.means) & (world.means <= high), high - low
        bounded = np.isfinite(width) & np.isfinite(plain)
        for arm in range(world.arm_count):
            mine = common | {"method": method, "arm": arm + 1, "truth": float(world.means[arm])}
            for at, which in [(None, known[:, arm])] + [
                (float(PULLS[g - 1]), known[:, arm] & (group[:, arm] == g)) for g in range(1, len(PULLS) + 1)
            ]:
                n, hits = int(which.sum()), int(covered[which, arm].sum())
                if n:
                    value, se = hits / n, binomial_se(hits, n)
                    rows.append(mine | {"quantity": "coverage", "at": at, "value": value, "se": se, "n": n})
            these = bounded[:, arm]
            if these.any():
                ratio, n = float(width[these, arm].mean() / plain[these, arm].mean()), int(these.sum())
                rows.append(mine | {"quantity": "relative_width", "value": ratio, "n": n})
    return rows


def binomial_se(hits: int, n: int) -> float:
    """Of hits / n; not 0 at the ends, since half a hit and half a miss are added."""
    share = (hits + 0.5) / (n + 1)
    return math.sqrt(share * (1 - share) / n)


@dataclass(frozen=True)
class Coverage:
    """What `debandit study coverage` found."""

    rows: tuple[Row, ...]
    count: int
    experiments: int
    seed: int

    def __str__(self) -> str:
        return "\n\n".join(f"{title}\n\n{render(rows, columns, 4)}" for title, rows, columns in self._tables())

    def to_markdown(self) -> str:
        """All tables."""
        parts = [f"## {title}\n\n{markdown(rows, columns, 4)}" for title, rows, columns in self._tables()]
        return "\n\n".join(["# Coverage of the intervals", f"{self.what_was_done()} {EXPLANATION}", *parts]) + "\n"

    def what_was_done(self) -> str:
        """How many settings and experiments."""
        return (
            f"{self.count} random settings of each family, {self.experiments:,} experiments in each, seed {self.seed} "
            f"(`debandit study coverage --settings {self.count} --experiments {self.experiments} --seed {self.seed}`)."
        )

    def save(self, directory: str | Path) -> list[Path]:
        """Write table.md, rows.csv and rows.parquet, each whole or not at all."""
        folder = made_directory(directory)
        contents: dict[str, str | bytes] = {
            "table.md": self.to_markdown(),
            "rows.csv": csv_of(self.rows),
            PARQUET: parquet_of(self.rows),
        }
        for name, content in contents.items():
            write_whole(folder / name, content)
        return [folder / name for name in contents]

    def arms(self, method: str, *families: str, rule: str = "") -> "Arms":
        """The arms of some families, under a rule whose name begins like that."""
        mine = [
            row
            for row in self.rows
            if row["method"] == method and row["world"] in families and row["rule"].startswith(rule)
        ]
        whole = [row for row in mine if row["quantity"] == "coverage" and row["at"] is None]
        widths = [row["value"] for row in mine if row["quantity"] == "relative_width"]
        values, errors = (np.array([row[key] for row in whole]) for key in ("value", "se"))
        return Arms(values, errors, np.array(widths))

    def _tables(self) -> Iterator[tuple[str, list[Row], list[Column]]]:
        groups = {"the four continuous families": CONTINUOUS, **{family: (family,) for family in FAMILIES}}
        first = Column("group", "rewards", "text")
        yield "By family", list(self._summaries({(g, ""): f for g, f in groups.items()})), [first, *_COLUMNS]
        by_rule = {
            (f"{rule}, {group}", rule): families
            for rule in ("etc", "ucb", "thompson", "epsilon_greedy")
            for group, families in (("continuous", CONTINUOUS), *((f, (f,)) for f in FAMILIES[4:]))
        }
        by_rule |= {("thompson, binary", "beta_thompson"): ("binary",)}
        first = Column("group", "rule and rewards", "text")
        yield "By rule", list(self._summaries(by_rule)), [first, *_COLUMNS]
        columns = [Column("group", "rewards", "text"), Column("intervals", "interval", "text")]
        names = ("1", "2", "3-5", "6-10", "> 10")
        columns += [Column(name, f"{name} ± s.e.", "text") for name in names]
        yield "Mean coverage by number of pulls", list(self._by_pulls(names)), columns

    def _summaries(self, groups: dict[tuple[str, str], tuple[str, ...]]) -> Iterator[Row]:
        for (group, rule), families in groups.items():
            for method in dict.fromkeys(row["method"] for row in self.rows if row["world"] in families):
                arms = self.arms(method, *families, rule=rule)
                if len(arms.values):
                    yield {"group": group, "intervals": method, **arms.summary()}

    def _by_pulls(self, names: tuple[str, ...]) -> Iterator[Row]:
        cells: dict[tuple[str, str, float], list[float]] = {}
        for row in self.rows:
            if row["quantity"] == "coverage" and row["at"] is not None:
                cell = cells.setdefault((row["world"], row["method"], row["at"]), [0.0, 0.0])
                cell[0] += row["value"] * row["n"]
                cell[1] += row["n"]
        for family, method in dict.fromkeys(key[:2] for key in cells):
            shown = {}
            for name, at in zip(names, PULLS, strict=True):
                hits, n = cells.get((family, method, float(at)), (0, 0))
                shown[name] = f"{hits / n:.3f} ± {binomial_se(round(hits), int(n)):.3f}" if n else "–"
            yield {"group": family, "intervals": method, **shown}


@dataclass(frozen=True)
class Arms:
    """Coverages of many arms with their binomial errors, and their relative widths."""

    values: Floats
    errors: Floats
    widths: Floats

    def summary(self) -> dict[str, Any]:
        """A line of a table."""
        worst = int(self.values.argmin())
        return {
            "arms": len(self.values),
            "mean": self.values.mean(),
            "mean_se": math.sqrt((self.errors**2).sum()) / len(self.values),
            "worst": self.values[worst],
            "worst_se": self.errors[worst],
            "low": (self.values < LEAST).mean(),
            "surely": (self.values + 2 * self.errors < LEAST).sum(),
            "good": ((self.values >= LEAST) & (self.values <= MOST)).mean(),
            "width": self.widths.mean() if len(self.widths) else None,
        }


def coverage(
    *, settings: int = 25, experiments: int = 2000, seed: int = 0, threads: int | None = None, progress: bool = False
) -> Coverage:
    """Simulate `experiments` in each of `settings` random settings of every family, and count."""
    count, experiments = checked_count("settings", settings, 10**6), checked_count("experiments", experiments, 10**6, 2)
    checked_seed(seed)
    rows: list[Row] = []
    for i, setting in enumerate(tqdm(list(population(count, seed)), disable=not progress, unit="setting")):
        own_seed = int(np.random.SeedSequence([seed, i]).generate_state(1, np.uint64)[0])
        name = f"{setting.family} {i % count + 1}: {setting.world.arm_count} arms, {setting.horizon} rounds"
        rows += rows_of_setting(setting, name, experiments, own_seed, threads)
    return Coverage(tuple(rows), count, experiments, seed)


def exact_minimum(
    policy: Policy | str, horizon: int, grid: Sequence[float] = GRID
) -> dict[str, tuple[float, float, float]]:
    """By enumeration, for the binary and the Wald interval: the lowest coverage of an arm, its p and that of the other.

    Over all pairs of probabilities from the grid, of two Bernoulli arms, given that the arm was pulled.
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
