"""The rule fed with the log: could it have chosen the logged arms at all?"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Ints
from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog, Rounds
from debandit.policies import Policy
from debandit.policies.choices import before

NUMBERS_AT_ONCE = 2**22  # rounds times arms
IMPOSSIBLE = 1e-15  # quadrature knows no smaller probabilities
SAME = 1e-9  # relative; other programs add up means in another order, and their ties are not ours to the last bit


class Replay(NamedTuple):
    """The first rounds of a log (n of them) beside what the rule says of them."""

    arms: Ints  # (n,)
    chances: Floats  # (n, K) P(arm chosen | the past)
    scores: Floats  # (n, K) NaN where the choice does not go by scores
    pulls: Ints  # (n, K) before the round
    means: Floats  # (n, K) before the round; NaN without a pull

    @property
    def logged(self) -> Floats:
        """P(logged arm | the past)."""
        return _at(self.chances, self.arms)

    @property
    def impossible(self) -> NDArray[np.bool_]:
        """Rounds whose arm the rule never chooses, whatever it does with ties."""
        highest = self.scores.max(axis=-1)
        tied = _at(self.scores, self.arms) >= highest - SAME * np.maximum(np.abs(highest), 1e-300)
        never: NDArray[np.bool_] = (self.logged < IMPOSSIBLE) & ~tied
        return never


def replay(log: ExperimentLog, policy: Policy, most_rounds: int) -> Replay | None:
    """None if the order of the rounds is not known, or the rule does not say how likely its choices are."""
    if log.rounds is None:
        return None
    arm_count = len(log.labels)
    count = min(log.horizon, NUMBERS_AT_ONCE // arm_count, most_rounds if policy.randomised else log.horizon)
    rounds = Rounds(log.rounds.arms[:count], log.rounds.rewards[:count])
    try:
        chances = policy.path_probabilities(rounds.arms, rounds.rewards, arm_count)
    except InputError:
        return None
    pulls, sums = before(rounds.arms, rounds.rewards, arm_count)
    means = np.where(pulls > 0, sums / np.maximum(pulls, 1), np.nan)
    return Replay(rounds.arms, chances, policy.path_scores(rounds.arms, rounds.rewards, arm_count), pulls, means)


def _at(values: Floats, arms: Ints) -> Floats:
    return values[np.arange(len(arms)), arms]


def explain(found: Replay, t: int, policy: Policy, labels: tuple[str, ...]) -> str:
    """Why the rule does not choose the logged arm in round t (counted from 0)."""
    logged, wanted = (shorten(labels[arm]) for arm in (found.arms[t], int(found.chances[t].argmax())))
    round_of = f"round {t + 1:,}: the log has {logged!r}"
    if t < policy.opening * len(labels):
        times = "once" if policy.opening == 1 else f"{policy.opening:,} times in a row"
        order = ", ".join(map(shorten, labels[:4])) + (", ..." if len(labels) > 4 else "")
        return (
            f"{round_of}, but the rule begins by pulling each arm {times}, in the order {order}: here {wanted!r}. "
            "If the rule knew the arms in another order, give that one (--arms, in Python labels=)."
        )
    if np.isneginf(found.scores[t]).any():
        return f"{round_of}, but the rule had committed to {wanted!r}."
    if np.isfinite(found.scores[t]).all() and found.chances[t].max() == 1:
        return f"{round_of}, but the highest score has {wanted!r}."
    return f"{round_of}, which the rule does not choose there."


def situation(found: Replay, t: int, labels: tuple[str, ...]) -> list[dict[str, Any]]:
    """What the rule knew of each arm before round t, and what it made of it."""
    return [
        {
            "arm": label,
            "pulls": int(found.pulls[t, k]),
            "mean": float(found.means[t, k]),
            "score": float(found.scores[t, k]),
            "probability": float(found.chances[t, k]),
            "logged": k == found.arms[t],
        }
        for k, label in enumerate(labels)
    ]
