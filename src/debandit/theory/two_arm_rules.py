"""How a rule chooses between two arms with 0/1 rewards, where totals say more than they do of other rewards."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from debandit.engine.data import TIES, Floats, Ints
from debandit.errors import InputError
from debandit.policies import Exp3, Policy, ScoreRule, SuccessiveElimination
from debandit.policies.policy import certain, chances_under, winners

LONGEST_EXP3 = 22  # it remembers the order of all wins, so that its states double with every round
BOTH_LEFT = 0

Chances = Callable[[int, Ints, Ints], Floats]  # of (t, pulls, sums), with totals of shape (states, 2)


class Remembering(Protocol):
    """A rule that looks at more than totals; what it remembers besides is a whole number for every state."""

    start: int

    def choose(self, t: int, pulls: Ints, sums: Ints, memory: Ints, /) -> tuple[Floats, Ints]:
        """P(arm chosen), of shape (states, 2), and what it remembers after that."""

    def after_win(self, memory: Ints, arm: int, /) -> Ints:
        """What it remembers after that reward; a reward of 0 teaches it nothing but the totals."""


def chances_of(policy: Policy, horizon: int) -> Chances:
    """The chances of rules that decide by totals, at least if rewards are 0/1: variances follow from totals then."""
    if policy.core.needs_squares:
        return lambda t, n, s: policy.probabilities(t, n, s, horizon, s * (n - s) / np.maximum(n, 1))
    if not isinstance(policy, ScoreRule) or type(policy).randomised:
        return lambda t, pulls, sums: policy.probabilities(t, pulls, sums, horizon)
    conditions, free = policy.conditions(2, horizon), partial(_scored, policy, policy.rule(2, horizon).parameters)
    return lambda t, pulls, sums: chances_under(conditions, t, (pulls, sums), free)


def remembering(policy: Policy, horizon: int) -> Remembering | None:
    """None for rules that go by totals, or that nothing is known of."""
    if isinstance(policy, SuccessiveElimination):
        return _Elimination(policy)
    return _Exp3Memory(policy, horizon) if isinstance(policy, Exp3) else None


def _scored(policy: ScoreRule, parameters: Floats, t: Ints, pulls: Ints, sums: Floats) -> Floats:
    """The chances by the rule's own function, called once for each pair (pulls, wins) that arms have in the round."""
    (role,) = policy.roles
    found: Any = getattr(type(policy), role)
    score = getattr(found, "py_func", found)  # numba's wrapper keeps the Python function
    names = list(inspect.signature(score).parameters)
    pairs, back = np.unique(np.stack([pulls, sums], axis=-1).reshape(-1, 2), axis=0, return_inverse=True)
    known = policy.options() | {"parameters": parameters, "t": t[0] + 1.0, "z": 0.0}
    scores = []
    for count, wins in pairs.tolist():
        mean = wins / count
        known |= {"mean": mean, "pulls": count, "variance": mean * (1 - mean)}
        scores.append(float(score(*(known[name] for name in names))))
    return winners(np.array(scores)[back.reshape(pulls.shape)], TIES.index(getattr(policy, "ties", "first")))


class _Elimination:
    """Which arm was dropped: none, the first (1) or the second (2)."""

    start = BOTH_LEFT

    def __init__(self, policy: SuccessiveElimination) -> None:
        self._policy = policy

    def choose(self, t: int, pulls: Ints, sums: Ints, memory: Ints) -> tuple[Floats, Ints]:
        if t < 2:
            return certain(np.full(len(pulls), t), 2), memory
        n = pulls[:, 0]
        margin = 2 * self._policy.sd * np.sqrt(2 * np.log(8 * n * n / self._policy.delta) / n)
        means = sums / pulls
        worse = means < means.max(axis=-1, keepdims=True) - margin[:, None]
        turn_over = (memory == BOTH_LEFT) & (n == pulls[:, 1])
        memory = np.where(turn_over, worse @ np.array([1, 2]), memory)
        in_turn = (n > pulls[:, 1]).astype(np.int64)
        return certain(np.choose(memory, [in_turn, np.ones_like(n), np.zeros_like(n)]), 2), memory

    def after_win(self, memory: Ints, _arm: int) -> Ints:
        return memory


class _Exp3Memory:
    """The arms of all wins in their order: a 1 and then a binary digit for each."""

    start = 1

    def __init__(self, policy: Exp3, horizon: int) -> None:
        if policy.low != 0 or horizon > LONGEST_EXP3:
            what = f"{policy} can be enumerated with low=0 and up to {LONGEST_EXP3} rounds only"
            raise InputError(what, where="policy", remedy="Use simulate.")
        logs = np.zeros((1, 2))
        chances = [np.zeros((1, 2))]  # of the words 0, 1, 2, ...; none is 0
        for _ in range(horizon):
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            chances.append((1 - policy.gamma) * weights / weights.sum(axis=1, keepdims=True) + policy.gamma / 2)
            gains = policy.gamma / policy.high / (2 * chances[-1])
            logs = (logs[:, None] + gains[:, :, None] * np.eye(2)).reshape(-1, 2)
        self._chances = np.concatenate(chances)

    def choose(self, _t: int, _pulls: Ints, _sums: Ints, memory: Ints) -> tuple[Floats, Ints]:
        return self._chances[memory], memory

    def after_win(self, memory: Ints, arm: int) -> Ints:
        return 2 * memory + arm
