"""Writes the table and the figure of drift.md, from the study weekends; the words around them are written by hand."""

import re
import sys
from pathlib import Path

from debandit import Study
from debandit.files import write_whole
from debandit.plots import save_as
from debandit.study import StudyRows

BEGIN, END = "<!-- weekends -->\n", "<!-- end of weekends -->"
SHOWN = {  # what is judged: title, method, arm
    "arm 1, naive": ("naive", 1),
    "arm 1, quoted": ("quoted", 1),
    "arm 1, corrected": ("auto", 1),
    "arm 1, period-weighted": ("batch_weighted", 1),
    "arm 2, naive": ("naive", 2),
    "arm 2, period-weighted": ("batch_weighted", 2),
    "difference, naive (Welch)": ("naive_difference", 2),
    "difference, period-weighted": ("batch_weighted_difference", 2),
}


def table(found: StudyRows) -> str:
    """Bias, RMSE and coverage in each cell of the study, in per cent; bias and RMSE of the first arm's mean."""
    heads = [f"{floor(cell.label)}, weekends + {cell.point['effect']}" for cell in found.study.cells]
    lines = [f"| bias, RMSE, coverage | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    values = {(row["setting"], row["method"], row["quantity"], row["arm"]): row["value"] for row in found.rows}
    for title, (method, arm) in SHOWN.items():
        parts = []
        for cell in found.study.cells:
            unit = 100 / cell.world.means[0]
            bias, rmse = (unit * values[cell.label, method, key, arm] for key in ("bias", "rmse"))
            covered = values.get((cell.label, method, "coverage", arm))
            said = "" if covered is None else f", {100 * covered:.0f}"
            parts.append(f"{round(bias, 1) + 0.0:.1f}, {rmse:.1f}{said}")
        lines.append(f"| {title} | {' | '.join(parts)} |")
    return "\n".join(lines)


def floor(label: str) -> str:
    """Which of the two rules it is, in short."""
    return "no floor" if label.startswith("Without") else "floor"


def errors(found: StudyRows) -> str:
    """The largest standard errors of what the table shows."""
    truths, largest = {cell.label: cell.world.means[0] for cell in found.study.cells}, dict[str, float]()
    for row in found.rows:
        if (row["method"], row["arm"]) in SHOWN.values() and row["quantity"] in ("bias", "rmse", "coverage"):
            unit = 1.0 if row["quantity"] == "coverage" else truths[row["setting"]]
            key = f"{row['quantity']} ({floor(row['setting'])})"
            largest[key] = max(largest.get(key, 0.0), 100 * row["se"] / unit)
    return f"Standard errors are at most: {', '.join(f'{key} {error:.1f}' for key, error in largest.items())}."


def main(kept: Path | None) -> None:
    """About ten minutes on one core. What was finished in the directory `kept` is not done again."""
    here = Path(__file__).parents[1]
    found = Study.shipped("weekends").run(kept)
    save_as(found.plot(), here / "figures" / "weekends.svg")
    page = (here / "drift.md").read_text(encoding="utf-8")
    part = f"{BEGIN}{found.what_was_done()}\n\n{table(found)}\n\n{errors(found)}\n{END}"
    write_whole(here / "drift.md", re.sub(f"{BEGIN}.*{END}", lambda _: part, page, flags=re.DOTALL))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
