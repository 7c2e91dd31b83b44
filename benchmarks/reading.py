"""What reading large logs costs: ten million rows, four arms, fifty batches, from the file to the printed result.

    python benchmarks/reading.py [--rows N]

CPU seconds and peak memory of whole processes. Reading alone takes turns with pyarrow's own reading of the same file,
and the fastest turn counts. Missed targets are only printed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import debandit as db
from debandit.tables import Column, render

POLICY, BATCHES = "batched(epsilon_greedy(epsilon=0.4))", 50
TRUTH = db.worlds.Normal([0.0, 0.1, 0.2, 0.3], [1.0, 1.0, 1.0, 1.0])
NAMES = np.array(["control", "blue", "green", "large"])
GIB, TURNS = 2**30, 3
MOST_SECONDS = {"parquet": 4.0, "csv": 12.0}  # of debias
MOST_RATIO = 1.5  # reading alone, to pyarrow
FLAT = 1.1  # memory, to that for a tenth of the rows, where only totals are needed
BYTES_A_ROW = 40  # where every round is needed

DEBIAS = ("-m", "debandit", "debias", "{path}", "--policy", POLICY, "--interval", "none")
ROUNDS = "import debandit as db; db.read_log({path!r}, arm='arm', reward='reward', time='none')"
PYARROW = {
    "parquet": "import pyarrow.parquet as p; p.read_table({path!r}, columns=['arm', 'reward'])",
    "csv": "import pyarrow.csv as c; "
    "c.read_csv({path!r}, convert_options=c.ConvertOptions(include_columns=['arm', 'reward']))",
}
TABLE = (
    Column("what", "", "text"),
    Column("value", "", "number"),
    Column("limit", "at most", "number"),
    Column("verdict", "", "text"),
)


def write_tables(folder: Path, rows: int) -> dict[str, str]:
    """One experiment in both formats."""
    policy = f"{POLICY[:-1]}, size={rows // BATCHES})"
    log = db.simulate(policy, TRUTH, horizon=rows, runs=1, seed=1, paths=True).log(0).rounds
    assert log is not None
    table = pa.table(
        {
            "arm": NAMES[log.arms],
            "reward": log.rewards.round(4),
            "day": np.repeat(np.arange(1, BATCHES + 1), rows // BATCHES),
        }
    )
    paths = {kind: folder / f"{rows}.{kind}" for kind in MOST_SECONDS}
    pa.parquet.write_table(table, paths["parquet"])
    pa.csv.write_csv(table, paths["csv"])
    return {kind: str(path) for kind, path in paths.items()}


def cost(*arguments: str) -> tuple[float, float]:
    """CPU seconds and peak GiB of a Python process."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {' '.join(arguments)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / GIB


def best(*arguments: str) -> tuple[float, float]:
    """The least of a few turns."""
    seconds, peaks = zip(*(cost(*arguments) for _ in range(TURNS)), strict=True)
    return min(seconds), min(peaks)


def row(what: str, value: float, limit: float | None) -> dict[str, Any]:
    verdict = "" if limit is None else "met" if value <= limit else "missed"
    return {"what": what, "value": value, "limit": limit, "verdict": verdict}


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and weigh the reading of large logs.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    many = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        # elsewhere, because the peak of a process is at least that of the one that started it
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            large, small = pool.map(write_tables, [Path(folder)] * 2, [many, many // 10])
        rows = []
        nothing = best("-c", "import debandit as db, debandit.readers.reading")[0]
        for kind, most in MOST_SECONDS.items():
            (seconds, peak), (_, less) = (
                best(*(part.format(path=paths[kind]) for part in DEBIAS)) for paths in (large, small)
            )
            rows += [row(f"{kind}: debias, CPU s", seconds, most), row(f"{kind}: debias, peak GiB", peak, 1.0)]
            rows.append(row(f"{kind}: the same, to a tenth of the rows", peak / less, FLAT))
            ours, theirs = [], []
            for _ in range(TURNS):
                ours.append(cost("-c", ROUNDS.format(path=large[kind])))
                theirs.append(cost("-c", PYARROW[kind].format(path=large[kind])))
            own, arrow = min(ours)[0] - nothing, min(theirs)[0]
            rows += [row(f"{kind}: reading alone, CPU s", own, None), row(f"{kind}: pyarrow, CPU s", arrow, None)]
            rows.append(row(f"{kind}: ratio", own / arrow, MOST_RATIO))
            grown = min(peak for _, peak in ours) - cost("-c", ROUNDS.format(path=small[kind]))[1]
            rows.append(row(f"{kind}: all rounds, bytes a row", grown * GIB / (many - many // 10), BYTES_A_ROW))
    print(f"{many:,} rows, 4 arms, {BATCHES} batches; {POLICY}\n")
    print(render(rows, TABLE, 2))


if __name__ == "__main__":
    main()
