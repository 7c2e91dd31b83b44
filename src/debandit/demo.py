"""The story of the paper's introduction, on a trial that was simulated so that its truth is known."""

from importlib.resources import as_file, files
from pathlib import Path

import click
import numpy as np

from debandit.debiasing import debias, debias_all
from debandit.files import write_new
from debandit.policies import UCB
from debandit.readers import read_log
from debandit.simulation import simulate
from debandit.tables import Column, render
from debandit.worlds import Normal

TRUTH = Normal(means=[1.5, 1.0], sds=[1.0, 1.0])
TRIALS = 1000
LOG = files("debandit") / "data" / "two_drugs.csv"


def save_log(path: str | Path) -> None:
    """Copy the embedded trial to where it can be tried out; never over another file."""
    write_new(path, LOG.read_text(encoding="utf-8"))


def tell(seed: int, threads: int | None) -> None:
    """Print one corrected trial, then the average of many."""
    policy = UCB(c=1.0)
    with as_file(LOG) as path:
        log = read_log(path, arm="drug", reward="response")
    shares = " and ".join(f"{n} got drug {label}" for label, n in zip(log.labels, log.pulls, strict=True))
    click.echo(
        f"A trial of {log.horizon} patients and two drugs, allocated by the rule UCB: {shares}.\n"
        "The rule looked at the responses, so the sample means are biased, most of all that of the drug\n"
        "that it gave up on. debandit runs the rule again in worlds built from the trial, and takes off\n"
        "the bias that it sees there.\n"
    )
    click.echo(f"{debias(log, policy, seed=seed, threads=threads)}\n")
    click.echo(
        "This trial was simulated: drug A has the true mean 1.5, drug B 1.0. It was picked out of 400\n"
        "because its means are close to what they are on average, so it proves nothing. Here is the average\n"
        f"over {TRIALS:,} trials that nobody picked, each corrected without knowing the truth:\n"
    )
    click.echo(_averages(policy, log.labels, seed, threads))
    click.echo(
        "\nThe correction removes most of the bias, not all: the bootstrap world is only as good as the data.\n"
        "The trial as a file:  debandit demo --save trial.csv\n"
        "Correct it, or yours: debandit debias trial.csv --arm drug --reward response --policy ucb\n"
        "All options:          debandit debias --help"
    )


def _averages(policy: UCB, labels: tuple[str, ...], seed: int, threads: int | None) -> str:
    runs = simulate(policy, TRUTH, horizon=100, runs=TRIALS, seed=seed, paths=True, threads=threads)
    results = debias_all([runs.log(i) for i in range(TRIALS)], policy, runs=1000, seed=seed, threads=threads)
    naive, corrected = (np.array([getattr(r, name) for r in results]) for name in ("naive", "corrected"))
    rows = [
        {
            "arm": label,
            "truth": TRUTH.means[k],
            "naive": naive[:, k].mean(),
            "naive_se": naive[:, k].std(ddof=1) / np.sqrt(TRIALS),
            "corrected": corrected[:, k].mean(),
            "corrected_se": corrected[:, k].std(ddof=1) / np.sqrt(TRIALS),
        }
        for k, label in enumerate(labels)
    ]
    columns = [
        Column("arm", "drug", "text"),
        Column("truth", "true mean", "number"),
        Column("naive", "raw, average", "number"),
        Column("naive_se", "± s.e.", "number"),
        Column("corrected", "corrected, average", "number"),
        Column("corrected_se", "± s.e.", "number"),
    ]
    return render(rows, columns, 3)
