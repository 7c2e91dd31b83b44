"""Writes coverage.md beside this file: `study coverage`, and the exact coverage of two Bernoulli arms."""

from pathlib import Path

from debandit.files import write_whole
from debandit.plots import save
from debandit.policies import RULES
from debandit.study.coverage import coverage_study
from debandit.study.exact_coverage import GRID, exact_minimum
from debandit.tables import Column, markdown

SLOW = {"ts_postdiff"}  # its probabilities take minutes for 100 rounds
UNKNOWN = ("ucb_tuned", "kl_ucb", "successive_elimination", "thompson_variance", "exp3")
EXACT = f"""## Two Bernoulli arms, exactly

The lowest coverage of an arm over all pairs of true probabilities from {", ".join(map(str, GRID))}, given that the arm
was pulled, by enumerating everything that can happen (`exact_minimum` in `debandit.study.exact_coverage`), with 40
rounds and with 100. Behind it the arm's probability and the other's. A Wald interval that does not exist counts as a
miss. The rules
{", ".join(UNKNOWN)} do not say how likely their choices are, or look at more than totals, so nothing can be enumerated
for them; `ts_postdiff` is left out with 100 rounds because it would take too long.

"""


def main() -> None:
    """About four minutes."""
    here = Path(__file__).parent
    found = coverage_study(settings=50, experiments=2000, seed=1).run()
    for other in save(found.plot(), here / "figures" / "coverage")[1:]:  # the page shows the SVG
        other.unlink()
    rows = []
    for name in RULES:
        if name in UNKNOWN or name == "fixed_weights":
            continue
        for horizon in (40,) if name in SLOW else (40, 100):
            worst = exact_minimum(name, horizon)
            shown = {method: f"{c:.4f} ({p:g}, {q:g})" for method, (c, p, q) in worst.items()}
            rows.append({"rule": name, "rounds": horizon, **shown})
            print(name, horizon, shown, flush=True)
    columns = [Column("rule", "rule", "text"), Column("rounds", "rounds", "count")]
    columns += [Column(method, method, "text") for method in ("binary", "wald")]
    text = found.to_markdown().replace(
        "\n## By family", f"\n![{found.study.title}](figures/coverage.svg)\n\n## By family", 1
    )
    write_whole(here / "coverage.md", f"{text}\n{EXACT}{markdown(rows, columns, 4)}\n")


if __name__ == "__main__":
    main()
