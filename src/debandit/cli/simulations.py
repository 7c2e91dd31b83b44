"""Commands that simulate experiments, or show existing ones."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from debandit.cli.options import Whole, WithGivenWorlds, policy_of, rule_files, say_what_runs, settings, where_to_work
from debandit.cli.printing import printed_as, show, take_all
from debandit.errors import InputError, printable, with_few_sizes
from debandit.files import known
from debandit.tables import Column, Part, Table, decimals_for, wrapped

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from debandit.study import Study

_AVERAGES = (
    Column("arm", "arm", "text"),
    Column("truth", "true mean", "number"),
    Column("pulls", "pulls", "average"),
    Column("mean", "sample mean", "number"),
    Column("bias", "bias", "number"),
    Column("bias_se", "± MC s.e.", "number"),
    Column("never_pulled", "never pulled", "share"),
)
MEASURED = {  # over a random population
    "accuracy": "How much bias the default leaves, and how far off it is",
    "coverage": "How often the intervals cover the truth",
}


@click.command(cls=WithGivenWorlds, short_help="Show how biased the means are in a world that you describe.")
@click.option("--policy", required=True, metavar="RULE", help="The rule that chooses the arms, with its options.")
@click.option("--world", required=True, metavar="WORLD", help="Where rewards come from, with its options.")
@click.option("--horizon", required=True, type=Whole(1), help="Rounds of one experiment.")
@click.option("--runs", default=100_000, show_default=True, type=Whole(2), help="Simulated experiments.")
@settings("seed")
@where_to_work
@printed_as
def simulate(
    policy: str,
    world: str,
    horizon: int,
    runs: int,
    seed: int,
    threads: int | None,
    workers: int | None,
    cluster: str | None,
    form: str,
    json_path: str | None,
) -> None:
    """Run a rule in a world that you describe, and show how biased its sample means are."""
    from debandit.executors import chosen
    from debandit.files import check_targets
    from debandit.simulation import tally
    from debandit.worlds import as_world

    chooser, place = policy_of(policy), as_world(world, "--world")
    if place.means.ndim != 1:
        raise InputError("give one world at a time: a list of numbers, not of lists", where="--world")
    check_targets({"--json": json_path}, rule_files(policy))
    with chosen(workers, cluster) as executor:
        total = tally(chooser, place, horizon=horizon, runs=runs, seed=seed, threads=threads, executor=executor)
    per_arm = {
        "truth": place.means,
        "pulls": total.pull_totals[0] / runs,
        "mean": place.means + total.bias[0],
        "bias": total.bias[0],
        "bias_se": total.bias_se[0],
        "never_pulled": 1 - total.pulled[0] / runs,
    }
    values = zip(*(column.tolist() for column in per_arm.values()), strict=True)
    rows = [{"arm": str(k + 1), **known(dict(zip(per_arm, row, strict=True)))} for k, row in enumerate(values)]
    given = {"policy": str(chooser), "world": place.name, "horizon": horizon, "runs": runs, "seed": seed}
    show(Averages(given, rows), form, json_path)


class Averages(NamedTuple):
    """What simulated experiments are like on average."""

    given: dict[str, Any]
    averages: list[dict[str, Any]]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per arm."""
        return self.averages

    def parts(self) -> list[Part]:
        """The pieces of what is printed."""
        rule, world, horizon, runs, seed = self.given.values()
        title = (
            f"{with_few_sizes(rule)} in the world {world}, {horizon:,} rounds, averages over {runs:,} runs, seed {seed}"
        )
        errors = [row["bias_se"] or 0.0 for row in self.averages]
        return [Part("title", title), Part("table", Table(self.averages, _AVERAGES, decimals_for(errors)))]

    def document(self) -> dict[str, Any]:
        """Everything, as a JSON file has it."""
        return {"schema": "debandit.simulation", "schema_version": 1, **self.given, "arms": self.averages}


@click.command(cls=WithGivenWorlds, short_help="Say what to expect of an experiment before it runs.")
@click.option(
    "--policy", "policies", required=True, multiple=True, metavar="RULE", help="A rule. Give several to compare them."
)
@click.option("--world", required=True, metavar="WORLD", help="Where rewards come from, with its options.")
@click.option(
    "--horizon",
    "horizons",
    required=True,
    multiple=True,
    type=Whole(1),
    help="Rounds of one experiment. Give several to compare them.",
)
@click.option("--control", default=1, show_default=True, type=Whole(1), help="The arm to compare with.")
@click.option("--experiments", default=100, show_default=True, type=Whole(2), help="Simulated experiments to debias.")
@click.option("--runs", default=200, show_default=True, type=Whole(2), help="Runs to debias each of them.")
@click.option("--plot", "plot_path", metavar="PATH", help="Draw the plan to this file: .svg, .png, .pdf or .html.")
@settings("level", "seed", "threads")
@printed_as
def plan(
    policies: tuple[str, ...],
    world: str,
    horizons: tuple[int, ...],
    plot_path: str | None,
    form: str,
    json_path: str | None,
    **options: Any,
) -> None:
    """Plan an experiment: what would a rule cost, and how well would you know the arms?

    The plan has the expected pulls and the regret, the bias of each mean before and after correction, the width and
    the coverage of the intervals, the power of the p-value, and how often the best arm wins. Give several rules or
    horizons to put them side by side.
    """
    from debandit.files import check_targets
    from debandit.forecasting import plan as run
    from debandit.plots import checked_picture
    from debandit.worlds import as_world

    if plot_path is not None:
        checked_picture(plot_path, "--plot")
    check_targets({"--json": json_path, "--plot": plot_path}, rule_files(*policies))
    rules = [policy_of(policy) for policy in policies]
    found = run(rules, as_world(world, "--world"), horizon=horizons, **options)
    take_all([lambda: show(found, form, json_path), *([lambda: found.plot(plot_path)] if plot_path else [])])


@click.command()
@click.option("--save", metavar="PATH", help="Only write the log of the trial to this file, such as trial.csv.")
@settings("seed", "threads")
def demo(save: str | None, seed: int, threads: int | None) -> None:
    """Show a two-drug trial of 100 patients, from start to end."""
    from debandit.demo import save_log, tell

    if save is None:
        tell(seed, threads)
    else:
        save_log(save)


@click.command(short_help="List the real experiments that come with debandit.")
@click.argument("name", required=False)
@click.option("--save", metavar="PATH", help="Write the log to this CSV file.")
def datasets(name: str | None, save: str | None) -> None:
    """List the real experiments that come with debandit, or describe one of them."""
    from debandit.datasets import ALL, find

    if name is None:
        if save is not None:
            raise click.UsageError("--save needs the name of a data set.")
        for each in ALL.values():
            click.echo(wrapped(f"{each.name:20} {each.description}", indent=" " * 21))
    elif save is None:
        click.echo(str(find(name)))
    else:
        find(name).save(save)


@click.command(short_help="List the rules of experimentation platforms.")
@click.argument("name", required=False)
def presets(name: str | None) -> None:
    """List the rules of experimentation platforms, or show all that is known about one of them."""
    from debandit.policies.presets import PREFIX, find
    from debandit.policies.presets import presets as known

    if name is not None:
        click.echo(str(find(name.removeprefix(PREFIX))))
        return
    for each in known().values():
        click.echo(f"{PREFIX + each.name:22} {each.title}")


@click.command(short_help="Run a simulation study, of the paper or of your own.")
@click.argument("name", metavar="NAME | FILE.toml | list | new")
@click.argument("file", metavar="[FILE.toml]", required=False)
@click.option("-o", "--output", metavar="DIR", help="The directory for the results.  [default: debandit-out/NAME]")
@click.option("--experiments", type=Whole(2), help="Simulated experiments per cell.  [default: the study's]")
@click.option("--runs", type=Whole(2), help="Runs to debias each experiment.  [default: the study's]")
@click.option("--seed", type=Whole(0), help="Same seed, same answer.  [default: the study's]")
@click.option(
    "--settings",
    type=Whole(1),
    help="For accuracy and coverage: the number of random settings of each family.  [default: 40 for accuracy, 25 for "
    "coverage]",
)
@click.option(
    "--population",
    type=click.Choice(["small", "long", "equal", "web", "web-equal", "web-ucb", "web-drift"]),
    help="For coverage: 60 to 300 rounds (small), up to 5,000 (long), equal arms, or 20,000 users and more (web), also "
    "with equal arms, under UCB, or on days that are better than others for all arms (web-drift).  [default: small]",
)
@click.option(
    "--level",
    type=click.Choice(["0.8", "0.9", "0.95", "0.99"]),
    help="For coverage: the level of the intervals.  [default: 0.95]",
)
@click.option(
    "--interval",
    type=click.Choice(["auto", "simulated"]),
    help="For coverage: also debias every experiment, with this interval, and measure all that debias says. Slow.",
)
@click.option("--draw-only", is_flag=True, help="Only draw the pictures, from the rows of an earlier run.")
@click.option("-q", "--quiet", is_flag=True, help="Print neither progress nor table, only what was written.")
@where_to_work
def study(
    name: str,
    file: str | None,
    output: str | None,
    experiments: int | None,
    runs: int | None,
    seed: int | None,
    settings: int | None,
    population: str | None,
    level: str | None,
    interval: str | None,
    draw_only: bool,
    quiet: bool,
    threads: int | None,
    workers: int | None,
    cluster: str | None,
) -> None:
    """Run a simulation study: a table or figure of the paper, or your own TOML file.

    Finished work is kept in the output directory. If a study was stopped, even by kill -9, run it again: it goes on
    where it stopped, and ends with the same numbers. If its file has changed, only the cells that differ are computed
    again.

    \b
    debandit study list                  all studies
    debandit study figure3               rows, a table and a picture in debandit-out/figure3
    debandit study figure3 --draw-only   draw the picture again, from the rows
    debandit study paper                 everything in the paper
    debandit study new my.toml           a commented example to change
    debandit study my.toml -o out
    debandit study accuracy              how much bias debias leaves, in random settings
    debandit study coverage              how often its intervals cover the truth
    """
    from debandit.executors import chosen
    from debandit.study import Study, shipped_names, write_example

    if (name == "new") != (file is not None):
        raise click.UsageError("A file is named after `new` only, as in `debandit study new my.toml`.")
    if name == "new":
        write_example(str(file))
        click.echo(f"wrote {file}; run it with: debandit study {file}")
        return
    if name == "list":
        for known in shipped_names():
            click.echo(f"{known:10} {Study.shipped(known).title}")
        for known, title in MEASURED.items():
            click.echo(f"{known:10} {title}")
        return
    targets = _directories(name, output)
    asked = {"experiments": experiments, "runs": runs, "seed": seed}
    if name != "coverage" and (population or level or interval):
        raise click.UsageError("--population, --level and --interval are only for coverage.")
    if name in MEASURED:
        of_coverage = {"scale": population, "level": level and float(level), "interval": interval}
        plans = {name: _measured(name, asked | {"settings": settings} | of_coverage)}
    elif settings is not None:
        raise click.UsageError(f"--settings is only for {' and '.join(MEASURED)}.")
    else:
        plans = {
            each: (
                Study.from_toml(each, say_what_runs) if each.endswith(".toml") else Study.shipped(each)
            ).with_settings(**asked)
            for each in targets
        }
    with chosen(workers, cluster) as executor:
        for each, plan in plans.items():
            _run_study(plan, targets[each], draw_only, quiet, threads, executor)


def _directories(name: str, output: str | None) -> dict[str, Path]:
    """The directory of each study that the name stands for, in which there is room for its files."""
    from debandit.study import PAPER
    from debandit.study.rows import check_folder

    own = Path(name).name.removesuffix(".toml")
    if output is None and own in ("", ".", ".."):
        raise click.UsageError(f"{name!r} is no name for a directory. Say with -o where to keep the results.")
    folder = Path(output or Path("debandit-out") / own)
    found = {each: folder / each for each in PAPER} if name == "paper" else {name: folder}
    for directory in found.values():
        check_folder(directory)
    return found


def _measured(name: str, asked: dict[str, Any]) -> "Study":
    """The study over a random population, with the options that were given."""
    from debandit.study.accuracy import accuracy_study
    from debandit.study.coverage import coverage_study

    given: dict[str, Any] = {option: value for option, value in asked.items() if value is not None}
    if name == "accuracy":
        return accuracy_study(**given)
    if "runs" in given and "interval" not in given:
        raise click.UsageError("--runs needs --interval: without it, coverage measures intervals that need no runs.")
    return coverage_study(**given)


def _run_study(
    plan: "Study", folder: Path, draw_only: bool, quiet: bool, threads: int | None, executor: "Executor | None"
) -> None:
    written = []
    if draw_only:
        found = plan.found.load(plan, folder)
    else:
        progress: Literal["bar", "lines", "none"] = "none" if quiet else "bar" if sys.stderr.isatty() else "lines"
        found = plan.run(folder, threads=threads, executor=executor, progress=progress)
        written = found.save(folder)
        if not quiet:
            click.echo(f"{printable(plan.title)}\n\n{found}\n")
    for path in [*written, *found.draw(folder)]:
        click.echo(f"wrote {path}")
