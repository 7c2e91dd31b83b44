"""The log beside the rule fed with it: could it have chosen the logged arms at all?"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.data import Floats, Ints
from debandit.errors import shorten
from debandit.log import ExperimentLog
from debandit.policies import Policy
from debandit.policies.history import History
from debandit.replay import NUMBERS_AT_ONCE

if TYPE_CHECKING:
    from debandit.checking.batch_counts import BatchCounts

IMPOSSIBLE = 1e-15  # quadrature knows no smaller probabilities
MOST_CHANCES = 2**17  # rounds or batches, times arms, of a randomised rule: some need ten microseconds for each
SAME = 1e-9  # relative; other programs add up means in another order, and their ties are not ours to the last bit


class Choices(NamedTuple):
    """Rounds of a log (n of them) beside what the rule says of them."""

    rounds: Ints  # (n,) counted from 0, rising
    arms: Ints  # (n,)
    previous: Ints  # (n,) the arm of the round before each; -1 before the first
    chances: Floats  # (n, K) P(arm chosen | the past)
    scores: Floats  # (n, K) NaN where the choice does not go by scores
    pulls: Ints  # (n, K) as far as the rule had heard
    means: Floats  # (n, K) likewise; NaN without a pull

    @property
    def logged(self) -> Floats:
        """P(logged arm | the past)."""
        return self.chances[np.arange(len(self.arms)), self.arms]

    @property
    def impossible(self) -> NDArray[np.bool_]:
        """Rounds whose arm the rule never chooses, whatever it does with ties."""
        tied = among_highest(self.scores)[np.arange(len(self.arms)), self.arms]
        never: NDArray[np.bool_] = (self.logged < IMPOSSIBLE) & ~tied
        return never


def among_highest(scores: Floats) -> NDArray[np.bool_]:
    """Which arms (..., K) have the highest score, or nearly so."""
    highest = scores.max(axis=-1, keepdims=True)
    return np.asarray(scores >= highest - SAME * np.maximum(np.abs(highest), 1e-300))


def compare_choices(log: ExperimentLog, policy: Policy, most_rounds: int) -> Choices | None:
    """Rounds of a log beside the rule's answers; None if their order is unknown, or the rule cannot say.

    Of the rounds of a randomised rule at most `most_rounds` are looked at, of many arms fewer: the first, in which
    chances change the most, and if they follow from totals, half of them are evenly spaced. Which ones does not depend
    on what happened in them.
    """
    if log.rounds is None:
        return None
    count = most_looked_at(log, policy, log.horizon, most_rounds)
    first = count // 2 if policy.randomised and policy.by_totals and count < log.horizon else count
    spaced = np.linspace(first, log.horizon - 1, count - first).astype(np.int64)
    return choices_in(np.append(np.arange(first), spaced), log, policy)


def most_looked_at(log: ExperimentLog, policy: Policy, total: int, most: int) -> int:
    """How many of the rounds or batches of a log are looked at, if at most so many of a randomised rule are."""
    if policy.randomised:
        return max(1, min(total, most, MOST_CHANCES // len(log.labels)))
    return max(1, min(total, NUMBERS_AT_ONCE // len(log.labels)))


def choices_in(rounds: Ints, log: ExperimentLog, policy: Policy) -> Choices | None:
    """These rounds of a log, in rising order, beside the rule's answers."""
    assert log.rounds is not None
    arm_count = len(log.labels)
    arms, rewards = log.rounds.arms[: rounds[-1] + 1], log.rounds.rewards[: rounds[-1] + 1]
    conditions = policy.conditions(arm_count, policy.planned(len(arms)))
    history = History(arms, rewards, arm_count, asked=rounds, conditions=conditions)
    answer = policy.replay(history)
    if answer is None:
        return None
    pulls = history.pulls
    means = np.where(pulls > 0, history.sums / np.maximum(pulls, 1), np.nan)
    return Choices(rounds, arms[rounds], np.append(-1, arms)[rounds], *answer, pulls, means)


def explain(found: Choices, i: int, policy: Policy, labels: tuple[str, ...]) -> str:
    """Why the rule does not choose the logged arm in the i-th of these rounds."""
    logged, wanted = (shorten(labels[arm]) for arm in (found.arms[i], int(found.chances[i].argmax())))
    round_of = f"round {found.rounds[i] + 1:,}: the log has {logged!r}"
    if not found.chances[i].any():
        return f"{round_of}, but the experiment was decided before that and should have ended."
    if found.rounds[i] < policy.opening * len(labels):
        in_turns = policy.conditions(len(labels), len(found.rounds)).in_turns
        times = f"{policy.opening:,} times{', taking turns' if in_turns else ' in a row'}"
        times = "once" if policy.opening == 1 else times
        order = ", ".join(map(shorten, labels[:4])) + (", ..." if len(labels) > 4 else "")
        return (
            f"{round_of}, but the rule begins by pulling each arm {times}, in the order {order}, so this is the "
            f"turn of {wanted!r}. If the rule had the arms in another order, give that order (--arms, in Python "
            "labels=)."
        )
    if np.isneginf(found.scores[i]).any() or (found.chances[i].max() == 1 and policy.randomised):
        return f"{round_of}, but the rule had committed to {wanted!r}."
    if np.isfinite(found.scores[i]).all() and found.chances[i].max() == 1:
        return f"{round_of}, but {wanted!r} has the highest score."
    return f"{round_of}, which the rule never chooses there."


def situation(
    found: "Choices | BatchCounts", i: int, labels: tuple[str, ...], **more: NDArray[Any]
) -> tuple[dict[str, Any], ...]:
    """What the rule knew of each arm before the i-th of these rounds or batches, what it made of it, and `more`."""
    known = {"pulls": found.pulls[i], "mean": found.means[i], "score": found.scores[i], "probability": found.chances[i]}
    columns = {name: column.tolist() for name, column in (known | more).items()}
    return tuple(
        {"arm": label} | {name: column[k] for name, column in columns.items()} for k, label in enumerate(labels)
    )
