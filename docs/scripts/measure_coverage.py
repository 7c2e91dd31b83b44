"""Writes coverage.md and its figure: `study coverage` of seven populations, and two arms exactly."""

import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from pages import folded

from debandit.engine.data import Floats
from debandit.files import write_whole
from debandit.plots import draw, save
from debandit.study.comparisons import ADJUSTED, ARM_MEAN, DIFFERENCE, LEVELS, LIFT, MEAN, PLAIN, TEST
from debandit.study.coverage import QUANTITIES, Coverage, coverage_of_sums, coverage_study
from debandit.study.enumeration import ENUMERATED, GRID, exact_minimum
from debandit.study.measured import average_row
from debandit.study.population import CONTINUOUS, OTHER_SCALES
from debandit.study.shares import Arms, bounds, columns_of
from debandit.tables import Column, markdown

if TYPE_CHECKING:
    import altair as alt

TITLE = "Coverage of the intervals"
STUDIES = {
    "small": {"settings": 50, "experiments": 2000, "seed": 1},
    "long": {"scale": "long", "interval": "simulated", "settings": 8, "experiments": 100, "runs": 50, "seed": 60120},
    "web": {"scale": "web", "interval": "simulated", "settings": 24, "experiments": 400, "runs": 50, "seed": 71119},
    "web-equal": {"scale": "web-equal", "interval": "simulated"}
    | {"settings": 12, "experiments": 200, "runs": 50, "seed": 82011},
    "web-ucb": {"scale": "web-ucb", "interval": "simulated"}
    | {"settings": 24, "experiments": 60, "runs": 50, "seed": 82012},
    "web-drift": {"scale": "web-drift", "settings": 24, "experiments": 200, "seed": 82013},
    "equal": {"scale": "equal", "interval": "simulated", "settings": 4, "experiments": 400, "runs": 50, "seed": 60121},
    "small-printed": {"interval": "auto", "settings": 8, "experiments": 200, "runs": 500, "seed": 60122},
    **{f"level-{level}": {"level": level, "settings": 25, "experiments": 2000, "seed": 60118} for level in LEVELS},
    **{
        f"simulated-{level}": {"scale": "equal", "level": level, "interval": "simulated"}
        | {"settings": 4, "experiments": 50, "runs": 20, "seed": 60123}
        for level in LEVELS
    },
}
ENOUGH = 400  # experiments in a setting, to speak of the worst one
SHOWN = (ARM_MEAN, DIFFERENCE, LIFT, MEAN)
TESTED = {"small": "equal", "web": "web-equal"}  # where no arms differ
# kinds of logs: study, families, and the intervals that `auto` takes there for an arm and for what is compared
LOGS = {
    "60 to 300 rounds, rewards on a scale": ("small", CONTINUOUS, "pooled-t", "pooled-t"),
    "60 to 300 rounds, many zeros": ("small", ("zero-inflated",), "two-part", "two-part"),
    "60 to 300 rounds, 0/1": ("small", ("binary",), "binary", "binary"),
    "300 to 5,000 rounds, rewards on a scale": ("long", CONTINUOUS, "pooled-t", "simulated"),
    "300 to 5,000 rounds, many zeros": ("long", ("zero-inflated",), "two-part", "two-part"),
    "300 to 5,000 rounds, 0/1": ("long", ("binary",), "simulated", "simulated"),
    "20,000 to 100,000 users, 0/1, batched Thompson": ("web", ("binary",), "simulated", "simulated"),
    "20,000 to 100,000 users, 0/1, batched UCB": ("web-ucb", ("binary",), "simulated", "simulated"),
}
SECTIONS = {  # title, study and tables of what comes further down
    "Longer runs": ("long", ("In short", "By family", "Differences, lift and the winner", "Tests at 5 %")),
    "Longer runs by rule": ("long", ("Differences, lift and the winner by rule",)),
    "Web experiments": ("web", ("In short", "By family", "Differences, lift and the winner")),
    "Web experiments with equal arms": ("web-equal", ("Tests at 5 %",)),
    "Web experiments under UCB": ("web-ucb", ("In short", "Differences, lift and the winner", "Tests at 5 %")),
    "Web experiments that drift": ("web-drift", ("In short", "By family", "Differences, lift and the winner")),
    "Equal arms": ("equal", ("Tests at 5 %",)),
    "Quoted and corrected means": ("small-printed", ("Quoted and corrected means inside the interval", "Tests at 5 %")),
    **{f"At the level of {100 * level:g} %": (f"level-{level}", ("In short",)) for level in LEVELS},
    **{f"Simulated, at {100 * level:g} %": (f"simulated-{level}", ("In short",)) for level in LEVELS},
}
WORDS = """A 95 % interval should cover the truth in 95 of 100 experiments. This page says how often those of `debias`
do, and for which kind of log, in random experiments that were not used to find them. No theorem stands behind them.

![{title}](figures/coverage.svg)

{table}

Each cell has the average over arms, or pairs of arms, of random settings, and in brackets the worst of them; where
there were few experiments in each setting, it has the standard error of the average instead. The intervals are those
that `--interval auto` takes for such a log. Differences and lifts are to the first arm. The last column says how often
a p-value is 5 % or less where there is no difference (in its first three rows with 100 or 1,000 rounds).
`debandit study coverage` measures all of it again, under a seed of yours.

{reading}"""

READING = """## What to make of it

- **Up to 300 rounds** most limits are wider than need be, because arms with few pulls must have wide ones; 93 %
  is no floor, as the worst cases show. The textbook's cover {wald} of the means with rewards on a scale, and
  {wald_binary} with 0/1 rewards.
- **The best-looking arm** is also the luckiest, and has limits of its own. With those that other arms have it
  would be covered in {plain} of experiments with rewards on a scale (worst {plain_worst}).
- **Beyond 300 rounds** differences, the best-looking arm and all means of 0/1 rewards have simulated limits.
  Those of differences between arms with rewards on a scale cover {long_difference} (under Thompson sampling
  {long_thompson}); the closed form is a little wider, and covers {long_closed}.
- **On the web** the closed forms cover {web_closed} of the means and {web_closed_difference} of the
  differences, the simulated limits {web} and {web_difference}. {web_cells}
- **Under UCB on the web**, which sends a whole batch to one arm, the simulated limits cover {ucb} of the means (the
  closed form: {ucb_closed}), {ucb_difference} of the differences and {ucb_winner} of the means of
  the best-looking arms.
{drifting}
- **p-values** from worlds without a difference find one in {type_1} where there is none, with rewards on a
  scale; Welch's test does in {welch}, and with many zeros in {welch_zeros}. On the web they find one in {web_type_1}
  (most in a setting: {web_most}), under UCB in {ucb_type_1}; Welch's test does in {web_welch} under Thompson sampling.
- **Quoted means** lie inside the interval in {quoted_leader} of experiments if the arm looks best, and in
  {quoted_others} if not; corrected ones in {corrected_leader} and {corrected_others} (averages over arms,
  rewards on a scale, up to 300 rounds).
- **At other levels** intervals err on the same side: those of 80, 90 and 99 % cover {levels} of the means with
  rewards on a scale, up to 300 rounds; simulated limits of differences between equal arms cover {simulated}.
- **Not measured**: a rule that is not the one that made the log, rewards that drift otherwise or come late, batched
  rules other than Thompson sampling and UCB, amounts of money on the web, more than 8 arms, standard deviations that
  differ more than those here."""

DRIFTING = """- **On days that move all arms** alike the closed forms cover {closed} of the means and
  {closed_difference} of the differences. Those of [period-weighted means](drift.md), which are {width} times as wide
  on average, cover {means} and {differences}; in the worst cases {worst} and {worst_difference}, and {surely} of
  {count} are below 93 % by more than two standard errors."""

SUMS = """## Where only sums are known

Of a table of counts, or of batches, `pooled-t` knows pulls, means and variances only, and takes the skewness to be 0
and the kurtosis 3. The population and the columns are those of the first table, with other random numbers
(`coverage_of_sums` in `debandit.study.coverage`). Skewed rewards with long tails are covered less often than with the
rewards at hand.

"""

EXACT = f"""## Two Bernoulli arms, exactly

The lowest coverage of an arm over all pairs of true probabilities from
{", ".join(map(str, GRID))},
given that the arm was pulled, by enumerating everything that can happen (`exact_minimum` in
`debandit.study.enumeration`), for the interval `binary` with this many rounds; behind it the arm's probability and the
other's. In the last column the lowest coverage of `wald` over the same rounds; a Wald interval that does not exist
counts as a miss.

{{lowest}}

Each cell has the worst of {len(GRID) ** 2} pairs of truths. Numbers of wins are few, and a truth may lie just outside
the limits of a likely one: that is why the lowest values come and go with the number of rounds, and why 93 % is no
floor.

These are all built-in rules; wrapped ones (`batched` and the like) are not in the table. Ties to the last arm give the
same numbers as ties to the first. With so few rounds `ucb_tuned` always takes 1/4 for the variance, and
`successive_elimination` drops no arm with the `sd` of 1 that it has by default, and seldom any with 1/2, the most that
a 0/1 reward can have. `top_two_thompson` with its own leader of 1/2 would be `uniform` on two arms, and
`leader_challenger` is, after one pull of each. `ts_postdiff` has
fewer rounds because its chances take long to compute, and `exp3` because it remembers the order of all wins, so that
the states to be enumerated double with every round.

"""


def main(kept: Path | None) -> None:
    """Hours on one core, nearly all of them for simulated limits. What is finished in `kept` is not done again."""
    here = Path(__file__).parents[1]
    found = {name: measured(name, kept) for name in STUDIES}
    for other in save(picture(found), here / "figures" / "coverage")[1:]:  # the page shows the SVG
        other.unlink()
    tables = found["small"].to_markdown().partition("\n\n")[2].rstrip()
    parts = [
        f"# {TITLE}",
        WORDS.format(title=TITLE, table=short_table(found), reading=READING.format(**figures(found))),
        f"## Up to 300 rounds\n\n{tables.replace('## ', '### ')}",
        *(section(found[study], title, names) for title, (study, names) in SECTIONS.items()),
        sums_section(),
        exact_section(),
    ]
    write_whole(here / "coverage.md", folded("\n\n".join(part.rstrip() for part in parts) + "\n"))


def measured(name: str, kept: Path | None) -> Coverage:
    """One of the studies."""
    found = coverage_study(**STUDIES[name]).run(kept and kept / name)
    assert isinstance(found, Coverage)
    return found


def covered(found: dict[str, Coverage], log: str, kind: str) -> Arms:
    """How often the limits that `auto` takes for such a log cover the truth."""
    study, families, of_arm, of_others = LOGS[log]
    return found[study].arms_of(kind, of_arm if kind == ARM_MEAN else of_others, *families)


def short_table(found: dict[str, Coverage]) -> str:
    """What is covered how often, for which kind of log."""
    rows = []
    for log, (study, families, *_) in LOGS.items():
        other = TESTED.get(study, study)
        tests = found[other].arms(f"{TEST}: simulated", *families, quantity="type_1")
        row = {kind: percent(covered(found, log, kind), study, min) for kind in SHOWN}
        rows.append({"log": log, **row, TEST: percent(tests, other, max)})
    columns = [Column("log", "experiments of", "text")]
    columns += [Column(kind, QUANTITIES[kind][0], "text") for kind in SHOWN]
    return markdown(rows, [*columns, Column(TEST, "p <= 5 % without a difference", "text")], 4)


def percent(arms: Arms, study: str, worst: Callable[[Floats], float]) -> str:
    """The mean and the worst, or its error where the experiments of a setting are too few to speak of the worst."""
    if not len(arms.values):
        return "–"
    mean = arms.mean()
    enough = STUDIES[study]["experiments"] >= ENOUGH
    return f"{100 * mean.value:.1f} % " + (f"({100 * worst(arms.values):.1f})" if enough else f"± {100 * mean.se:.1f}")


def figures(found: dict[str, Coverage]) -> dict[str, str]:
    """The numbers in the text."""
    small, long, web, equal, printed = (found[name] for name in ("small", "long", "web", "equal", "small-printed"))
    web_equal, ucb = found["web-equal"], found["web-ucb"]
    scale, closed = CONTINUOUS, "binary"
    plain = small.arms_of(PLAIN, "pooled-t", *scale)
    arms = {
        "wald": small.arms_of(ARM_MEAN, "wald", *scale),
        "wald_binary": small.arms_of(ARM_MEAN, "wald", closed),
        "plain": plain,
        "long_difference": long.arms_of(DIFFERENCE, "simulated", *scale),
        "long_thompson": long.arms(f"{DIFFERENCE}: simulated", *scale, rule="thompson"),
        "long_closed": long.arms_of(DIFFERENCE, "pooled-t", *scale),
        "web": web.arms_of(ARM_MEAN, "simulated", closed),
        "web_difference": web.arms_of(DIFFERENCE, "simulated", closed),
        "web_closed": web.arms_of(ARM_MEAN, "binary", closed),
        "web_closed_difference": web.arms_of(DIFFERENCE, "binary", closed),
        "ucb": ucb.arms_of(ARM_MEAN, "simulated", closed),
        "ucb_closed": ucb.arms_of(ARM_MEAN, "binary", closed),
        "ucb_difference": ucb.arms_of(DIFFERENCE, "simulated", closed),
        "ucb_winner": ucb.arms_of(MEAN, "simulated", closed),
        "ucb_type_1": ucb.arms(f"{TEST}: simulated", closed, quantity="type_1"),
        "web_type_1": web_equal.arms(f"{TEST}: simulated", closed, quantity="type_1"),
        "web_welch": web_equal.arms(f"{TEST}: welch", closed, quantity="type_1"),
        "type_1": equal.arms(f"{TEST}: simulated", *scale, quantity="type_1"),
        "welch": equal.arms(f"{TEST}: welch", *scale, quantity="type_1"),
        "welch_zeros": equal.arms(f"{TEST}: welch", "zero-inflated", quantity="type_1"),
    }
    arms |= {
        f"{value}_{place}": printed.arms_of(f"{value}, {place}", "auto", *scale)
        for value, place in product(("quoted", "corrected"), ("leader", "others"))
    }
    levels = [found[f"level-{level}"].arms_of(ARM_MEAN, "pooled-t", *scale) for level in LEVELS]
    simulated = [found[f"simulated-{level}"].arms_of(DIFFERENCE, "simulated", *scale) for level in LEVELS]
    return {name: f"{100 * each.mean().value:.1f} %" for name, each in arms.items()} | {
        "plain_worst": f"{100 * plain.values.min():.1f} %",
        "web_most": f"{100 * arms['web_type_1'].values.max():.1f} %",
        "web_cells": cells(arms["web"], arms["web_difference"], web.arms_of(MEAN, "simulated", closed)),
        "drifting": DRIFTING.format(**drifting(found["web-drift"])),
        "levels": percentages(levels),
        "simulated": percentages(simulated),
    }


def drifting(found: Coverage) -> dict[str, str]:
    """The numbers in the text on days that move all arms."""
    means, differences = (found.arms_of(kind, ADJUSTED, "binary") for kind in (ARM_MEAN, DIFFERENCE))
    closed, closed_difference = (found.arms_of(kind, "binary", "binary") for kind in (ARM_MEAN, DIFFERENCE))
    averages = {"closed": closed, "closed_difference": closed_difference, "means": means, "differences": differences}
    return {name: f"{100 * arms.mean().value:.1f} %" for name, arms in averages.items()} | {
        "worst": f"{100 * means.values.min():.1f} %",
        "worst_difference": f"{100 * differences.values.min():.1f} %",
        "width": f"{means.widths.mean():.2f}",
        "surely": str(sum(arms.summary()["surely"] for arms in (means, differences))),
        "count": str(len(means.values) + len(differences.values)),
    }


def cells(*several: Arms) -> str:
    """How many means, differences and best-looking arms of the web are covered too seldom, and surely so."""
    names = ("means", "differences", "best-looking arms")
    found = [
        f"{int((each.values < bounds(0.95)[0]).sum())} of {len(each.values)} {name} ({each.summary()['surely']})"
        for name, each in zip(names, several, strict=True)
    ]
    count = STUDIES["web"]["experiments"]
    few = f", but {count} experiments in each setting are too few to judge a single one" * (count < ENOUGH)
    which = "Below 93 % (in brackets: by more\n  than two standard errors) are"
    return f"{which} {', '.join(found[:-1])} and\n  {found[-1]}{few}."


def percentages(several: Sequence[Arms]) -> str:
    """The means of several groups in a row."""
    *most, last = (f"{100 * arms.mean().value:.1f}" for arms in several)
    return f"{', '.join(most)} and {last} %"


def picture(found: dict[str, Coverage]) -> "alt.VConcatChart":
    """A block for each kind of log: our intervals, and the textbook's."""
    rows = []
    for kind, log in product(SHOWN, LOGS):
        study, families, *_ = LOGS[log]
        textbook = found[study].arms_of(kind, QUANTITIES[kind][1], *families)
        for method, arms in (("debandit", covered(found, log, kind)), ("the textbook", textbook)):
            if len(arms.values):
                block = QUANTITIES[kind][0].capitalize()
                rows.append(average_row(block, log, method, "coverage", arms.mean()))
                if STUDIES[study]["experiments"] >= ENOUGH:
                    rows.append(average_row(block, log, method, "low_share", arms.low()))
    return draw(rows, "coverage", TITLE)


def section(found: Coverage, title: str, names: Sequence[str]) -> str:
    """Some tables of a study."""
    tables = [f"{markdown(rows, columns, 4)}" for name, rows, columns in found.tables() if name in names]
    other = OTHER_SCALES.get(found.study.scale, "")
    return "\n\n".join([f"## {title}", f"{found.what_was_done()} {other}".rstrip(), *tables])


def sums_section() -> str:
    """The part on tables of counts, which takes about two minutes."""
    found = coverage_of_sums(settings=50, experiments=2000, seed=1)
    rows = [{"group": name, "intervals": "pooled-t", **arms.summary()} for name, arms in found.items()]
    return f"{SUMS}{markdown(rows, [Column('group', 'rewards', 'text'), *columns_of(0.95)], 4)}\n"


def exact_section() -> str:
    """The part on two arms, which takes about three minutes."""
    rows, cells, rounds = [], [], max(ENUMERATED.values(), key=len)
    for rule, horizons in ENUMERATED.items():
        row, wald = dict.fromkeys(map(str, rounds), "–") | {"rule": f"`{rule}`"}, []
        for horizon in horizons:
            worst = exact_minimum(rule, horizon)
            coverage, p, q = worst["binary"]
            row[str(horizon)] = f"{coverage:.4f} ({p:g}, {q:g})"
            cells.append((coverage, f"`{rule}` with {horizon} rounds"))
            wald.append(worst["wald"][0])
        rows.append(row | {"wald": f"{min(wald):.4f}"})
        print(rows[-1], flush=True)
    columns, least = [Column("rule", "rule", "text")], bounds(0.95)[0]
    columns += [Column(str(h), f"{h} rounds", "text") for h in rounds]
    below = ", ".join(f"{where} ({coverage:.4f})" for coverage, where in sorted(cells) if coverage < least)
    lowest = f"The lowest of all {len(cells)} is {min(cells)[0]:.4f}. Below {least:g} are {below or 'none'}."
    return f"{EXACT.format(lowest=lowest)}{markdown(rows, [*columns, Column('wald', 'wald', 'text')], 4)}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
