"""The command line. Commands import what they need when they run, so that --help answers at once."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from debandit.cli.logs import check, compare, debias, describe, identify, report
from debandit.cli.simulations import datasets, demo, plan, presets, simulate, study
from debandit.errors import DebanditError, printable, shorten
from debandit.version import __version__

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=SETTINGS)
@click.version_option(__version__, "-V", "--version", prog_name="debandit")
def commands() -> None:
    """Correct the biased arm means of a bandit experiment.

    \b
    debandit demo                                            see what it is about
    debandit describe trial.csv                              what is in my log?
    debandit check trial.csv --policy "ucb(c=1)"             did this rule make this log?
    debandit debias trial.csv --policy "ucb(c=1)"            correct your own
    debandit debias trial.csv --policy ucb --report a.html   a page for people, with pictures
    debandit compare trial.csv --policy "ucb(c=1)"           all methods side by side
    debandit simulate --policy ucb --world "bernoulli(means=[0.3,0.6])" --horizon 100
    """


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {printable(str(message))}", err=True)


for _command in (describe, debias, report, compare, check, identify, simulate, plan, demo, datasets, presets, study):
    commands.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 refused, 2 bad input, 130 interrupted."""
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a label must not fail to print because a terminal lacks a letter
            stream.reconfigure(errors="replace")
    try:
        code = commands.main(arguments, prog_name="debandit", standalone_mode=False)
        sys.stdout.flush()
        return code or 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        for line in text.getvalue().rstrip("\n").split("\n"):
            click.echo(printable(shorten(line, 2000)), err=True)
        return error.exit_code
    except DebanditError as error:
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except MemoryError:
        click.echo("error: not enough memory\n  Ask for fewer arms, rounds or runs.", err=True)
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:  # the reader of our output has gone, as in `debandit ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        click.echo(f"error: {printable(shorten(str(error), 2000))}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
