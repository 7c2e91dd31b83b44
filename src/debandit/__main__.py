"""The entry point of `debandit` and of `python -m debandit`."""

import sys


def entry() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from debandit.cli import main
    except KeyboardInterrupt:  # pressed while Python was still importing
        sys.exit(130)
    sys.exit(main())


if __name__ == "__main__":
    entry()
