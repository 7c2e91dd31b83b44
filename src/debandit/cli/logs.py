"""Commands that look at a log."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debandit.cli.options import (
    WithListing,
    WithRules,
    batch_by,
    code_to_read,
    dataset_of,
    log_and_policy,
    log_file,
    log_in_batches,
    log_of,
    policy_for,
    read_pair,
    rule_files,
    settings,
    where_to_work,
    without_passwords,
)
from debandit.cli.printing import FORMATS, printed_as, show, take_all
from debandit.errors import printable
from debandit.settings import checked_options

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
@click.option("--report", "report_path", metavar="PATH", help="Write a report for others to read to this .html file.")
@click.option("--plot", "plot_path", metavar="PATH", help="Draw the result to this file: .svg, .png, .pdf or .html.")
@click.option("--details", is_flag=True, help="Also say how the numbers were made: runs, Monte-Carlo errors, coverage.")
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

    The log is a table with one row per round, in the order of time, or a table of counts, with one row per arm or one
    per batch and arm. LOG is a file (CSV, TSV, Parquet, Arrow or JSON lines, also compressed), several files, a pattern
    in quotes such as 'logs/*.csv', or - for standard input; --db and --query read from a database instead. The name of
    a data set (debandit datasets) works, too. Columns that are not named are guessed, and the guess is printed.

    The rule is run again, thousands of times, in a world that is built from the log and whose true means are known.
    The bias found there is subtracted from the real means. A log that the rule cannot have made is refused.
    """
    from debandit.debiasing import debias as run
    from debandit.debiasing.cases import totals_enough
    from debandit.executors import chosen
    from debandit.plots import checked_picture
    from debandit.worlds import as_bootstrap

    made_by, bootstrap = policy_for(policy, log, columns), as_bootstrap(world, "--world")
    checked, _ = checked_options({"world": bootstrap, **options})
    data = log_of(log, columns, batched=made_by.needs_batches, enough=totals_enough(made_by, checked))
    _check_targets({"--json": json_path, "--plot": plot_path, "--report": report_path}, log, columns, policy)
    if plot_path is not None:
        checked_picture(plot_path, "--plot")
    with chosen(workers, cluster) as executor:
        result = run(data, made_by, world=bootstrap, executor=executor, **options)
    steps: list[Callable[[], object]] = [
        lambda: show(result, form, json_path, result.parts(with_details=details)),
    ]
    if plot_path is not None:
        steps.append(lambda: result.plot(plot_path))
    if report_path is not None:
        shown = without_passwords(log, columns)
        words = [word.replace(log[0], shown[0]) for word in sys.argv[1:]] if shown != log else sys.argv[1:]
        about = {
            "source": " ".join(shown) or "the log",
            "read": code_to_read(shown, columns, batched=made_by.needs_batches),
            "command": shlex.join(["debandit", *words]),
        }
        steps.append(lambda: _write_report(report_path, result, data, made_by, about, options))
    take_all(steps)


def _write_report(
    path: str,
    result: "Debiased",
    log: "ExperimentLog",
    policy: "Policy",
    about: dict[str, str],
    options: dict[str, Any],
) -> None:
    """The report, with what the check says, and what other assumptions would give."""
    from debandit.checking import check as run
    from debandit.report import write_report
    from debandit.report.sensitivity import sensitivity

    threads = options["threads"]
    fit = run(log, policy, seed=options["seed"], unseen=options["unseen"], threads=threads)
    write_report(path, result, fit=fit, others=sensitivity(log, result, threads), **about)


@click.command(short_help="Write a report from a result that was saved.")
@click.argument("result", metavar="RESULT.json")
@click.option("-o", "--output", default="report.html", show_default=True, metavar="PATH", help="The file to write.")
def report(result: str, output: str) -> None:
    """Write a report for others to read from a result that was saved with --json.

    If you have the log, use debandit debias ... --report PATH: that report also says how well the rule fits, and what
    other assumptions would give.
    """
    from debandit.files import check_targets
    from debandit.report import write_report
    from debandit.result import Debiased

    check_targets({"--output": output}, [result])
    write_report(output, Debiased.from_json(result))
    click.echo(f"written to {printable(output)}")


@click.command(cls=WithListing)
@log_and_policy
@settings("world", "runs", "unseen", "interval", "level", "control", "control_variates", "seed", "force")
@click.option(
    "--support",
    metavar="LOW,HIGH",
    callback=read_pair,
    help="The lowest and the highest possible reward. A confidence sequence needs them unless rewards are 0/1.",
)
@where_to_work
@printed_as
@click.option("--plot", "plot_path", metavar="PATH", help="Draw the comparison to this file: .svg, .png or .pdf.")
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
    """Show our means beside those of other methods.

    The methods are naive, quoted and corrected means, Rao-Blackwell, IPW, AIPW, AW-AIPW, W-decorrelation,
    batch-weighted means and confidence sequences; with --control also differences, and batched OLS. You see what each
    method says about each arm, what it assumes, why it is not possible for this log, and which one is recommended, if
    that was measured. LOG and the options are those of debias.
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
    _check_targets({"--json": json_path, "--plot": plot_path}, log, columns, policy)
    with chosen(workers, cluster) as executor:
        found = run(data, made_by, world=bootstrap, executor=executor, **options)
    take_all([lambda: show(found, form, json_path), *([lambda: found.save_plot(plot_path)] if plot_path else [])])


@click.command(cls=WithRules)
@log_and_policy
@settings("unseen", "seed", "threads")
@printed_as
def check(
    log: tuple[str, ...], columns: Columns, policy: str | None, form: str, json_path: str | None, **options: Any
) -> None:
    """Check whether this rule may have made this log.

    A correction with the wrong rule is worthless. Choices that the rule never makes are listed, and the first of them
    is explained. The choices of a randomised rule are tested, and so are the rewards, for drift and dependence. The
    exit code is 0 if the rule may have made the log, and 1 if not.
    """
    from debandit.checking import check as run

    made_by = policy_for(policy, log, columns)
    data = log_of(log, columns, batched=made_by.needs_batches)
    _check_targets({"--json": json_path}, log, columns, policy)
    fit = run(data, made_by, **options)
    show(fit, form, json_path)
    click.get_current_context().exit(0 if fit.fits else 1)


@click.command(short_help="Show what is in a log, and what to type next.")
@log_file
@click.option("--batch", metavar="COLUMN", help="The column of the batches.")
@batch_by
@printed_as
def describe(log: tuple[str, ...], columns: Columns, form: str, json_path: str | None) -> None:
    """Show what is in a log: the arms, how they did over time, and what to type next."""
    from debandit.describing import describe as run
    from debandit.readers.written import as_options

    found = run(log_of(log, columns, absences=False, batched=True))
    _check_targets({"--json": json_path}, log, columns)
    show(found, form, json_path)
    if form != FORMATS[0]:
        return
    rule = "batched(RULE)" if found.log.batch_sizes else "RULE"
    words = f"{_typed(log, columns)} {shlex.join(as_options(columns))}".strip()
    click.echo("\nNext, with the rule that chose the arms (debandit rules lists them):")
    _echo_command(f'  debandit debias {words} --policy "{rule}"')
    if found.log.rounds is not None or found.log.batches is not None:
        _echo_command(f"If you do not know the rule: debandit identify {words}")


def _check_targets(
    targets: dict[str, str | None], log: tuple[str, ...], columns: Columns, policy: str | None = None
) -> None:
    """Refuse to write where nothing can be written, or over what is read, before any work is done."""
    from debandit.files import check_targets

    check_targets(targets, [*_files(log, columns), *rule_files(policy)])


def _files(log: tuple[str, ...], columns: Columns) -> list[Path]:
    """The files of the log."""
    from debandit.readers.databases import address_of
    from debandit.readers.sources import paths_of

    if columns["query"] is not None:
        return [Path(file) for file in [address_of(log[0]).file] if file]
    return [] if dataset_of(log, columns) else [path for each in log for path in paths_of(each)]


def _typed(log: tuple[str, ...], columns: Columns) -> str:
    """The log as one would type it again; an address without its password."""
    shown = without_passwords(log, columns)
    return " ".join(map(shlex.quote, shown if columns["query"] is None else ["--db", *shown]))


def _echo_command(text: str) -> None:
    click.echo("\n".join(map(printable, text.split("\n"))))  # a query may have several lines


@click.command(short_help="Say which built-in rule explains a log best.")
@log_in_batches("without one, the batches that its times suggest are tried, and some sizes.")
@printed_as
def identify(log: tuple[str, ...], columns: Columns, form: str, json_path: str | None) -> None:
    """Say which built-in rule, with which options, explains a log best, and how sure one can be."""
    from debandit.identification import identify as run

    data = log_of(log, columns, guess_batches=True)
    _check_targets({"--json": json_path}, log, columns)
    show(run(data), form, json_path)
