"""Round by round in the compiled loop: its data are laid out, and failures of a rule's own functions are explained."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from debandit.engine.compiled.layout import ARM, ARMS, INTS, LANES, NUMBERS, ONE, WORDS
from debandit.engine.data import Floats, Ints, LoopRule, LoopWorld, Played, Space, no_rounds
from debandit.engine.experiment import Experiment, Rule
from debandit.engine.kernels import INDEX, KernelName, ObjectKernel, OwnKernel, load
from debandit.engine.runs import TOTALS
from debandit.errors import InputError, shorten


def play_rounds(experiment: Experiment, who: Ints, kept: int, paths: bool, stop: Ints) -> Played:
    """See `play`. A rule that chooses an arm that does not exist, or fails, is an error that names run and round."""
    name = experiment.policy.kernel
    assert not isinstance(name, ObjectKernel)
    try:
        played = _run(name, experiment, _loop_rule(*_whose(experiment)), who, kept, paths, stop)
    except Exception as error:
        if type(error).__module__.startswith("numba"):
            raise _not_compiled(experiment.policy, str(error)) from error
        if isinstance(name, OwnKernel):
            raise _failed(name, experiment, who, error) from error
        raise
    if stop[1]:
        what = f"the rule chose an arm that does not exist, in run {stop[1] - 1}, round {stop[2]}"
        raise InputError(what, where="policy", remedy=f"Arms are counted from 0 to {experiment.arm_count - 1}.")
    return played


def all_rewards(experiment: Experiment, who: Ints, stop: Ints) -> Floats:
    """As many rewards of every arm as there are rounds, for each run: (runs, arms, rounds)."""
    arm_count, horizon = experiment.arm_count, experiment.horizon
    every = np.repeat(np.arange(arm_count), horizon)
    numbers = np.zeros(NUMBERS)
    numbers[-1] = len(every)
    none = np.empty(0, np.int64)
    rule = LoopRule(numbers, np.empty(0), np.zeros((3, len(every) + 1)), every, none, none, np.empty(0))
    played = _run(INDEX, experiment, rule, who, TOTALS, True, stop)
    return played.path_rewards.reshape(len(who), arm_count, horizon)


def _run(
    name: KernelName, experiment: Experiment, rule: LoopRule, who: Ints, kept: int, paths: bool, stop: Ints
) -> Played:
    """Play the runs with the given kernel and rule, in the experiment's worlds."""
    kind, means, variances, sds, pool, pool_start, _ = experiment.world
    law = np.stack((means, variances, sds), axis=-1).reshape(-1, experiment.arm_count, 3)
    # arrays that came from another process may be read-only, for which the kernel would be compiled once more
    world = LoopWorld(kind, law, np.require(pool, requirements="W"), np.require(pool_start, requirements="W"))
    rounds = int(rule.numbers[-1])
    path = (np.empty((len(who), rounds), np.int32), np.empty((len(who), rounds))) if paths else no_rounds(len(who))
    played = Played(np.zeros((kept, experiment.arm_count, len(who))), *path)  # zeros, also if it is stopped
    waiting = int((rule.ends - np.append(0, rule.heard)[:-1]).max(initial=0))
    space = _space(experiment.arm_count, experiment.rule.state_size, waiting)
    load(name)(np.require(who, requirements=("C", "W")), experiment.keys, world, rule, space, played, stop)
    return played


def _whose(experiment: Experiment) -> tuple[Rule, int, int]:
    return experiment.policy, experiment.arm_count, experiment.horizon


@functools.lru_cache(maxsize=4)
def _loop_rule(policy: Rule, arm_count: int, horizon: int) -> LoopRule:
    """The tables are as long as the horizon, so they are made once. The numbers are those of `layout`, in its order."""
    rule, conditions = policy.rule(arm_count, horizon), policy.conditions(arm_count, horizon)
    floor = conditions.mixed
    least, total, decay = ((), 0.0, 0.0) if floor is None else (floor.least, floor.total, floor.decay)
    shares = np.empty(0) if len(set(least)) <= 1 else np.cumsum(least) / total
    gate = (0.0, -np.inf) if conditions.gate is None else (conditions.gate.pulls, conditions.gate.least_sum)
    tables = rule.tables(horizon if policy.kernel == INDEX else 0)
    numbers = (
        *(rule.prior_pulls, rule.prior_sum, rule.noisy, rule.width is not None, rule.explore is not None, rule.ties),
        *(conditions.opening, conditions.commit, total, decay, *gate, horizon),
    )
    fixed = conditions.fixed(arm_count).astype(np.int64)
    return LoopRule(np.array(numbers, np.float64), rule.parameters, tables, fixed, *conditions.told(horizon), shares)


def _space(arm_count: int, state_size: int, waiting: int) -> Space:
    return Space(
        _aligned(ARMS + arm_count * ARM + state_size * LANES, np.float64),
        _aligned(ONE + 3 * arm_count, np.float64),
        _aligned(INTS, np.int64),
        _aligned(WORDS, np.uint64),
        np.zeros((waiting, LANES), np.int64),
        np.zeros((waiting, LANES)),
    )


def _aligned(size: Any, dtype: type) -> NDArray[Any]:
    """Zeros that begin at a multiple of 64 bytes, so that no vector of a row lies across two cache lines."""
    raw: NDArray[Any] = np.zeros(size + 8, dtype)
    skip = -raw.ctypes.data % 64 // 8
    return raw[skip : skip + size]


def _failed(name: OwnKernel, experiment: Experiment, who: Ints, error: Exception) -> Exception:
    """A rule's own function raised: in which run is found by playing each alone, in which round by playing fewer."""

    def fails(run: Ints, rounds: int) -> bool:
        shorter = experiment._replace(horizon=rounds)
        try:
            _run(name, shorter, _loop_rule(*_whose(shorter)), run, TOTALS, False, np.zeros(3, np.int64))
        except Exception:
            return True
        return False

    run = next((who[i : i + 1] for i in range(len(who)) if fails(who[i : i + 1], experiment.horizon)), None)
    if run is None:  # it was not the rule: memory was short, say
        return error
    fine, failing = 0, experiment.horizon
    while failing - fine > 1:
        middle = (fine + failing) // 2
        fine, failing = (fine, middle) if fails(run, middle) else (middle, failing)
    reason = f"{type(error).__name__}: {shorten(str(error), 200)}"
    return InputError(f"the rule failed in run {run[0, 1]}, round {failing} ({reason})", where="policy")


def _not_compiled(policy: Rule, error: str) -> InputError:
    if "NRT required" in error:
        what, remedy = "it makes new arrays in every round", "Write a loop over the arms instead."
        return InputError(f"{policy} cannot be compiled ({what})", where="policy", remedy=remedy)
    telling = [line for line in error.splitlines() if line and not line.startswith(("Failed in", "During"))]
    what, remedy = shorten(" ".join(telling), 300), "Use numbers, arrays and functions that numba knows."
    return InputError(f"{policy} cannot be compiled ({what})", where="policy", remedy=remedy)
