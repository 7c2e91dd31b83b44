"""The work of a study, cut into pieces that can be done anywhere and in any order."""

from dataclasses import dataclass

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.engine.progress import without_progress
from debandit.errors import DebanditError, InputError
from debandit.simulation import simulate
from debandit.study.cell import Bins, Cell
from debandit.study.methods import measure
from debandit.study.summary import Series, Summary
from debandit.version import __version__

WITH_QUANTILES = ("squared_error", "ratio")


@dataclass(frozen=True)
class Chunk:
    """Some experiments of a cell: a small description that another process can be sent."""

    cell: Cell
    study_seed: int
    index: int
    experiments: int
    version: str = __version__


def run_chunk(chunk: Chunk, threads: int | None = 1) -> Summary:
    """Simulate the experiments, apply every method to each of them, and add up."""
    if chunk.version != __version__:
        what = f"this worker has debandit {__version__}, and the work comes from {chunk.version}"
        raise InputError(what, where="worker", remedy="Install the same version everywhere.")
    cell, seed = chunk.cell, chunk.cell.seed(chunk.study_seed, chunk.index)
    series: dict[str, dict[str, list[Series]]] = {}
    histograms: dict[str, Ints] = {}
    try:
        with without_progress():
            experiments = simulate(
                cell.policy,
                cell.world,
                horizon=cell.horizon,
                runs=chunk.experiments,
                seed=seed,
                paths=True,
                threads=threads,
            )
            for method in cell.methods:
                measured = measure(method, experiments, cell, seed, threads)
                if "estimate" in measured:
                    estimate = measured.pop("estimate")
                    error = estimate - cell.world.means
                    measured |= {"error": error, "squared_error": error**2}
                    if cell.histogram is not None:
                        histograms[method] = _counts(estimate, cell.histogram)
                series[method] = {
                    name: [Series.of(arm, quantiles=name in WITH_QUANTILES) for arm in values.T]
                    for name, values in measured.items()
                }
    except DebanditError as error:
        where = ", ".join(filter(None, (f"cell {cell.label!r}", error.where)))
        raise type(error)(error.what, where=where, remedy=error.remedy) from None
    return Summary(chunk.experiments, series, histograms)


def _counts(estimates: Floats, bins: Bins) -> Ints:
    """How many of each arm's estimates lie in each bin; those outside are not counted."""
    edges = np.linspace(bins.low, bins.high, bins.bins + 1)
    return np.stack([np.histogram(arm[np.isfinite(arm)], edges)[0] for arm in estimates.T])
