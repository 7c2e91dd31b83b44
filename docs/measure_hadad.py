"""Writes hadad.md and its figure beside this file, from the study hadad."""

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
WORDS = """@WORDS@"""


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
    return "–" if row is None or not row["n"] else f"{row['value']:.3f}".replace("0.", ".", 1)


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
    here = Path(__file__).parent
    found = Study.shipped("hadad").run(kept)
    save_as(found.plot(), here / "figures" / "hadad.svg")
    write_whole(here / "hadad.md", WORDS.format(done=found.what_was_done(), tables=tables(found)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
