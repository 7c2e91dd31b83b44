"""The entry point of `debandit` and of `python -m debandit`."""

import gc
import sys


def entry() -> None:
    """Run the command line and leave with its exit code."""
    # looking for garbage takes a third of a short command: most of it at the end, when everything is given back anyway
    gc.set_threshold(100_000)
    try:
        from debandit.cli import main
        from debandit.cli.streams import forgive, unwritten
    except KeyboardInterrupt:  # pressed while Python was still importing
        sys.exit(130)
    forgive()
    code, lost = main(), unwritten()
    if "duckdb" not in sys.modules:  # which complains of objects that nobody took away
        gc.freeze()
    sys.exit(code or lost)


if __name__ == "__main__":
    entry()
