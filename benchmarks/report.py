"""What the report of a long log costs: 100,000 rounds and 20 arms, in CPU seconds.

    python benchmarks/report.py

`debias` with --report takes turns with `debias` alone, and the fastest turn counts. The report simulates, too: it plays
the rule for the check of its pull counts, and in other worlds. That is timed on its own, and the rest has a limit.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import debandit as db
from debandit.checking.counts import compare_counts
from debandit.report.sensitivity import sensitivity
from debandit.tables import Column, render

POLICY, ARMS, ROUNDS, TURNS = "epsilon_greedy(epsilon=0.2)", 20, 100_000, 3
MOST_SECONDS = 3.0
OPTIONS = ("--policy", POLICY, "--runs", "256", "--interval", "none")
COLUMNS = (
    Column("what", "", "text"),
    Column("seconds", "CPU s", "number"),
    Column("limit", "at most", "number"),
    Column("verdict", "", "text"),
)


def write_log(path: Path) -> None:
    """One experiment with 0/1 rewards."""
    world = db.worlds.Bernoulli(np.linspace(0.05, 0.12, ARMS).tolist())
    log = db.simulate(POLICY, world, horizon=ROUNDS, runs=1, seed=1, paths=True).log(0).rounds
    assert log is not None
    names = np.array([f"variant-number-{k:05d}" for k in range(ARMS)])
    pd.DataFrame({"arm": names[log.arms], "reward": log.rewards.astype(int)}).to_csv(path, index=False)


def cost(*arguments: str) -> float:
    """CPU seconds of a command."""
    process = subprocess.Popen([sys.executable, "-m", "debandit", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {' '.join(arguments)}")
    return usage.ru_utime + usage.ru_stime


def simulating(log: db.ExperimentLog) -> float:
    """CPU seconds of what the report plays."""
    result = db.debias(log, POLICY, runs=256, interval="none")
    rule = db.policies.as_policy(POLICY).in_log(log)
    start = time.process_time()
    compare_counts(log, rule, 0, None, None)
    sensitivity(log, result)
    return time.process_time() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, page = Path(folder) / "log.csv", Path(folder) / "report.html"
        write_log(path)
        turns = [
            (cost("debias", str(path), *OPTIONS), cost("debias", str(path), *OPTIONS, "--report", str(page)))
            for _ in range(TURNS)
        ]
        alone, reported = map(min, zip(*turns, strict=True))
        log = db.read_log(path)
        played = min(simulating(log) for _ in range(TURNS))
        size = page.stat().st_size
    rest = reported - alone - played
    rows = [
        {"what": "debias, 256 runs, without intervals", "seconds": alone, "limit": None, "verdict": ""},
        {"what": "with --report, more", "seconds": reported - alone, "limit": None, "verdict": ""},
        {"what": "of that, simulating", "seconds": played, "limit": None, "verdict": ""},
        {
            "what": "of that, everything else",
            "seconds": rest,
            "limit": MOST_SECONDS,
            "verdict": "met" if rest <= MOST_SECONDS else "missed",
        },
    ]
    print(f"{ROUNDS:,} rounds, {ARMS} arms; {POLICY}; a page of {size / 1e6:.2f} MB\n")
    print(render(rows, COLUMNS, 2))


if __name__ == "__main__":
    main()
