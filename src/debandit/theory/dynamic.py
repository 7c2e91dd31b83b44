"""Two Bernoulli arms without random numbers: dynamic programming over what has been seen."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.errors import InputError, shorten
from debandit.policies import Policy, as_policy
from debandit.theory.two_arm_rules import Remembering, chances_of, remembering

LONGEST_HORIZON = 400  # states grow like T^3 / 6 and work like T^4 / 24


class MeanDistribution(NamedTuple):
    """The distribution of an arm's sample mean, given that the arm was pulled.

    Attributes
    ----------
    values, probabilities : array of float
        The values in increasing order, and how likely they are.
    """

    values: Floats
    probabilities: Floats


class TwoArms(NamedTuple):
    """What a rule does on two Bernoulli arms; lists have one entry for each arm.

    Attributes
    ----------
    bias : array of float
        E[mean | pulled] - p.
    pulls : array of float
        Expected pulls.
    never_pulled : array of float
        How likely it is that the arm is never pulled.
    estimates : tuple of MeanDistribution
        The distribution of each arm's mean.
    difference : float
        E[mean2 - mean1 | both pulled] - (p2 - p1).
    winner : float
        E[mean of the arm with the highest mean - its p]; of equals the first has it.
    """

    bias: Floats
    pulls: Floats
    never_pulled: Floats
    estimates: tuple[MeanDistribution, MeanDistribution]
    difference: float
    winner: float


class _States(NamedTuple):
    """All (n1, s1, s2) after t rounds, the last index fastest; the block of each n1 begins at at[n1]."""

    n1: Ints
    n2: Ints
    s1: Ints
    s2: Ints
    at: Ints


def exact_two_arms(policy: Policy | str, p1: float, p2: float, horizon: int) -> TwoArms:
    """Bias, expected pulls and the distribution of each arm's mean, exactly, for arms Ber(p1) and Ber(p2).

    P(n1, s1, s2) = U Bin(n1, p1){s1} Bin(n2, p2){s2}, where U, the probability of that division of the pulls given the
    numbers of wins, does not depend on p1 and p2. U is kept, so that other p1 and p2 take milliseconds.

    For every rule that says how likely its choices are, and for the built-in ones that look at more than totals; up to
    T = 400, exp3 up to T = 22.

    Examples
    --------
    >>> import debandit as db
    >>> found = db.theory.exact_two_arms("ucb", 0.3, 0.6, 20)
    >>> found.bias.round(4), found.pulls.round(2)
    (array([-0.0617, -0.02  ]), array([ 6.08, 13.92]))
    """
    states, chance = _chances(policy, p1, p2, horizon)
    arms = ((states.n1, states.s1, p1), (states.n2, states.s2, p2))
    laws = tuple(_law(n, s, chance) for n, s, _ in arms)
    bias = [_mean(law) - p for law, (_, _, p) in zip(laws, arms, strict=True)]
    pulls = [float((chance * n).sum()) for n, _, _ in arms]
    never = [float(chance[n == 0].sum()) for n, _, _ in arms]
    means = np.stack([np.where(n > 0, s / np.maximum(n, 1), -np.inf) for n, s, _ in arms])
    both = (states.n1 > 0) & (states.n2 > 0) & (chance > 0)
    share = chance[both] / max(chance[both].sum(), np.finfo(float).tiny)
    difference = float((share * (means[1, both] - means[0, both])).sum()) - (p2 - p1) if both.any() else np.nan
    winner = float((chance * (means.max(axis=0) - np.where(means[1] > means[0], p2, p1))).sum())
    return TwoArms(np.array(bias), np.array(pulls), np.array(never), (laws[0], laws[1]), difference, winner)


def exact_counts(policy: Policy | str, p1: float, p2: float, horizon: int) -> Floats:
    """P(n pulls and s wins) of each arm, at [arm, n, s], for arms Ber(p1) and Ber(p2); see `exact_two_arms`.

    Examples
    --------
    >>> import debandit as db
    >>> chances = db.theory.exact_counts("ucb", 0.3, 0.6, 20)
    >>> chances.shape, chances.sum(axis=(1, 2)).round(12)
    ((2, 21, 21), array([1., 1.]))
    """
    states, chance = _chances(policy, p1, p2, horizon)
    table = np.zeros((2, horizon + 1, horizon + 1))
    np.add.at(table[0], (states.n1, states.s1), chance)
    np.add.at(table[1], (states.n2, states.s2), chance)
    return table


def _chances(policy: Policy | str, p1: float, p2: float, horizon: int) -> tuple[_States, Floats]:
    """The probability of every state after the last round."""
    _check(p1, p2, horizon)
    weights, states = _weights(as_policy(policy), int(horizon)), _states(int(horizon))
    first, second = (_binomials(p, horizon) for p in (p1, p2))
    return states, weights * first[states.n1, states.s1] * second[states.n2, states.s2]


def _check(p1: float, p2: float, horizon: int) -> None:
    for name, p in (("p1", p1), ("p2", p2)):
        if not (isinstance(p, (int, float, np.number)) and 0 <= p <= 1):
            raise InputError(f"{name} must be a probability, not {shorten(repr(p))}", where=name)
    if not isinstance(horizon, (int, np.integer)) or isinstance(horizon, bool) or not 1 <= horizon <= LONGEST_HORIZON:
        raise InputError(
            f"horizon must be a whole number from 1 to {LONGEST_HORIZON}, not {shorten(repr(horizon))}",
            where="horizon",
            remedy="Use simulate for longer experiments.",
        )


def _states(rounds: int) -> _States:
    sizes = (np.arange(rounds + 1) + 1) * (rounds - np.arange(rounds + 1) + 1)
    at = np.cumsum(sizes) - sizes
    n1 = np.repeat(np.arange(rounds + 1), sizes)
    s1, s2 = np.divmod(np.arange(len(n1)) - at[n1], rounds - n1 + 1)
    return _States(n1, rounds - n1, s1, s2, at)


@lru_cache(maxsize=4)
def _weights(policy: Policy, horizon: int) -> Floats:
    """U of every state after the last round.

    Given n1 + 1 pulls with s1 wins, the last of them won with probability s1 / (n1 + 1), whatever p1 is.
    """
    memory = remembering(policy, horizon)
    if memory is not None:
        return _weights_with_memory(memory, horizon)
    weights, states, choose = np.ones(1), _states(0), chances_of(policy, horizon)
    for t in range(horizon):
        live = np.flatnonzero(weights)
        n1, n2, s1, s2 = (part[live] for part in states[:4])
        chances = choose(t, np.stack([n1, n2], axis=-1), np.stack([s1, s2], axis=-1))
        first, second = weights[live] * chances.T
        states = _states(t + 1)
        weights = np.zeros(len(states.n1))
        place = states.at[n1 + 1] + s1 * (n2 + 1) + s2
        weights[place] += first * ((n1 + 1 - s1) / (n1 + 1))
        weights[place + n2 + 1] += first * ((s1 + 1) / (n1 + 1))
        place = states.at[n1] + s1 * (n2 + 2) + s2
        weights[place] += second * ((n2 + 1 - s2) / (n2 + 1))
        weights[place + 1] += second * ((s2 + 1) / (n2 + 1))
    weights.setflags(write=False)
    return weights


def _weights_with_memory(rule: Remembering, horizon: int) -> Floats:
    """The same where a state is (n1, s1, s2) and what the rule remembers; in the end that is added up."""
    size = horizon + 1
    weights, keys = np.ones(1), np.array([rule.start * size**3])
    for t in range(horizon):
        memory, n1, s1, s2 = _unpacked(keys, size)
        pulls, wins = np.stack([n1, t - n1], axis=-1), np.stack([s1, s2], axis=-1)
        chances, memory = rule.choose(t, pulls, wins, memory)
        grown, places = [], []
        for arm, steps in enumerate(((size**2, size), (0, 1))):  # in the key: of a pull, of a win
            n, s, here = pulls[:, arm], wins[:, arm], weights * chances[:, arm] / (pulls[:, arm] + 1)
            place = keys % size**3 + steps[0]
            grown += [here * (n + 1 - s), here * (s + 1)]
            places += [memory * size**3 + place, rule.after_win(memory, arm) * size**3 + place + steps[1]]
        flow, reached = np.concatenate(grown), np.concatenate(places)
        live = flow > 0
        keys, which = np.unique(reached[live], return_inverse=True)
        weights = np.zeros(len(keys))
        np.add.at(weights, which, flow[live])
    _, n1, s1, s2 = _unpacked(keys, size)
    states = _states(horizon)
    found = np.zeros(len(states.n1))
    np.add.at(found, states.at[n1] + s1 * (horizon - n1 + 1) + s2, weights)
    found.setflags(write=False)
    return found


def _unpacked(keys: Ints, size: int) -> tuple[Ints, Ints, Ints, Ints]:
    return keys // size**3, keys // size**2 % size, keys // size % size, keys % size


def _binomials(p: float, horizon: int) -> Floats:
    """P(s wins in n pulls) in the table (n, s); sums of positive terms."""
    table = np.zeros((horizon + 1, horizon + 1))
    table[0, 0] = 1.0
    for n in range(horizon):
        table[n + 1] = (1 - p) * table[n]
        table[n + 1, 1:] += p * table[n, :-1]
    return table


def _law(n: Ints, s: Ints, chance: Floats) -> MeanDistribution:
    """Equal fractions s / n are equal numbers, since division rounds correctly."""
    seen = (n > 0) & (chance > 0)
    values, which = np.unique(s[seen] / n[seen], return_inverse=True)
    shares = np.zeros(len(values))
    np.add.at(shares, which, chance[seen])
    return MeanDistribution(values, shares / max(shares.sum(), np.finfo(float).tiny))


def _mean(law: MeanDistribution) -> float:
    return float((law.values * law.probabilities).sum()) if len(law.values) else np.nan
