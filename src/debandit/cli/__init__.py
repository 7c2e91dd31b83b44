"""The command line. Commands import what they need when they run, so that --help answers at once."""

import io
import warnings
from collections.abc import Sequence
from typing import Any

import click

from debandit.cli.logs import check, compare, debias, describe, identify, report
from debandit.cli.page import app
from debandit.cli.rulebook import rules
from debandit.cli.simulations import datasets, demo, plan, presets, simulate, study
from debandit.errors import DebanditError, printable, shorten
from debandit.version import __version__

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=SETTINGS)
@click.version_option(__version__, "-V", "--version", prog_name="debandit")
def commands() -> None:
    """Correct the biased arm means of a bandit experiment.

    \b
    debandit demo                                            see an example first
    debandit describe trial.csv                              see what is in your log
    debandit check trial.csv --policy "ucb(c=1)"             could this rule have made it?
    debandit debias trial.csv --policy "ucb(c=1)"            correct the means
    debandit debias trial.csv --policy ucb --report a.html   write a report for others to read
    debandit app                                             do all this in the browser
    debandit compare trial.csv --policy "ucb(c=1)"           see what other methods say
    debandit simulate --policy ucb --world "bernoulli(means=[0.3,0.6])" --horizon 100
    """


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {printable(str(message))}", err=True)


for _command in (
    *(app, describe, debias, report, compare, check, identify),
    *(simulate, plan, study, demo, rules, presets, datasets),
):
    commands.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 refused, 2 bad input, 130 interrupted."""
    warnings.showwarning = _show_warning
    try:
        return commands.main(arguments, prog_name="debandit", standalone_mode=False) or 0
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
    except OSError as error:
        click.echo(f"error: {printable(shorten(str(error), 2000))}", err=True)
        return 2
    except SystemExit:  # of code that is not ours
        click.echo("error: the rule ended the program\n  It must not call sys.exit(); raise an error.", err=True)
        return 2
