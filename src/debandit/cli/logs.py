"""Commands that look at a log."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debandit.cli.options import (
    WithListing,
    WithRules,
    batch_by,
    log_and_policy,
    log_file,
    log_of,
    policy_for,
    read_pair,
    settings,
    where_to_work,
)
from debandit.cli.printing import FORMATS, printed_as, show
from debandit.errors import InputError, printable
from debandit.settings import AVAILABLE, MISSING, checked_options

if TYPE_CHECKING:
    from debandit.log import ExperimentLog
    from debandit.policies import Policy
    from debandit.result import Debiased

Columns = dict[str, Any]


@click.command(cls=WithListing)
@log_and_policy
@settings(
    "world", "runs", "unseen", "interval", "level", "method", "control", "adjust", "control_variates", "seed", "force"
)
@where_to_work
@click.option("--report", "report_path", metavar="PATH", help="Write a page for people there: a file .html.")
@click.option("--plot", "plot_path", metavar="PATH", help="Draw the result there: a file .svg, .png, .pdf or .html.")
@click.option("--details", is_flag=True, help="Say how the numbers were made: runs, Monte-Carlo errors, coverage.")
@printed_as
def debias(
    log: tuple[str, ...],
    columns: Columns,
    policy: str | None,
    world: str,
    workers: int | None,
    cluster: str | None,
    details: bool,
    form: str,
    json_path: str | None,
    plot_path: str | None,
    report_path: str | None,
    **options: Any,
) -> None:
    """Correct the arm means of a logged experiment.

    The log is a table with one row per round in the order of time, or with counts: one row per arm, or per batch and
    arm. LOG is a file (CSV, TSV, Parquet, Arrow or JSON lines, also compressed), several files, a pattern in quotes
    such as 'logs/*.csv', or - for standard input; --db and --query ask a database instead. The name of a data set
    (debandit datasets) works, too. Columns that are not named are guessed, and the guess is printed.

    The rule is run again, many times, in a world built from the log, where the truth is known; the bias seen there is
    taken off the real means. A log that the rule cannot have made is refused.
    """
    from debandit.debiasing import debias as run
    from debandit.debiasing.cases import totals_enough
    from debandit.executors import chosen
    from debandit.plots import checked_picture
    from debandit.worlds import as_bootstrap

    made_by, bootstrap = policy_for(policy, log, columns), as_bootstrap(world, "--world")
    checked, _ = checked_options({"world": bootstrap, **options})
    data = log_of(log, columns, batched=made_by.needs_batches, enough=totals_enough(made_by, checked))
    _check_targets({"--json": json_path, "--plot": plot_path, "--report": report_path}, log, columns)
    if plot_path is not None:
        checked_picture(plot_path, "--plot")
    with chosen(workers, cluster) as executor:
        result = run(data, made_by, world=bootstrap, executor=executor, **options)
    show(result, form, json_path, result.parts(with_details=details))
    if plot_path is not None:
        result.plot(plot_path)
    if report_path is not None:
        _write_report(report_path, result, data, made_by, log, options)


def _write_report(
    path: str,
    result: "Debiased",
    log: "ExperimentLog",
    policy: "Policy",
    names: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    """The report, with what the check says, and what other assumptions would give."""
    from debandit.checking import check as run
    from debandit.report import write_report
    from debandit.report.sensitivity import sensitivity

    threads = options["threads"]
    fit = run(log, policy, seed=options["seed"], unseen=options["unseen"], threads=threads)
    others, typed = sensitivity(log, result, threads), shlex.join(["debandit", *sys.argv[1:]])
    write_report(path, result, fit=fit, others=others, source=" ".join(names) or "the log", command=typed)


@click.command()
@click.argument("result", metavar="RESULT.json")
@click.option("-o", "--output", default="report.html", show_default=True, metavar="PATH", help="Where to write it.")
def report(result: str, output: str) -> None:
    """Turn a result that was kept with --json into a page for people.

    With the log at hand, debandit debias ... --report PATH writes more: how well the rule fits, and what other
    assumptions would give.
    """
    from debandit.report import write_report
    from debandit.result import Debiased

    write_report(output, Debiased.from_json(result), source=result)
    click.echo(f"written to {printable(output)}")


@click.command(cls=WithListing)
@log_and_policy
@settings("world", "runs", "unseen", "interval", "level", "control", "control_variates", "seed", "force")
@click.option(
    "--support",
    metavar="LOW,HIGH",
    callback=read_pair,
    help="Between which every reward must lie; a confidence sequence needs it unless rewards are 0/1.",
)
@where_to_work
@printed_as
@click.option("--plot", "plot_path", metavar="PATH", help="Draw everything there: a file .svg, .png or .pdf.")
def compare(
    log: tuple[str, ...],
    columns: Columns,
    policy: str,
    world: str,
    workers: int | None,
    cluster: str | None,
    form: str,
    json_path: str | None,
    plot_path: str | None,
    **options: Any,
) -> None:
    """Put all methods side by side: debias and its rivals.

    For each arm what every method says of its mean: naive, quoted, corrected, Rao-Blackwell, IPW, AIPW, AW-AIPW,
    W-decorrelation, batch-weighted means, confidence sequences; with --control also differences, and batched OLS. It
    says what each assumes, why one is not possible for this log, and which one is recommended, where that was measured.
    The log and its options are those of debias.
    """
    from debandit.comparing import compare as run
    from debandit.executors import chosen
    from debandit.plots import checked_picture
    from debandit.worlds import as_bootstrap

    made_by, bootstrap = policy_for(policy, log, columns), as_bootstrap(world, "--world")
    given = {name: value for name, value in options.items() if name != "support"}
    checked_options({"world": bootstrap, **given})
    if plot_path is not None:
        checked_picture(plot_path, "--plot")
    data = log_of(log, columns, batched=made_by.needs_batches)
    _check_targets({"--json": json_path, "--plot": plot_path}, log, columns)
    with chosen(workers, cluster) as executor:
        found = run(data, made_by, world=bootstrap, executor=executor, **options)
    show(found, form, json_path)
    if plot_path is not None:
        found.save_plot(plot_path)


@click.command(cls=WithRules)
@log_and_policy
@settings("unseen", "seed", "threads")
@printed_as
def check(
    log: tuple[str, ...], columns: Columns, policy: str | None, form: str, json_path: str | None, **options: Any
) -> None:
    """Did this rule make this log? Ends with the exit code 0 if it may have, with 1 if not.

    A correction with the wrong rule is worthless. Choices that the rule never makes are listed, the first one with the
    rule's scores; the choices of a randomised rule are tested. So are the rewards, for drift and dependence.
    """
    from debandit.checking import check as run

    made_by = policy_for(policy, log, columns)
    data = log_of(log, columns, batched=made_by.needs_batches)
    _check_targets({"--json": json_path}, log, columns)
    fit = run(data, made_by, **options)
    show(fit, form, json_path)
    click.get_current_context().exit(0 if fit.fits else 1)


@click.command()
@log_file
@click.option("--batch", metavar="COLUMN", help="Column of the batches.")
@batch_by
@printed_as
def describe(log: tuple[str, ...], columns: Columns, form: str, json_path: str | None) -> None:
    """Say what is in a log: per arm, over time, and what to type next."""
    from debandit.describing import Description

    found = Description(log_of(log, columns, absences=False, batched=True))
    _check_targets({"--json": json_path}, log, columns)
    show(found, form, json_path)
    if form != FORMATS[0]:
        return
    rule = "batched(RULE)" if found.log.batch_sizes else "RULE"
    words = " ".join([_typed(log, columns), *_as_typed(columns)])
    click.echo("\nNext, with the rule that chose the arms (debandit debias --help lists them):")
    _echo_command(f'  debandit debias {words} --policy "{rule}"')
    if found.log.rounds is not None and found.log.batch_sizes is None:
        _echo_command(f"If you do not know it: debandit identify {words}")


def _check_targets(targets: dict[str, str | None], log: tuple[str, ...], columns: Columns) -> None:
    """Refuse to write where nothing can be written, or over the log, before any work is done."""
    from debandit.files import check_target

    for option, path in targets.items():
        if path is not None and check_target(path) in _files(log, columns):
            raise InputError("this is the log; the result would replace it", where=option, remedy="Name another file.")


def _files(log: tuple[str, ...], columns: Columns) -> list[Path]:
    """The files that are read, which no result may replace."""
    from debandit.readers.databases import address_of

    files = log if columns["query"] is None else [file for file in [address_of(log[0]).file] if file]
    return [Path(os.path.realpath(file)) for file in files]


def _typed(log: tuple[str, ...], columns: Columns) -> str:
    """The log as one would type it again; an address without its password."""
    from debandit.readers.databases import address_of

    return " ".join(map(shlex.quote, log if columns["query"] is None else ["--db", address_of(log[0]).shown]))


def _as_typed(columns: Columns) -> list[str]:
    """The options that name columns, as one types them."""
    usual = {"missing": MISSING[0], "available": AVAILABLE[0]}
    told = {name: value for name, value in columns.items() if value and value != usual.get(name)}
    metrics = [("metric", metric) for metric in told.pop("metrics", ())]
    arms = [("arms", ",".join(told.pop("arms")))] if "arms" in told else []
    return [f"--{name.replace('_', '-')} {shlex.quote(value)}" for name, value in [*told.items(), *arms, *metrics]]


def _echo_command(text: str) -> None:
    click.echo("\n".join(map(printable, text.split("\n"))))  # a query may have several lines


@click.command()
@log_file
@printed_as
def identify(log: tuple[str, ...], columns: Columns, form: str, json_path: str | None) -> None:
    """Say which built-in rule, with which options, explains a log best, and how sure one can be."""
    from debandit.identification import identify as run

    data = log_of(log, columns)
    _check_targets({"--json": json_path}, log, columns)
    show(run(data), form, json_path)
