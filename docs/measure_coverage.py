"""Writes coverage.md beside this file: `study coverage`, and the exact coverage of two Bernoulli arms."""

from pathlib import Path

from debandit.files import write_whole
from debandit.plots import save
from debandit.study.coverage import coverage_of_sums, coverage_study
from debandit.study.enumeration import ENUMERATED, GRID, exact_minimum
from debandit.study.shares import bounds, columns_of
from debandit.tables import Column, markdown

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
a 0/1 reward can have. `top_two_thompson` with its own leader of 1/2 would be `uniform` on two arms. `ts_postdiff` has
fewer rounds because its chances take long to compute, and `exp3` because it remembers the order of all wins, so that
the states to be enumerated double with every round.

"""


def main() -> None:
    """About nine minutes."""
    here = Path(__file__).parent
    found = coverage_study(settings=50, experiments=2000, seed=1).run()
    for other in save(found.plot(), here / "figures" / "coverage")[1:]:  # the page shows the SVG
        other.unlink()
    picture = f"\n![{found.study.title}](figures/coverage.svg)\n"
    text = found.to_markdown().replace("\n## By family", f"{picture}\n## By family", 1)
    write_whole(here / "coverage.md", f"{text}\n{sums_section()}\n{exact_section()}")


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
    main()
