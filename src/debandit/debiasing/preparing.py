"""Before anything is simulated: each log's world, and logs alike in stacks."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import numpy as np

from debandit.engine.data import Ints, WorldData
from debandit.engine.experiment import DEBIAS, Experiment
from debandit.errors import InputError, Refused, listed, quoted
from debandit.log import ExperimentLog
from debandit.policies import Policy
from debandit.simulation import enough_rounds, experiment_of, fits
from debandit.worlds import Bootstrap, Unseen, World

_LOGS_AT_ONCE = 1000


def world_of(log: ExperimentLog, policy: Policy, bootstrap: Bootstrap, unseen: Unseen | None) -> World:
    """The log's world, once log, rule and world are known to fit."""
    if log.unseen and unseen is None:
        raise no_world(listed(log.unseen))
    if policy.binary_rewards and not log.binary:
        raise InputError(f"{policy.name} is a rule for 0/1 rewards, but the log has others", where="reward")
    enough_rounds(policy, len(log.labels), log.horizon)
    world = bootstrap.fit(log, unseen)
    fits(policy, world)
    return world


def no_world(arms: str) -> Refused:
    """What is said of arms that were never pulled."""
    return Refused(
        f"no reward was logged for {arms}: without rewards an arm has no bootstrap world",
        where="arms",
        remedy="Give such arms a world with --unseen MEAN,SD (in Python unseen=(mean, sd)).",
    )


def compared_with(log: ExperimentLog, control: str | None) -> Ints:
    """The arm that each is compared with: the named one, or of the others that with the highest sample mean."""
    if control is None:
        order = np.argsort(-np.nan_to_num(log.means, nan=-np.inf), kind="stable")
        best: Ints = np.where(np.arange(len(order)) == order[0], order[1], order[0])
        return best
    if str(control) not in log.labels:
        close = get_close_matches(str(control), log.labels, 1)
        what = f"there is no arm {quoted(control)} to compare with"
        remedy = f"Did you mean {quoted(close[0])}?" if close else f"The arms are {listed(list(log.labels))}."
        raise InputError(what, where="control", remedy=remedy)
    return np.full(len(log.labels), log.labels.index(str(control)))


def stacks(
    logs: Sequence[ExperimentLog], worlds: Sequence[World], policies: Sequence[Policy], seed: int, log_index: int
) -> Iterator[tuple[list[int], Experiment]]:
    """Logs alike in rule, kind of world, arms and rounds as stacks of worlds, with their places among the logs."""
    alike = defaultdict(list)
    for i, (log, rule) in enumerate(zip(logs, policies, strict=True)):
        alike[rule, len(log.labels), log.horizon, worlds[i].name].append(i)
    for (policy, _, horizon, _), indices in alike.items():
        for start in range(0, len(indices), _LOGS_AT_ONCE):
            batch = indices[start : start + _LOGS_AT_ONCE]
            data, ids = _stack([worlds[i].data() for i in batch]), np.array(batch) + log_index
            yield batch, experiment_of(policy, data, ids, horizon=horizon, seed=seed, purpose=DEBIAS)


def _stack(worlds: list[WorldData]) -> WorldData:
    """Worlds of one kind, one upon the other."""
    starts = np.cumsum([0] + [len(world.pool) for world in worlds])
    return WorldData(
        worlds[0].kind,
        np.concatenate([world.means for world in worlds]),
        np.concatenate([world.variances for world in worlds]),
        np.concatenate([world.sds for world in worlds]),
        np.concatenate([world.pool for world in worlds]),
        np.concatenate([*(w.pool_start[:-1] + s for w, s in zip(worlds, starts[:-1], strict=True)), starts[-1:]]),
    )
