"""Commands that look at a log."""

import os
from pathlib import Path
from typing import Any, Literal

import click

from debandit.cli.options import (
    WithListing,
    WithRules,
    labels_of,
    log_and_rule,
    log_file,
    read_runs,
    rule_of,
    seed_option,
    unseen_option,
    where_to_work,
)
from debandit.errors import InputError


@click.command(cls=WithListing)
@log_and_rule
@click.option(
    "--world",
    default="auto",
    show_default=True,
    metavar="WORLD",
    help="The bootstrap world; auto: jeffreys if all rewards are 0 or 1, else smoothed. The paper's is gaussian.",
)
@click.option(
    "--runs",
    callback=read_runs,
    default="auto",
    show_default=True,
    metavar="auto|N",
    help="Simulated experiments.",
)
@unseen_option
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
@click.option(
    "--control-variates/--no-control-variates",
    default=True,
    show_default=True,
    help="Take Monte-Carlo noise out of the biases; without, they are plain averages over the runs.",
)
@click.option("--force", is_flag=True, help="Go on although the rule cannot have made the log.")
@click.option("--json", "json_path", metavar="PATH", help="Write the whole result there, too.")
@seed_option
@where_to_work
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
    control_variates: bool,
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

    rule, bootstrap = rule_of(policy), as_bootstrap(world, "--world")
    data = read_log(log, arm=arm, reward=reward, time=time, arms=labels_of(arms), batch=batch)
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
            control_variates=control_variates,
        )
    click.echo(str(result))
    if json_path is not None:
        result.to_json(json_path)


@click.command(cls=WithRules)
@log_and_rule
@unseen_option
@seed_option
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

    rule = rule_of(policy)
    data = read_log(log, arm=arm, reward=reward, time=time, arms=labels_of(arms), batch=batch)
    fit = run(data, rule, seed=seed, unseen=unseen, threads=threads)
    click.echo(str(fit))
    context.exit(0 if fit.fits else 1)


@click.command()
@log_file
def identify(log: str, arm: str, reward: str, time: str | None, arms: str | None) -> None:
    """Which built-in rule, with which options, explains a log best, and how sure one can be."""
    from debandit.identification import identify as run
    from debandit.readers import read_log

    click.echo(str(run(read_log(log, arm=arm, reward=reward, time=time, arms=labels_of(arms)))))
