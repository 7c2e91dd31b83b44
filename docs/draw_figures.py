"""Draws the figures of compare.md and studies.md beside this file, from the trial and from the study rivals."""

from pathlib import Path

import debandit as db
from debandit.plots import save_as


def main() -> None:
    """Write figures/compare.svg and figures/rivals.svg."""
    figures = Path(__file__).parent / "figures"
    trial = Path(db.__file__).parent / "data" / "two_drugs.csv"
    log = db.read_log(trial, arm="drug", reward="response")
    db.compare(log, "ucb(c=1)", seed=1).save_plot(figures / "compare.svg")
    save_as(db.Study.shipped("rivals").run().plot(), figures / "rivals.svg")


if __name__ == "__main__":
    main()
