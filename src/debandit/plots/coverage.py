"""How often intervals cover the truth."""

from collections.abc import Iterator

import altair as alt
import pandas as pd

from debandit.plots.dots import Words, averages

WORDS = {
    "coverage": Words("Coverage", "mean over arms", 0.95, 0.0, 1.0),
    "low_share": Words("Arms covered too seldom", "share of the arms below 93 %", 0.0, 0.0, 1.0),
}


def lines(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A row for each group of settings."""
    return averages(frame, WORDS)
