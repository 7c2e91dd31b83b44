"""Where the CPU time of a study of 10^9 simulated rounds goes: inside the compiled kernels, or around them.

    python benchmarks/study.py

A study spends its time in the kernels if they take at least 90 % of what it costs once the kernel is loaded. Loading
(imports, numba, the kernel from the cache) costs one to two seconds whatever the size of the study and is shown beside.
The clock is the threads' own CPU time around every call of a kernel, so other programs do not disturb it much.
"""

import tempfile
import threading
import time
from pathlib import Path

_START = time.process_time()

import debandit as db  # noqa: E402
from debandit.engine import rounds  # noqa: E402
from debandit.study import Cell  # noqa: E402
from debandit.tables import Column, render  # noqa: E402

TARGET, HORIZON, RUNS, EXPERIMENTS = 0.9, 100, 1000, 5000  # two bootstraps: 10^9 rounds
NORMAL2 = db.worlds.Normal([1.0, 1.5], [1.0, 1.0])
NORMAL4 = db.worlds.Normal([2.0, 2.5, 3.0, 3.5], [2.0, 1.0, 1.0, 2.0])
CELLS = {
    "UCB, 2 arms": (db.UCB(), NORMAL2),
    "epsilon-greedy, 2 arms": (db.EpsilonGreedy(0.05), NORMAL2),
    "Thompson, 2 arms": (db.ThompsonSampling(initial_pulls=1), NORMAL2),
    "UCB, 4 arms": (db.UCB(), NORMAL4),
    "Thompson, 4 arms": (db.ThompsonSampling(initial_pulls=1), NORMAL4),
}
COLUMNS = [
    Column("name", "study of 10^9 rounds", "text"),
    Column("kernels", "kernels (CPU s)", "number"),
    Column("rest", "rest (CPU s)", "number"),
    Column("share", "share", "share"),
    Column("with_start", "with start-up", "share"),
    Column("target", "target", "text"),
]


class KernelClock:
    """Stands in for `load` and adds up what its kernels take."""

    def __init__(self) -> None:
        self.seconds, self._lock, self._load = 0.0, threading.Lock(), rounds.load

    def __call__(self, name: str):
        kernel = self._load(name)

        def timed(*arguments) -> None:
            start = time.thread_time()
            kernel(*arguments)
            with self._lock:
                self.seconds += time.thread_time() - start

        return timed


def main() -> None:
    clock = rounds.load = KernelClock()
    run_study("UCB, 2 arms", 2)
    start_up = time.process_time() - _START
    rows = []
    for name in CELLS:
        clock.seconds, start = 0.0, time.process_time()
        run_study(name, EXPERIMENTS)
        total = time.process_time() - start
        share = clock.seconds / total
        met = "met" if share >= TARGET else "MISSED"
        rest, whole = total - clock.seconds, clock.seconds / (total + start_up)
        rows.append(
            {"name": name, "kernels": clock.seconds, "rest": rest, "share": share, "with_start": whole, "target": met}
        )
    print(f"start-up: {start_up:.2f} CPU s\n")
    print(render(rows, COLUMNS, 2))


def run_study(name: str, experiments: int) -> None:
    policy, world = CELLS[name]
    cell = Cell(name, policy, world, HORIZON, ("naive", "gaussian", "efron"), experiments=experiments, runs=RUNS)
    with tempfile.TemporaryDirectory() as folder:
        db.Study(name, (cell,)).run(Path(folder)).save(folder)


if __name__ == "__main__":
    main()
