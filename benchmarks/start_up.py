"""CPU seconds of the first answer: with an empty cache, with another kind of rule, and again with everything kept.

    python benchmarks/start_up.py [--repeat 3]

Every command is a process of its own. CPU seconds, because a busy machine takes longer by the clock.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from debandit.tables import Column, render

DEBIAS = ("debias", "trial.csv", "--arm", "drug", "--reward", "response", "--policy")
COMMANDS = (  # in this order: the second finds what all kinds of rules share
    ("first debias, empty cache", (*DEBIAS, "ucb"), 10.0),
    ("another kind of rule", (*DEBIAS, "softmax(temperature=1)"), 6.0),
    ("the first again", (*DEBIAS, "ucb"), 1.1),
    ("--help", ("--help",), None),
)
COLUMNS = (
    Column("command", "command", "text"),
    Column("seconds", "CPU s", "number"),
    Column("target", "at most", "number"),
    Column("verdict", "", "text"),
)


def cpu_seconds(arguments: tuple[str, ...], folder: Path) -> float:
    """What one command takes, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "DEBANDIT_CACHE_DIR": str(folder / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    command = [sys.executable, "-m", "debandit", *arguments]
    subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the first answer.")
    parser.add_argument("--repeat", type=int, default=3, help="how often; the least counts")
    times: dict[str, list[float]] = {name: [] for name, _, _ in COMMANDS}
    for _ in range(parser.parse_args().repeat):
        with tempfile.TemporaryDirectory() as folder:
            cpu_seconds(("demo", "--save", "trial.csv"), Path(folder))
            for name, arguments, _ in COMMANDS:
                times[name].append(cpu_seconds(arguments, Path(folder)))
    rows = [
        {
            "command": name,
            "seconds": min(times[name]),
            "target": target,
            "verdict": "" if target is None else "met" if min(times[name]) <= target else "missed",
        }
        for name, _, target in COMMANDS
    ]
    print(render(rows, COLUMNS, 2))


if __name__ == "__main__":
    main()
