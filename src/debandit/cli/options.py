"""Options that several commands have; those of `debias` are made from their declarations in `settings`."""

import csv
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debandit.checks import checked_choice, checked_whole
from debandit.errors import InputError, printable, shorten
from debandit.settings import AVAILABLE, MISSING, OPTIONS, PERIODS

if TYPE_CHECKING:
    from debandit.datasets import Dataset
    from debandit.log import ExperimentLog
    from debandit.policies import Policy

Command = Callable[..., None]


class Whole(click.IntRange):
    """A whole number, which the help calls N."""

    name = "whole number"

    def get_metavar(self, *_: Any, **__: Any) -> str:
        """What stands for it."""
        return "N"


class WithListing(click.Command):
    """A command whose help ends with the existing rules and worlds."""

    worlds = "FITTED"

    def format_epilog(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what comes after the options."""
        from debandit import worlds
        from debandit.policies import ADAPTERS, ALIASES, RULES, WRAPPERS
        from debandit.spec import listing

        shown = [
            ("Rules", RULES | ALIASES | ADAPTERS),
            ("Around a rule", WRAPPERS),
            *([("Worlds", getattr(worlds, self.worlds))] if self.worlds else []),
        ]
        for title, makers in shown:
            formatter.write(f"\n{title} (options with their defaults):\n{listing(makers)}\n")


class WithGivenWorlds(WithListing):
    """A command whose help lists the worlds that one describes."""

    worlds = "GIVEN"


class WithRules(WithListing):
    """A command whose help lists rules only."""

    worlds = ""


def _read_runs(_context: click.Context, _option: click.Parameter, text: str) -> int | str:
    if text == "auto":
        return text
    if text.isdecimal() and len(text) < 20:  # Python refuses to read thousands of digits
        return int(text)
    raise click.BadParameter(f"{text!r} is neither 'auto' nor a whole number of fewer than 20 digits.")


def read_pair(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[float, float] | None:
    """Two numbers with a comma between them."""
    if text is None:
        return None
    try:
        mean, sd = map(float, text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not two numbers with a comma between them.") from None
    return mean, sd


_AS_TEXT: dict[str, dict[str, Any]] = {  # what the declarations do not say
    "world": {"metavar": "WORLD"},
    "runs": {"metavar": "auto|N", "callback": _read_runs},
    "unseen": {"metavar": "MEAN,SD", "callback": read_pair},
    "control": {"metavar": "ARM"},
    "threads": {"type": Whole(1)},
}


def settings(*names: str) -> Callable[[Command], Command]:
    """The options of `debias` with these names, as they are declared."""

    def with_options(command: Command) -> Command:
        for name in reversed(names):
            command = _setting(name)(command)
        return command

    return with_options


def _setting(name: str) -> Callable[[Command], Command]:
    field, flag = OPTIONS[name], f"--{name.replace('_', '-')}"
    check, limits, text = (field.metadata[key] for key in ("check", "limits", "text"))
    details: dict[str, Any] = {"default": field.default, "show_default": field.default is not None}
    if field.default is True:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    elif field.default is False:
        details = {"is_flag": True, "default": False}
    elif check is checked_choice:
        details["type"] = click.Choice(limits[0])
    elif check is checked_whole:
        details["type"] = Whole(limits[0])
    return click.option(flag, help=text, **details, **_AS_TEXT.get(name, {}))


def where_to_work(command: Command) -> Command:
    """The options that say where the work is done."""
    cluster = click.option(
        "--cluster", metavar="ADDRESS", help="Use the Dask cluster at this address, such as tcp://host:8786."
    )
    workers = click.option("--workers", type=Whole(1), help="Use this many processes, with one thread each.")
    return settings("threads")(workers(cluster(command)))


_COUNTS = {  # the columns of a table of counts, which has no rewards
    "pulls": "In a table of counts: the column with the number of users.  [default: guessed from the names]",
    "successes": "The column with the number of successes.  [default: guessed from the names]",
    "mean": "Instead of successes: the column with the mean reward ...",
    "sd": "... and the one with the standard deviation (divisor n - 1).",
    "sum": "Or the column with the sum of the rewards ...",
    "squares": "... and the one with the sum of their squares.",
}


batch_by = click.option(
    "--batch-by", type=click.Choice(PERIODS), help="Make batches from the column of the time, in UTC."
)


def log_and_policy(command: Command) -> Command:
    """The log, its columns, and the policy that made it."""
    policy = click.option(
        "--policy",
        metavar="RULE",
        help="The rule that chose the arms, with its options, or the rule of a platform, such as preset:growthbook "
        "(debandit presets lists them). A data set has its own rule; any other LOG needs this option.",
    )
    return log_in_batches("write the rule as batched(RULE).  [default: guessed if it is written so]")(policy(command))


def log_in_batches(words: str) -> Callable[[Command], Command]:
    """The log, its columns and its batches, of which there is more to say."""
    batch = click.option("--batch", metavar="COLUMN", help=f"The column of the batches; {words}")
    return lambda command: log_file(batch(batch_by(command)))


def log_file(command: Command) -> Command:
    """The log and its columns, which the command gets as `log`, paths, and `columns`, the options of `read`."""

    @functools.wraps(command)
    def with_columns(**given: Any) -> None:
        names = (
            "arm",
            "reward",
            "time",
            "arms",
            "batch",
            "batch_by",
            "missing",
            "available",
            "metrics",
            "query",
            *_COUNTS,
        )
        columns = {name: given.pop(name) for name in names if name in given}
        log = _log_or_database(given.pop("log"), given.pop("database"), columns["query"])
        command(log=log, columns=columns | {"arms": _labels_of(columns["arms"])}, **given)

    for option in (
        *(click.option(f"--{name}", metavar="COLUMN", help=text) for name, text in reversed(_COUNTS.items())),
        click.option(
            "--available",
            type=click.Choice(AVAILABLE),
            default=AVAILABLE[0],
            show_default=True,
            help="In a table of batches: were all arms available in every batch (all), or do the rows show it (auto)?",
        ),
        click.option(
            "--arms",
            metavar="A,B,...",
            help="All arms, in the order that the rule used.  [default: order of first appearance]",
        ),
        click.option(
            "--missing",
            type=click.Choice(MISSING),
            default=MISSING[0],
            show_default=True,
            help="What to do with rows in which a value is missing.",
        ),
        click.option("--query", metavar="SQL", help="The SELECT to send to the database; nothing is written to it."),
        click.option(
            "--db",
            "database",
            metavar="URI",
            help="A database instead of LOG: sqlite:///file.db, duckdb:///file.duckdb or "
            "postgresql://user@host/database.",
        ),
        click.option(
            "--metric",
            "metrics",
            metavar="COLUMN",
            multiple=True,
            help="Another outcome to correct besides the reward. May be given several times.",
        ),
        click.option(
            "--time",
            metavar="COLUMN",
            help="The column of the time, to sort the rows by; none: they are in order.  [default: guessed from the "
            "names, and only to see that the rows are in order]",
        ),
        click.option(
            "--reward", metavar="COLUMN", help="The column of the rewards.  [default: guessed from the names]"
        ),
        click.option("--arm", metavar="COLUMN", help="The column of the arms.  [default: guessed from the names]"),
        click.argument("log", metavar="LOG...", nargs=-1),
    ):
        with_columns = option(with_columns)
    return with_columns


def _log_or_database(paths: tuple[str, ...], database: str | None, query: str | None) -> tuple[str, ...]:
    if (database is None) != (query is None):
        raise click.UsageError("'--db' and '--query' go together: where the database is, and what to ask it.")
    if database is None and not paths:
        raise click.UsageError("Missing argument 'LOG...': a file, or '--db' and '--query'.")
    if database is not None and paths:
        raise click.UsageError("Give either LOG or '--db' and '--query'.")
    return paths if database is None else (database,)


def log_of(paths: tuple[str, ...], columns: dict[str, Any], *, absences: bool = True, **how: Any) -> "ExperimentLog":
    """The log in these files, or in the database, read as the arguments say. What was guessed is said."""
    from debandit.readers.reading import read

    data = dataset_of(paths, columns)
    if data is not None:
        return data.log
    log = read(list(paths) if columns["query"] is None else paths[0], **columns, **how).log
    for note in (note for note in log.notes if absences or note not in log.absences):
        click.echo(printable(note), err=True)
    return log


def without_passwords(paths: tuple[str, ...], columns: dict[str, Any]) -> tuple[str, ...]:
    """What to call the log where others read it."""
    from debandit.readers.databases import address_of

    return paths if columns["query"] is None else (address_of(paths[0]).shown,)


def code_to_read(paths: tuple[str, ...], columns: dict[str, Any], *, batched: bool) -> str:
    """The Python code that reads the same log."""
    from debandit.readers.written import as_code

    data = dataset_of(paths, columns)
    if data is not None:
        return f"db.datasets.{data.name}.log"
    return as_code(paths[0] if len(paths) == 1 else list(paths), columns, batched=batched)


def dataset_of(paths: tuple[str, ...], columns: dict[str, Any]) -> "Dataset | None":
    """The data set of this name, if that is what LOG is; a file of the same name comes first."""
    if len(paths) != 1 or columns["query"] is not None or not paths[0].isidentifier() or Path(paths[0]).exists():
        return None
    from debandit.datasets import ALL
    from debandit.readers.written import named

    data = ALL.get(paths[0].lower())
    if data is not None and (said := named(columns)):
        what = f"{data.name} is a data set of debandit, whose columns are known"
        where = f"--{next(iter(said)).replace('_', '-')}"
        raise InputError(what, where=where, remedy="Leave out the options of columns.")
    return data


def policy_for(text: str | None, paths: tuple[str, ...], columns: dict[str, Any]) -> "Policy":
    """The policy that --policy asks for, or that of the data set; nobody can guess it, so a complaint says more."""
    data = dataset_of(paths, columns) if text is None else None
    if data is not None:
        return data.policy
    if text is None:
        raise click.UsageError(
            "Missing option '--policy': the rule that chose the arms, such as ucb or batched(thompson).\n"
            "  'debandit describe LOG' says what is in the log, 'debandit identify LOG' which rule explains it."
        )
    return policy_of(text)


def policy_of(text: str) -> "Policy":
    """The policy that --policy asks for. If it is in a file, the file is run, and a line says so."""
    from debandit.policies import as_policy

    for file in rule_files(text):
        say_what_runs(file)
    return as_policy(text, "--policy")


def say_what_runs(file: str) -> None:
    """Nobody's code is run in silence."""
    click.echo(f"debandit runs the file {printable(shorten(file, 200))} for its rule", err=True)


def rule_files(*policies: str | None) -> list[str]:
    """The Python files that rules come from."""
    from debandit.policies import rules_in_files

    return [file for text in policies if text for file, _ in rules_in_files(text)]


def _labels_of(text: str | None) -> list[str] | None:
    """The arms that --arms lists."""
    try:
        return None if text is None else [label.strip() for label in next(csv.reader([text]), [])]
    except csv.Error as error:
        raise InputError(f"cannot read the list of arms ({error})", where="--arms") from None
