"""Commands that look at a log."""

import os
import shlex
from pathlib import Path
from typing import Any

import click

from debandit.cli.options import (
    WithListing,
    WithRules,
    log_and_policy,
    log_file,
    log_of,
    policy_of,
    settings,
    where_to_work,
)
from debandit.errors import InputError, printable
from debandit.settings import AVAILABLE, MISSING

Columns = dict[str, Any]


@click.command(cls=WithListing)
@log_and_policy
@settings("world", "runs", "unseen", "interval", "level", "method", "control", "control_variates", "seed", "force")
@where_to_work
@click.option("--json", "json_path", metavar="PATH", help="Write the whole result there, too.")
def debias(
    log: tuple[str, ...],
    columns: Columns,
    policy: str,
    world: str,
    workers: int | None,
    cluster: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Correct the arm means of a logged experiment.

    The log is a table with one row per round in the order of time: CSV, TSV, Parquet, Arrow or JSON lines, also
    compressed; - is standard input. The rule is run again, many times, in a world
    built from the log, where the truth is known; the bias seen there is taken off the real means. A log that the rule
    cannot have made is refused.
    """
    from debandit.debiasing import debias as run
    from debandit.executors import chosen
    from debandit.files import check_target
    from debandit.worlds import as_bootstrap

    made_by, bootstrap = policy_of(policy), as_bootstrap(world, "--world")
    data = log_of(log, columns, batched=made_by.needs_batches)
    if json_path is not None and check_target(json_path) in [Path(os.path.realpath(path)) for path in log]:
        raise InputError("this is the log; the result would replace it", where="--json", remedy="Name another file.")
    with chosen(workers, cluster) as executor:
        result = run(data, made_by, world=bootstrap, executor=executor, **options)
    click.echo(str(result))
    if json_path is not None:
        result.to_json(json_path)


@click.command(cls=WithRules)
@log_and_policy
@settings("unseen", "seed", "threads")
def check(log: tuple[str, ...], columns: Columns, policy: str, **options: Any) -> None:
    """Did this rule make this log? Ends with the exit code 0 if it may have, with 1 if not.

    A correction with the wrong rule is worthless. Choices that the rule never makes are listed, the first one with the
    rule's scores; the choices of a randomised rule are tested. So are the rewards, for drift and dependence.
    """
    from debandit.checking import check as run

    made_by = policy_of(policy)
    fit = run(log_of(log, columns, batched=made_by.needs_batches), made_by, **options)
    click.echo(str(fit))
    click.get_current_context().exit(0 if fit.fits else 1)


@click.command()
@log_file
@click.option("--batch", metavar="COLUMN", help="Column of the batches.")
def describe(log: tuple[str, ...], columns: Columns) -> None:
    """Say what is in a log: per arm, over time, and what to type next."""
    from debandit.describing import Description

    found = Description(log_of(log, columns, batched=True))
    click.echo(str(found))
    told = {name: ",".join(value) if name == "arms" else value for name, value in columns.items() if value}
    for name, usual in (("missing", MISSING[0]), ("available", AVAILABLE[0])):
        if told[name] == usual:
            del told[name]
    words = {name: f"--{name} {shlex.quote(value)}" for name, value in told.items()}
    rule = "batched(RULE)" if found.log.batch_sizes else "RULE"
    paths = " ".join(shlex.quote(path) for path in log)
    click.echo("\nNext, with the rule that chose the arms (debandit debias --help lists them):")
    click.echo(printable(f'  debandit debias {" ".join([paths, *words.values()])} --policy "{rule}"'))
    if found.log.rounds is not None and found.log.batch_sizes is None:
        click.echo(printable(f"If you do not know it: debandit identify {' '.join([paths, *words.values()])}"))


@click.command()
@log_file
def identify(log: tuple[str, ...], columns: Columns) -> None:
    """Say which built-in rule, with which options, explains a log best, and how sure one can be."""
    from debandit.identification import identify as run

    click.echo(str(run(log_of(log, columns))))
