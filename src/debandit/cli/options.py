"""Options that several commands have."""

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from debandit.errors import InputError, printable, shorten

if TYPE_CHECKING:
    from debandit.policies import Policy


class WithListing(click.Command):
    """A command whose help ends with the rules and worlds there are."""

    worlds = "FITTED"

    def format_epilog(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """After the options."""
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


class WithGivenWorlds(WithListing):
    """With worlds that one describes."""

    worlds = "GIVEN"


class WithRules(WithListing):
    """With rules only."""

    worlds = ""


def read_runs(_context: click.Context, _option: click.Parameter, text: str) -> int | str:
    """A number of runs, or auto."""
    if text == "auto":
        return text
    if text.isdecimal():
        return int(text)
    raise click.BadParameter(f"{text!r} is neither 'auto' nor a whole number.")


def read_pair(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[float, float] | None:
    """MEAN,SD."""
    if text is None:
        return None
    try:
        mean, sd = map(float, text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not two numbers with a comma between them.") from None
    return mean, sd


seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same answer."
)


def where_to_work(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say where the work is done."""
    for option in (
        click.option("--cluster", metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786."),
        click.option("--workers", type=click.IntRange(1), help="Run in so many processes of one thread each."),
        click.option("--threads", type=click.IntRange(1), help="Threads to use.  [default: all cores]"),
    ):
        command = option(command)
    return command


def log_and_rule(command: Callable[..., None]) -> Callable[..., None]:
    """The log, its columns, and the rule that made it."""
    rule = click.option(
        "--policy", required=True, metavar="RULE", help="The rule that chose the arms, with its options."
    )
    batch = click.option(
        "--batch", metavar="COLUMN", help="Column of the batches; the rule is then written batched(RULE)."
    )
    return log_file(batch(rule(command)))


def log_file(command: Callable[..., None]) -> Callable[..., None]:
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


unseen_option = click.option(
    "--unseen", callback=read_pair, metavar="MEAN,SD", help="World of the arms without a reward in the log."
)


def rule_of(text: str) -> "Policy":
    """The rule that --policy asks for. If a file has it, the file is run, and that is said."""
    from debandit.policies import as_policy, rules_in_files

    for file, _ in rules_in_files(text):
        click.echo(f"debandit runs the file {printable(shorten(file, 200))} for its rule", err=True)
    return as_policy(text, "--policy")


def labels_of(text: str | None) -> list[str] | None:
    """The arms that --arms lists."""
    try:
        return None if text is None else [label.strip() for label in next(csv.reader([text]), [])]
    except csv.Error as error:
        raise InputError(f"cannot read the list of arms ({error})", where="--arms") from None
