"""Draws the figures of compare.md, studies.md and method.md: the trial, the study rivals, and the trial many times."""

import dataclasses
from pathlib import Path

import debandit as db
from debandit.plots import save_as
from debandit.study import Bins, Cell
from debandit.study.methods import DEFAULT

FIGURES = Path(__file__).parents[1] / "figures"
TRIAL = Path(db.__file__).parent / "data" / "two_drugs.csv"
MANY = db.Study(
    "The same trial, many times",
    (
        Cell(
            label="UCB, 100 patients; drug A (arm 1) is truly worth 1.5, drug B (arm 2) 1",
            policy=db.UCB(c=1.0),
            world=db.worlds.Normal([1.5, 1.0], [1.0, 1.0]),
            horizon=100,
            experiments=4000,
            runs=400,
            methods=("naive", DEFAULT),
            histogram=Bins(-1.5, 2.5, 48),
        ),
    ),
    seed=1,
    figure="histograms",
)


def main() -> None:
    """Write figures/compare.svg, rivals.svg and those of the method."""
    log = db.read_log(TRIAL, arm="drug", reward="response")
    db.compare(log, "ucb(c=1)", seed=1).save_plot(FIGURES / "compare.svg")
    save_as(db.Study.shipped("rivals").run().plot(), FIGURES / "rivals.svg")
    draw_method(log)


def draw_method(log: db.ExperimentLog) -> None:
    """The bias, where the bootstrap sees it, and what the correction does."""
    found = MANY.run(progress="none")
    naive = tuple(row for row in found.rows if row["method"] == "naive")
    save_as(dataclasses.replace(found, rows=naive).plot(), FIGURES / "method-bias.svg")
    db.debias(log, db.UCB(c=1.0), seed=1).plot(FIGURES / "method-bootstrap.svg")
    save_as(found.plot(), FIGURES / "method-correction.svg")


if __name__ == "__main__":
    main()
