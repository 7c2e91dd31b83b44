"""Writes hadad.md and its figure, from the study hadad."""

import sys
from collections.abc import Sequence
from pathlib import Path

from debandit import Study
from debandit.comparing.methods import TITLES
from debandit.files import write_whole
from debandit.plots import save_as
from debandit.study import StudyRows
from debandit.tables import Row

TITLES_HERE = TITLES | {"auto": TITLES["corrected"], "naive_difference": "naive, minus arm 1 (Welch)"}
TITLES_HERE["batched_ols"] += ", minus arm 1"
QUANTITIES = {"bias": "bias", "rmse": "RMSE", "coverage": "coverage", "width": "width"}
HEAD = f"| arms 1, 2, 3 | {' | '.join(QUANTITIES.values())} | has an estimate in |"
WORDS = """# Hadad et al.'s setting: our means and those of others

Hadad, Hirshberg, Zhan, Wager and Athey (*Confidence intervals for policy evaluation in adaptive experiments*, PNAS
118 (15), 2021) introduced adaptively weighted AIPW (AW-AIPW), and tried it on three arms. This page has all methods
of [compare](compare.md) in that setting, whatever came out. `debandit study hadad` computes it; `make docs` writes
the page.

- Three arms, 1,000 rounds in ten batches of 100. Rewards are uniform on the arm's mean ± 1. The means are (0, 0, 0),
  (0.9, 1, 1.1) or (0.5, 1, 1.5).
- Thompson sampling with a clipped floor of t^-0.7 / 3, t the first round of the batch: a third in the first batch,
  which is uniform therefore, 1.3 % in the second and 0.3 % in the last.
- What we took: priors N(0, 1), and posteriors of normal rewards with the variance 1/3, which these have. They
  estimate it. Probabilities are exact here, not shares of draws.

{done}

![All methods in the setting of Hadad et al.](figures/hadad.svg)

## What came out

- **Equal arms.** The sample means are too low by about 0.02. Our means, quoted or corrected, are off by less than
  0.005. AW-AIPW takes off a third to a half of the bias. Over the three arms together the quoted mean has the smallest
  RMSE of all methods that always have an estimate.
- **Small differences.** The two lesser arms are too low by 0.02 to 0.03, ours by about 0.01 at most, AW-AIPW by 0.01 to
  0.02. Our RMSE is about that of the sample mean; for these arms AW-AIPW's is 1.1 to 1.4 times as large.
- **Large differences.** The rule is sure after the first batch, so there is next to no bias to correct, and ours
  changes nothing. Nor is AW-AIPW visibly biased, but its RMSE for the arms that were given up is 1.3 to 1.6 times as
  large.
- **Coverage.** The intervals of `debias`, which stand under quoted, cover 94 to 96 %, but for one arm (see below),
  and are narrower than those of AW-AIPW. These cover 91 to 96 %, with two-point weights mostly more than with
  constant ones. Plain t intervals around sample means do better here than one may fear: 92 to 96 %. All these have
  standard errors of up to 0.9 percentage points.

## Where AW-AIPW and others are better than ours

- With small differences our interval for the best arm seems to cover too seldom: 93.3 %, with a standard error of 0.8
  points. Those of AW-AIPW cover 95.6 % and 94.7 %, and are hardly wider with constant weights.
- AW-AIPW's intervals have a theorem behind them for long experiments. Ours have none, only measurements such as this
  one.
- IPW and AIPW are unbiased, as they should be, while ours leave a little. They pay with a larger RMSE, IPW with one
  that is up to 5.2 times as large as ours, and where an arm was given up the intervals of IPW cover 81 to 89 %.
- Confidence sequences covered in 99.9 % of the experiments or more, at 1.9 to 3.2 times the width of ours, and need
  neither the rule nor propensities.
- The corrected mean is not for the best-looking arm of one experiment. Where the arms are equal, the one that looks
  best is too high, and the correction, which is right on average over experiments, makes it higher still. The quoted
  mean is made for this, and is closest there:

{leaders}

## What does not work here

- Batch-weighted means are filled in where an arm has no pull in a batch, which with this floor is often. Where the
  differences are small they are about as biased as sample means, and their RMSE is up to 1.7 times as large.
- Batched OLS needs two pulls of both arms in every batch. With this floor many experiments do not have them, so that
  there is no estimate, and those that do are not like the others: where an arm with a lower mean was pulled in every
  batch, it was because it did well by chance. The difference to it is too small then. Judge the method by the first
  table only, where most experiments have an estimate.
- W-decorrelation covers about as often as it should, but its intervals are 2 to 7 times as wide as ours.
- Rao-Blackwell is for rules without randomness.

## The figures

In each cell are the values of arms 1, 2 and 3. The last column is the share of the experiments in which a method has
anything to say of the arm; the other columns are about these.

{tables}

The corrected means are those of the world `smoothed`. `debias` would take `gaussian`, the paper's MB, where every arm
has 100 pulls or more; the two hardly differ here.
"""


def table(rows: Sequence[Row]) -> str:
    """A line for each method, in each cell the three arms."""
    lines = [HEAD, "|---" * (2 + len(QUANTITIES)) + "|"]
    for method in dict.fromkeys(row["method"] for row in rows):
        own = {(row["quantity"], row["arm"]): row for row in rows if row["method"] == method}
        cells = [" ".join(_written(own.get((quantity, arm))) for arm in (1, 2, 3)) for quantity in QUANTITIES]
        had = " ".join(f"{own['bias', arm]['n'] / own['bias', arm]['experiments']:.0%}" for arm in (1, 2, 3))
        lines.append(f"| {TITLES_HERE[method]} | {' | '.join(cells)} | {had} |")
    return "\n".join(lines)


def _written(row: Row | None) -> str:
    return "–" if row is None or not row["n"] else _rounded(row["value"])


def _rounded(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}".replace("0.", ".", 1)  # never -.000


def leaders(found: StudyRows) -> str:
    """The mean errors of the arm that looks best, whichever it is."""
    shown = ("naive", "quoted", "auto", "aw_aipw", "aw_aipw_two_point")
    lines = [f"| mean error | {' | '.join(TITLES_HERE[method] for method in shown)} |", "|---" * 6 + "|"]
    for cell in found.study.cells:
        errors = []
        for method in shown:
            about = (cell.label, method, "bias_of_leader")
            rows = [row for row in found.rows if (row["setting"], row["method"], row["quantity"]) == about]
            errors.append(_rounded(sum(row["value"] * row["n"] for row in rows) / sum(row["n"] for row in rows)))
        lines.append(f"| {cell.label} | {' | '.join(errors)} |")
    return "\n".join(lines)


def tables(found: StudyRows) -> str:
    """A table for each setting, with the largest standard errors."""
    parts = []
    for cell in found.study.cells:
        rows = [row for row in found.rows if row["setting"] == cell.label]
        ours = [row for row in rows if row["method"] in ("naive", "quoted", "auto") and row["n"]]
        errors = {q: max(row["se"] for row in ours if row["quantity"] == q) for q in ("bias", "rmse", "coverage")}
        said = ", ".join(f"{QUANTITIES[q]} {error:.3f}" for q, error in errors.items())
        parts.append(f"### {cell.label}\n\n{table(rows)}\n\nStandard errors of naive and our means: up to {said}.")
    return "\n\n".join(parts)


def main(kept: Path | None) -> None:
    """About half an hour. What was finished in the directory `kept` is not done again."""
    here = Path(__file__).parents[1]
    found = Study.shipped("hadad").run(kept)
    save_as(found.plot(), here / "figures" / "hadad.svg")
    write_whole(
        here / "hadad.md", WORDS.format(done=found.what_was_done(), leaders=leaders(found), tables=tables(found))
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
