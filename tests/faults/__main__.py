"""Inject all faults and print what was survived: python -m faults [--times N] [--seed S] [--only TEXT]."""

import argparse
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

# each puts its faults on the list
from faults import ALL, Fault, Setting, caches, clusters, disks, outputs, serving, studies  # noqa: F401


def tried(fault: Fault, times: int, seed: int) -> tuple[str, bool]:
    """A row of the table, and whether all was survived."""
    count = survived = 0
    with tempfile.TemporaryDirectory(prefix="debandit-faults-") as folder:
        setting = Setting(Path(folder), times, random.Random(f"{seed} {fault.name}"))
        try:
            for count, wrong in enumerate(fault.tries(setting), 1):
                survived += not wrong
                if wrong:
                    print(f"{fault.name}, try {count}: {wrong}", file=sys.stderr, flush=True)
        except Exception:
            count += 1
            traceback.print_exc()
    notes = f" ({'; '.join(setting.notes)})" if setting.notes else ""
    return f"| {fault.name} | {count} | {survived} | {fault.survived}{notes} |", count == survived


def main() -> int:
    """The exit code: 1 if anything was not survived."""
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("--times", type=int, default=25, help="how often each process is killed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="faults whose names have this text")
    chosen = parser.parse_args()
    start, right = time.monotonic(), True
    print("| fault | tried | survived | that means |\n|---|---|---|---|", flush=True)
    for fault in ALL:
        if chosen.only in fault.name:
            row, fine = tried(fault, chosen.times, chosen.seed)
            right &= fine
            print(row, flush=True)
    print(f"{time.monotonic() - start:,.0f} s", file=sys.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
