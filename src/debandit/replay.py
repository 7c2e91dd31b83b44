"""The rule fed with the log: how likely was each choice, given what came before it."""

import numpy as np

from debandit.engine.data import Floats
from debandit.errors import InputError, Refused
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.policies.history import History
from debandit.policies.policy import cannot_say

FORCED = 1 - 1e-12  # a choice at least this likely was no choice
NUMBERS_AT_ONCE = 2**22  # rounds times arms


def propensities(log: ExperimentLog, policy: Policy | str) -> Floats:
    """P(the logged arm | the past) in every round, if `policy` ran the experiment."""
    rule = as_policy(policy)
    if log.rounds is None:
        raise InputError(
            "this log has per-arm summaries only, not the order of the rounds",
            where="log",
            remedy="Replaying a rule needs every round. debias does not.",
        )
    return path_propensities(log.rounds.arms, log.rounds.rewards, rule.in_log(log), len(log.labels), labels=log.labels)


def forced(propensities: Floats) -> np.ndarray:
    """The rounds in which only one arm could be chosen."""
    return propensities >= FORCED


def path_propensities(
    arms: np.ndarray, rewards: Floats, policy: Policy, arm_count: int, *, labels: tuple[str, ...] | None = None
) -> Floats:
    """Propensities of many logs of equal length at once: arms (indices), rewards and the answer have shape (..., T)."""
    horizon = arms.shape[-1]
    paths, values = arms.reshape(-1, horizon), rewards.reshape(-1, horizon)
    chances = np.empty(paths.shape)
    rows = max(1, NUMBERS_AT_ONCE // (horizon * arm_count))
    for start in range(0, len(paths), rows):
        part = slice(start, start + rows)
        every = _replayed(paths[part], values[part], policy, arm_count)
        chances[part] = of_pulled(every, paths[part])
    if not chances.all():
        _refuse(paths, chances, policy, labels)
    return chances.reshape(arms.shape)


def path_chances(
    arms: np.ndarray, rewards: Floats, policy: Policy, arm_count: int, *, labels: tuple[str, ...] | None = None
) -> Floats:
    """The same of every arm, not only of the pulled one: of shape (logs, T, K) for arms and rewards of (logs, T)."""
    every = _replayed(arms, rewards, policy, arm_count)
    chances = of_pulled(every, arms)
    if not chances.all():
        _refuse(arms, chances, policy, labels)
    return every


def of_pulled(chances: Floats, arms: np.ndarray) -> Floats:
    """From the propensities of all arms (..., T, K) those of the arms that were pulled (..., T)."""
    return np.take_along_axis(chances, arms[..., None].astype(np.int64), axis=-1)[..., 0]


def _replayed(arms: np.ndarray, rewards: Floats, policy: Policy, arm_count: int) -> Floats:
    if policy.binary_rewards and not np.isin(rewards, (0.0, 1.0)).all():
        raise InputError(
            f"{policy.core.name} is a rule for 0/1 rewards, but the rewards of the log are not 0/1",
            where="policy",
            remedy="Name the rule that ran the experiment.",
        )
    found = policy.replay(History(arms, rewards, arm_count))
    if found is None:
        raise cannot_say(policy)
    return found.chances


def _refuse(paths: np.ndarray, chances: Floats, policy: Policy, labels: tuple[str, ...] | None) -> None:
    log, t = np.argwhere(chances == 0)[0]
    arm = labels[paths[log, t]] if labels else str(paths[log, t] + 1)
    which = f"log {log + 1}, " if len(paths) > 1 else ""
    raise Refused(
        f"{policy} never chooses arm {arm!r} in round {t + 1}, given the rounds before it",
        where=f"{which}round {t + 1}",
        remedy="This rule did not make this log. Check its options, the order of the arms (it decides initial pulls "
        "and ties) and that no round is missing.",
    )
