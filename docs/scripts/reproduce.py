"""Writes the-paper-reproduced.md and its figures from the output of the studies."""

import dataclasses
from pathlib import Path

from debandit import Study
from debandit.files import write_whole
from debandit.plots import save
from debandit.study import PAPER, StudyRows

INTRODUCTION = """# The paper, reproduced

Chen, Gao and Xiong, *Debiasing Samples from Online Learning Using Bootstrap* (AISTATS 2022): every number of its
tables 1 and 2, ours beside it, and how many standard errors they are apart; its figures, drawn from our own runs; and
its two theorems, watched at work. `debandit study paper` computes everything on this page, `debandit study figure3` one
part of it; `make docs` writes the page.

"naive" is the sample mean: its bias E[naive] - mu and its mean E[naive]. "gaussian" is the paper's multiplier bootstrap
(MB), "efron" Efron's (EB): the bias that they estimate and the mean of the corrected values, over experiments.

## What the paper leaves open, and what we took

- ETC: 10 consecutive pulls of each arm in index order; ties to the lowest index.
- UCB: each arm once, then mean + sqrt(ln t / N), t being the number of the round.
- EG: each arm once; with probability 0.05 any arm, the greedy one too; ties to the lowest index.
- TS: the paper does not say which. Two rules are run: sample-centred (each arm once, then draws from N(S/N, 1/(N+1)))
  and conjugate (prior N(0,1), noise variance 1, no initial pulls).
- The variance of the Gaussian world has the divisor n.
- A run in which an arm was never pulled is left out of that arm's average.

## Where the numbers differ, and why

1. Table 2, normal rewards: the printed sds (2,1,2,1) contradict the paper's own ETC row; (2,1,1,2) fits it. Both are
   run. UCB and EG fit under neither.
2. TS: no rule that was tried fits the bootstrap columns, nor table 2's Bernoulli rows.
3. Table 1, UCB with normal rewards, arm 1: the MB estimate is printed as -0.2026; ours is -0.240.
4. Table 2, TS, Bernoulli, arm 2: -0.6560 is a typing error for -0.0656.

Rows of cells to which this applies are marked with an asterisk, also those of their numbers that do agree.
"""


WORDS = {
    "table1": "The biases of the sample means and of the corrected ones:",
    "table2": "The biases of the sample means and of the corrected ones:",
    "figure1": "ETC is biased mildly, and the correction takes most of it off. Its histograms are hardly wider.",
    "figure2": "UCB gives arms up that looked bad by chance, so the sample mean of arm 1 has a long left tail. The "
    "correction moves its average most of the way to the truth and keeps the tail.",
    "figure3": "The paper shows MB, IPW and AIPW; the sample mean and Efron's bootstrap are added, and the median "
    "beside the mean. It says that the errors of IPW and AIPW are much larger at small T: so they are in the mean "
    "under normal rewards. That they are similar at T = 100 does not hold for arm 1. The mean squared error of IPW "
    "and AIPW under normal rewards is no stable number: it hangs on a few experiments with tiny propensities, and "
    "another seed gives another curve. The medians are stable. The correction costs variance: by its median "
    "squared error the sample mean of arm 1 is the better one, although it is biased.",
    "figure4": "Under epsilon-greedy propensities are at least epsilon/2, so that all of these numbers are stable.",
    "theorem1": "The ratio of the log biases tends to 1, as the theorem says, slowly. The quantiles of 5 % and 95 % "
    "of the experiments are {quantiles}; the ranges are over T and the two arms.",
    "theorem2": "The decay rate of the bootstrap's bias over the true one. It tends to the limit, which is 1 for "
    "normal rewards only: for others the Gaussian bootstrap has the wrong exponent, though not by more than the bound.",
}


def main() -> None:
    """Run everything with the paper's own numbers of experiments and runs, or more."""
    here = Path(__file__).parents[1]
    (here / "figures").mkdir(exist_ok=True)
    parts, counts = [], []
    for name in PAPER:
        found = Study.shipped(name).run()
        pictures = save(found.plot(), here / "figures" / name)
        for picture in pictures[1:]:  # the page shows the SVG
            picture.unlink()
        words = WORDS[name].format(quantiles=quantiles(found)) if name == "theorem1" else WORDS[name]
        parts.append(f"## {found.study.title}\n\n{words}\n\n![{found.study.title}](figures/{name}.svg)\n")
        printed = dataclasses.replace(found, rows=tuple(row for row in found.rows if row["paper"] is not None))
        if printed.rows:
            counts.append(agreement(printed))
            parts.append(printed.to_markdown().partition("\n\n")[2])
        else:
            parts.append(found.what_was_done() + "\n")
    page = here / "the-paper-reproduced.md"
    write_whole(page, "\n".join([INTRODUCTION, *counts, "", *parts]))


def quantiles(found: StudyRows) -> str:
    """Between which 5 % and 95 % quantiles nine in ten experiments lie at some m, as they range over the panels."""
    values: dict[tuple[str, int], list[float]] = {}
    for row in found.rows:
        values.setdefault((row["quantity"], row["at"]), []).append(row["value"])
    said = []
    for m in (100, 1000, 10_000):
        lows, highs = values["ratio_q05", m], values["ratio_q95", m]
        low, high = (f"{min(ends):.2f} to {max(ends):.2f}" for ends in (lows, highs))
        said.append(f"{low} and {high} at m = {m:,}")
    return ", ".join(said)


def agreement(found: StudyRows) -> str:
    """How many of the printed numbers are reproduced, counted from the rows."""
    printed = [row for row in found.rows if row["z"] is not None]
    plain = [abs(row["z"]) for row in printed if not row["remark"]]
    marked = [abs(row["z"]) for row in printed if row["remark"]]
    far = [sum(z > 4.5 for z in scores) for scores in (plain, marked)]
    return (
        f"- {found.study.title}: of {len(plain)} printed numbers without a mark {far[0]} are more than 4.5 standard "
        f"errors away (largest: {max(plain):.1f}); of {len(marked)} with a mark {far[1]}."
    )


if __name__ == "__main__":
    main()
