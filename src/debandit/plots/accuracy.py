"""The bias that methods leave, and their error."""

from collections.abc import Iterator

import altair as alt
import pandas as pd

from debandit.plots.dots import Words, averages

WORDS = {
    "bias_index": Words("Bias that is left", "|bias| / RMSE of the naive mean", 0.0, 0.0),
    "rmse_ratio": Words("Error", "RMSE / RMSE of the naive mean", 1.0),
}


def lines(frame: pd.DataFrame) -> Iterator[alt.HConcatChart]:
    """A row for each group of settings."""
    return averages(frame, WORDS)
