"""One chunk of runs, in this thread: the kernel is found, given its data, and its failures are explained."""

import numpy as np

from debandit.engine.batches import step
from debandit.engine.binomials import LONGEST, binomial_tables
from debandit.engine.data import BERNOULLI, FIRST, NORMAL, Floats, Ints, Task, Wanted, WorldData
from debandit.engine.experiment import Experiment, Need, Rule
from debandit.engine.kernels import OwnKernel, load
from debandit.engine.objects import ObjectKernel
from debandit.engine.old_rule import OldRule
from debandit.errors import InputError, shorten


def play(
    experiment: Experiment, units: Ints, need: Need, room: Wanted | None = None, stop: Ints | None = None
) -> Wanted:
    """One chunk, in this thread."""
    wanted = need.room(experiment, units) if room is None else room
    stop = np.zeros(3, np.int64) if stop is None else stop
    task, rule, world, *_ = arguments = arguments_of(experiment, units, wanted)
    if experiment.steps(wanted.paths):
        step(experiment.policy, task, rule, world, wanted, stop)
        return wanted
    name = experiment.policy.kernel
    kernel = name if isinstance(name, ObjectKernel) else load(name)
    try:
        kernel(*arguments, stop)
    except Exception as error:
        if type(error).__module__.startswith("numba"):
            raise _not_compiled(experiment.policy, str(error)) from error
        if isinstance(name, OwnKernel):
            raise _failed(experiment, units, error) from error
        raise
    if stop[1]:
        what = f"the rule chose an arm that there is not, in run {stop[1] - 1}, round {stop[2]}"
        raise InputError(what, where="policy", remedy=f"Arms are counted from 0 to {experiment.arm_count - 1}.")
    return wanted


def _failed(experiment: Experiment, units: Ints, error: Exception) -> InputError:
    """A rule's own function raised: in which run is found by playing each alone, in which round by playing fewer."""
    kernel = load(experiment.policy.kernel)

    def fails(unit: Ints, rounds: int) -> bool:
        shorter = experiment._replace(horizon=rounds)
        try:
            kernel(*arguments_of(shorter, unit, Need().room(shorter, unit)), np.zeros(3, np.int64))
        except Exception:
            return True
        return False

    alone = (np.array([[world, first + i, 1]]) for world, first, runs in units.tolist() for i in range(runs))
    unit = next(unit for unit in alone if fails(unit, experiment.horizon))
    fine, failing = 0, experiment.horizon
    while failing - fine > 1:
        middle = (fine + failing) // 2
        fine, failing = (fine, middle) if fails(unit, middle) else (middle, failing)
    reason = f"{type(error).__name__}: {shorten(str(error), 200)}"
    return InputError(f"the rule failed in run {unit[0, 1]}, round {failing} ({reason})", where="policy")


def _not_compiled(policy: Rule, error: str) -> InputError:
    if "NRT required" in error:
        what, remedy = "it makes new arrays in every round", "Write a loop over the arms instead."
    else:
        telling = [line for line in error.splitlines() if line and not line.startswith(("Failed in", "During"))]
        what, remedy = shorten(" ".join(telling), 300), "Use numbers, arrays and functions that numba knows."
    return InputError(f"{policy} cannot be compiled ({what})", where="policy", remedy=remedy)


def arguments_of(
    experiment: Experiment, units: Ints, wanted: Wanted
) -> tuple[Task, OldRule, WorldData, Floats, Wanted]:
    """What the kernel needs to know to simulate one chunk."""
    rule = experiment.rule
    # arrays that came from another process may be read-only, for which the kernel would be compiled once more
    kind, *arrays = experiment.world
    world = WorldData(kind, *(np.require(array, requirements="W") for array in arrays))
    counts = (rule.opening, experiment.horizon - rule.opening * experiment.arm_count)
    # explore-then-commit needs no rounds where its sums can be drawn, whatever the size of the stack
    short = kind == NORMAL or (kind == BERNOULLI and max(counts) <= LONGEST)
    shortcut = rule.hold and short and not wanted.paths and rule.ties == FIRST and not rule.plan.active
    tables = np.empty((2, 0, 0))
    if shortcut and kind == BERNOULLI and len(units):
        tables = binomial_tables(world.means, counts)
    task = Task(
        np.require(units, requirements="W"),
        np.require(experiment.world_ids, requirements="W"),
        np.uint64(experiment.seed),
        experiment.purpose,
        experiment.arm_count,
        experiment.horizon,
        shortcut,
    )
    return task, rule, world, tables, wanted
