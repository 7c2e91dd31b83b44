"""The command line. Commands import what they need when they run, so that --help answers at once."""

import csv
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from debandit.errors import DebanditError, InputError, printable, shorten
from debandit.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from debandit.policies import Policy
    from debandit.study import Study

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _WithListing(click.Command):
    """A command whose help ends with the rules and worlds there are."""

    worlds = "FITTED"

    def format_epilog(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        from debandit import worlds
        from debandit.policies import ADAPTERS, RULES, WRAPPERS
        from debandit.spec import listing

        shown = [
            ("Rules", RULES | ADAPTERS),
            ("Around a rule", WRAPPERS),
            *([("Worlds", getattr(worlds, self.worlds))] if self.worlds else []),
        ]
        for title, makers in shown:
            formatter.write(f"\n{title} (options with their defaults):\n{listing(makers)}\n")


class _WithGivenWorlds(_WithListing):
    worlds = "GIVEN"


class _WithRules(_WithListing):
    worlds = ""


def _read_runs(_context: click.Context, _option: click.Parameter, text: str) -> int | str:
    if text == "auto":
        return text
    if text.isdecimal():
        return int(text)
    raise click.BadParameter(f"{text!r} is neither 'auto' nor a whole number.")


def _read_pair(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        mean, sd = map(float, text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not two numbers with a comma between them.") from None
    return mean, sd


_seed = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same answer.")


def _workers(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say where the work is done."""
    for option in (
        click.option("--cluster", metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786."),
        click.option("--workers", type=click.IntRange(1), help="Run in so many processes of one thread each."),
        click.option("--threads", type=click.IntRange(1), help="Threads to use.  [default: all cores]"),
    ):
        command = option(command)
    return command


def _log_and_rule(command: Callable[..., None]) -> Callable[..., None]:
    """The log, its columns, and the rule that made it."""
    rule = click.option(
        "--policy", required=True, metavar="RULE", help="The rule that chose the arms, with its options."
    )
    batch = click.option(
        "--batch", metavar="COLUMN", help="Column of the batches; the rule is then written batched(RULE)."
    )
    return _log(batch(rule(command)))


def _log(command: Callable[..., None]) -> Callable[..., None]:
    """The log and its columns."""
    for option in (
        click.option(
            "--arms", metavar="A,B,...", help="All arms in the rule's order.  [default: order of first appearance]"
        ),
        click.option("--time", metavar="COLUMN", help="Column to sort by.  [default: rows are in the order of time]"),
        click.option("--reward", default="reward", show_default=True, metavar="COLUMN", help="Column of the rewards."),
        click.option("--arm", default="arm", show_default=True, metavar="COLUMN", help="Column of the arms."),
        click.argument("log", metavar="LOG.csv"),
    ):
        command = option(command)
    return command


_unseen = click.option(
    "--unseen", callback=_read_pair, metavar="MEAN,SD", help="World of the arms without a reward in the log."
)


@click.group(context_settings=SETTINGS)
@click.version_option(__version__, "-V", "--version", prog_name="debandit")
def commands() -> None:
    """Correct the biased arm means of a bandit experiment.

    \b
    debandit demo                                            see what it is about
    debandit check trial.csv --policy "ucb(c=1)"             did this rule make this log?
    debandit debias trial.csv --policy "ucb(c=1)"            correct your own
    debandit simulate --policy ucb --world "bernoulli(means=[0.3,0.6])" --horizon 100
    """


@commands.command(cls=_WithListing)
@_log_and_rule
@click.option(
    "--world",
    default="auto",
    show_default=True,
    metavar="WORLD",
    help="The bootstrap world; auto: jeffreys if all rewards are 0 or 1, else smoothed. The paper's is gaussian.",
)
@click.option(
    "--runs",
    callback=_read_runs,
    default="auto",
    show_default=True,
    metavar="auto|N",
    help="Simulated experiments.",
)
@_unseen
@click.option(
    "--interval",
    type=click.Choice(["auto", "pooled-t", "binary", "two-part", "wald", "none"]),
    default="auto",
    show_default=True,
    help="Of each arm's mean; auto looks at the rewards and says what it chose.",
)
@click.option("--level", default=0.95, show_default=True, type=float, help="Of confidence; 95 % is what was measured.")
@click.option(
    "--method",
    type=click.Choice(["bootstrap", "rao-blackwell"]),
    default="bootstrap",
    show_default=True,
    help="rao-blackwell: exactly unbiased, for rules without randomness.",
)
@click.option("--control", metavar="ARM", help="Compare every other arm with this one.")
@click.option("--force", is_flag=True, help="Go on although the rule cannot have made the log.")
@click.option("--json", "json_path", metavar="PATH", help="Write the whole result there, too.")
@_seed
@_workers
def debias(
    log: str,
    policy: str,
    arm: str,
    reward: str,
    time: str | None,
    arms: str | None,
    batch: str | None,
    world: str,
    runs: Any,
    unseen: tuple[float, float] | None,
    interval: str,
    level: float,
    method: Literal["bootstrap", "rao-blackwell"],
    control: str | None,
    force: bool,
    json_path: str | None,
    seed: int,
    threads: int | None,
    workers: int | None,
    cluster: str | None,
) -> None:
    """Correct the arm means of a logged experiment.

    The log is a CSV file with one row per round in the order of time. The rule is run again, many times, in a world
    built from the log, where the truth is known; the bias seen there is taken off the real means. A log that the rule
    cannot have made is refused.
    """
    from debandit.debiasing import debias as run
    from debandit.executors import chosen
    from debandit.files import check_target
    from debandit.readers import read_log
    from debandit.worlds import as_bootstrap

    rule, bootstrap = _rule(policy), as_bootstrap(world, "--world")
    data = read_log(log, arm=arm, reward=reward, time=time, arms=_labels(arms), batch=batch)
    if json_path is not None and check_target(json_path) == Path(os.path.realpath(log)):
        raise InputError("this is the log; the result would replace it", where="--json", remedy="Name another file.")
    with chosen(workers, cluster) as executor:
        result = run(
            data,
            rule,
            world=bootstrap,
            runs=runs,
            seed=seed,
            unseen=unseen,
            threads=threads,
            executor=executor,
            force=force,
            interval=interval,
            level=level,
            method=method,
            control=control,
        )
    click.echo(str(result))
    if json_path is not None:
        result.to_json(json_path)


@commands.command(cls=_WithRules)
@_log_and_rule
@_unseen
@_seed
@click.option("--threads", type=click.IntRange(1), help="Threads to use.  [default: all cores]")
@click.pass_context
def check(
    context: click.Context,
    log: str,
    policy: str,
    arm: str,
    reward: str,
    time: str | None,
    arms: str | None,
    batch: str | None,
    unseen: tuple[float, float] | None,
    seed: int,
    threads: int | None,
) -> None:
    """Did this rule make this log? Ends with the exit code 0 if it may have, with 1 if not.

    A correction with the wrong rule is worthless. Choices that the rule never makes are listed, the first one with the
    rule's scores; the choices of a randomised rule are tested. So are the rewards, for drift and dependence.
    """
    from debandit.checking import check as run
    from debandit.readers import read_log

    rule = _rule(policy)
    data = read_log(log, arm=arm, reward=reward, time=time, arms=_labels(arms), batch=batch)
    fit = run(data, rule, seed=seed, unseen=unseen, threads=threads)
    click.echo(str(fit))
    context.exit(0 if fit.fits else 1)


@commands.command()
@_log
def identify(log: str, arm: str, reward: str, time: str | None, arms: str | None) -> None:
    """Which built-in rule, with which options, explains a log best, and how sure one can be."""
    from debandit.identification import identify as run
    from debandit.readers import read_log

    click.echo(str(run(read_log(log, arm=arm, reward=reward, time=time, arms=_labels(arms)))))


@commands.command(cls=_WithGivenWorlds)
@click.option("--policy", required=True, metavar="RULE", help="The rule that chooses the arms, with its options.")
@click.option("--world", required=True, metavar="WORLD", help="Where rewards come from, with its options.")
@click.option("--horizon", required=True, type=click.IntRange(1), help="Rounds of one experiment.")
@click.option("--runs", default=100_000, show_default=True, type=click.IntRange(2), help="Simulated experiments.")
@_seed
@_workers
def simulate(
    policy: str,
    world: str,
    horizon: int,
    runs: int,
    seed: int,
    threads: int | None,
    workers: int | None,
    cluster: str | None,
) -> None:
    """Run a rule in a world that you describe, and see how biased its sample means are."""
    from debandit.executors import chosen
    from debandit.simulation import tally
    from debandit.tables import Column, decimals_for, render
    from debandit.worlds import as_world

    rule, place = _rule(policy), as_world(world, "--world")
    if place.means.ndim != 1:
        raise InputError("one world at a time, please: a list of numbers, not of lists", where="--world")
    with chosen(workers, cluster) as executor:
        total = tally(rule, place, horizon=horizon, runs=runs, seed=seed, threads=threads, executor=executor)
    rows = [
        {
            "arm": str(k + 1),
            "truth": mean,
            "pulls": total.pulls[0, k] / runs,
            "mean": mean + total.bias[0, k],
            "bias": total.bias[0, k],
            "bias_se": total.bias_se[0, k],
            "never_pulled": 1 - total.pulled[0, k] / runs,
        }
        for k, mean in enumerate(place.means)
    ]
    columns = [
        Column("arm", "arm", "text"),
        Column("truth", "true mean", "number"),
        Column("pulls", "pulls", "number"),
        Column("mean", "sample mean", "number"),
        Column("bias", "bias", "number"),
        Column("bias_se", "± MC s.e.", "number"),
        Column("never_pulled", "never pulled", "share"),
    ]
    click.echo(f"{rule} in the world {place.name}, {horizon:,} rounds, averages over {runs:,} runs, seed {seed}\n")
    click.echo(render(rows, columns, decimals_for(total.bias_se[0].tolist())))


@commands.command()
@click.option("--save", metavar="PATH", help="Only write the trial's log there, as trial.csv for example.")
@_seed
@click.option("--threads", type=click.IntRange(1), help="Threads to use.  [default: all cores]")
def demo(save: str | None, seed: int, threads: int | None) -> None:
    """A two-drug trial of 100 patients, start to end."""
    from debandit.demo import save_log, tell

    if save is None:
        tell(seed, threads)
    else:
        save_log(save)


@commands.command()
@click.argument("name", required=False)
@click.option("--save", metavar="PATH", help="Write its log there, as a CSV file.")
def datasets(name: str | None, save: str | None) -> None:
    """Real experiments to try things on: what there is, or more about one of them."""
    from debandit.datasets import ALL, find

    if name is None:
        if save is not None:
            raise click.UsageError("--save needs the name of a dataset.")
        for each in ALL.values():
            click.echo(f"{each.name:20} {each.description}")
    elif save is None:
        click.echo(str(find(name)))
    else:
        find(name).save(save)


@commands.command()
@click.argument("name", metavar="NAME | FILE.toml | list | new")
@click.argument("file", metavar="[FILE.toml]", required=False)
@click.option("-o", "--output", metavar="DIR", help="Where to keep results.  [default: debandit-out/NAME]")
@click.option("--experiments", type=click.IntRange(2), help="Simulated experiments per cell.  [default: the study's]")
@click.option("--runs", type=click.IntRange(2), help="Runs to debias each of them.  [default: the study's]")
@click.option("--seed", type=click.IntRange(0), help="Same seed, same answer.  [default: the study's]")
@click.option("--settings", type=click.IntRange(1), help="Of coverage: random settings of each family.  [default: 25]")
@click.option("--draw-only", is_flag=True, help="Only draw, from the rows that are there.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no table; only say what was written.")
@_workers
def study(
    name: str,
    file: str | None,
    output: str | None,
    experiments: int | None,
    runs: int | None,
    seed: int | None,
    settings: int | None,
    draw_only: bool,
    quiet: bool,
    threads: int | None,
    workers: int | None,
    cluster: str | None,
) -> None:
    """Run a simulation study: a table or figure of the paper, or your own TOML file.

    Finished work is kept in the output directory. A study that was stopped, however roughly, goes on where it was,
    and ends with the same numbers; what has changed in its file is computed again, and nothing else.

    \b
    debandit study list                  what there is
    debandit study figure3               rows, a table and a picture in debandit-out/figure3
    debandit study figure3 --draw-only   the picture again, from the rows
    debandit study paper                 everything in the paper
    debandit study new my.toml           a commented example to change
    debandit study my.toml -o out
    debandit study coverage              how often the intervals of debias cover the truth
    """
    from debandit.executors import chosen
    from debandit.study import PAPER, Study, shipped_names, write_example

    if (name == "new") != (file is not None):
        raise click.UsageError(
            "`debandit study new my.toml` names the file to write; other studies take no second name."
        )
    if name == "new":
        write_example(str(file))
        click.echo(f"wrote {file}; run it with: debandit study {file}")
        return
    if name == "list":
        for known in shipped_names():
            click.echo(f"{known:10} {Study.shipped(known).title}")
        click.echo(f"{'coverage':10} How often the intervals cover the truth")
        return
    if name == "coverage":
        _run_coverage(
            Path(output or "debandit-out/coverage"), settings or 25, experiments or 2000, seed or 0, threads, quiet
        )
        return
    if name == "paper":
        plans = {each: Study.shipped(each) for each in PAPER}
    else:
        plans = {name: Study.from_toml(name) if name.endswith(".toml") else Study.shipped(name)}
    folder = Path(output or Path("debandit-out") / Path(name).name.removesuffix(".toml"))
    with chosen(workers, cluster) as executor:
        for each, plan in plans.items():
            target = folder / each if len(plans) > 1 else folder
            changed = plan.with_settings(experiments=experiments, runs=runs, seed=seed)
            _run_study(changed, target, draw_only, quiet, threads, executor)


def _run_coverage(folder: Path, settings: int, experiments: int, seed: int, threads: int | None, quiet: bool) -> None:
    from debandit.study.coverage import coverage

    bar = not quiet and sys.stderr.isatty()
    found = coverage(settings=settings, experiments=experiments, seed=seed, threads=threads, progress=bar)
    if not quiet:
        click.echo(f"{found.what_was_done()}\n\n{found}\n")
    for path in found.save(folder):
        click.echo(f"wrote {path}")


def _run_study(
    plan: "Study", folder: Path, draw_only: bool, quiet: bool, threads: int | None, executor: "Executor | None"
) -> None:
    from debandit.study import StudyRows

    written = []
    if draw_only:
        found = StudyRows.load(plan, folder)
    else:
        progress: Literal["bar", "lines", "none"] = "none" if quiet else "bar" if sys.stderr.isatty() else "lines"
        found = plan.run(folder, threads=threads, executor=executor, progress=progress)
        written = found.save(folder)
        if not quiet:
            click.echo(f"{printable(plan.title)}\n\n{found}\n")
    for path in [*written, *found.draw(folder)]:
        click.echo(f"wrote {path}")


def _rule(text: str) -> "Policy":
    from debandit.policies import as_policy, rules_in_files

    for file, _ in rules_in_files(text):
        click.echo(f"debandit runs the file {printable(shorten(file, 200))} for its rule", err=True)
    return as_policy(text, "--policy")


def _labels(text: str | None) -> list[str] | None:
    try:
        return None if text is None else [label.strip() for label in next(csv.reader([text]), [])]
    except csv.Error as error:
        raise InputError(f"cannot read the list of arms ({error})", where="--arms") from None


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {printable(str(message))}", err=True)


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
