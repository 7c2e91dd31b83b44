"""P(the logged arm | the past) in every round, fast enough to try hundreds of options.

Where the rules themselves integrate to 13 digits for every arm, a few digits for the logged arm are enough here.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from debandit.engine.data import Floats, Ints
from debandit.policies import (
    BetaThompson,
    Exp3,
    ExploreThenCommit,
    GaussianThompson,
    Policy,
    ThompsonSampling,
    TopTwoThompson,
)
from debandit.policies.policy import cannot_say

if TYPE_CHECKING:
    from debandit.identification.record import Record

Z = np.linspace(-6, 6, 41)
Z_WEIGHTS = np.exp(-0.5 * Z * Z) / np.exp(-0.5 * Z * Z).sum()
NODES = 160  # of beta densities
ROUNDS_AT_ONCE = 256  # so that arrays stay in the cache
TRIES = 100  # of top-two Thompson sampling


def logged_chances(policy: Policy, record: "Record") -> Floats:
    """How likely the rule was to pull what was pulled."""
    if isinstance(policy, BetaThompson):
        return _in_parts(record, lambda part: _beta(policy, record, part))
    if isinstance(policy, Exp3):
        return _exp3(policy, record)
    if isinstance(policy, ExploreThenCommit):
        return _committed(policy, record)
    if isinstance(policy, ThompsonSampling):
        return _after_opening(policy, record, _highest(*_posterior(policy, record), record, record.arms))
    if isinstance(policy, GaussianThompson):
        posterior = policy.posterior(record.pulls, record.sums, record.squares)
        return _after_opening(policy, record, _highest(*posterior, record, record.arms))
    if isinstance(policy, TopTwoThompson):
        first, second = _top_two(policy, record)
        return _after_opening(policy, record, policy.leader * first + (1 - policy.leader) * second)
    answer = policy.replay(record)
    if answer is None:
        raise cannot_say(policy)
    return _of(answer.chances, record.arms)


def _of(every: np.ndarray, arms: Ints) -> np.ndarray:
    """The entries of the logged arms."""
    return every[np.arange(len(arms)), arms]


def _after_opening(policy: Policy, record: "Record", chances: Floats) -> Floats:
    forced = policy.opening * record.arm_count
    if forced:
        chances[:forced] = (np.arange(record.horizon) // policy.opening == record.arms)[:forced]
    return chances


def _posterior(policy: ThompsonSampling | TopTwoThompson, record: "Record") -> tuple[Floats, Floats]:
    """Location and width of every arm's draw, of shape (T, K)."""
    prior_pulls = (policy.noise_sd / policy.prior_sd) ** 2
    shrink = 0.0 if getattr(policy, "center", "") == "sample" else prior_pulls
    location = (record.sums + shrink * policy.prior_mean) / np.maximum(record.pulls + shrink, 1e-300)
    return location, policy.noise_sd / np.sqrt(record.pulls + prior_pulls)


def _highest(location: Floats, width: Floats, record: "Record", arms: Ints) -> Floats:
    """P_a = E prod_{j != a} Phi((location_a + width_a Z - location_j) / width_j) for each round's a in `arms`."""
    from debandit.special import ndtr

    if record.arm_count == 2:
        gap = np.where(arms == 0, 1, -1) * (location[:, 0] - location[:, 1])
        chances: Floats = ndtr(gap / np.hypot(width[:, 0], width[:, 1]))
        return chances
    others = (arms[:, None] + np.arange(1, record.arm_count)) % record.arm_count

    def integral(part: slice) -> Floats:
        x = _of(location[part], arms[part])[:, None] + _of(width[part], arms[part])[:, None] * Z
        rivals, spreads = (
            np.take_along_axis(each[part], others[part], axis=1)[..., None] for each in (location, width)
        )
        found: Floats = ndtr((x[:, None, :] - rivals) / spreads).prod(axis=1) @ Z_WEIGHTS
        return found

    return _in_parts(record, integral)


def _in_parts(record: "Record", chances: Callable[[slice], Floats]) -> Floats:
    starts = range(0, record.horizon, ROUNDS_AT_ONCE)
    return np.concatenate([chances(slice(start, start + ROUNDS_AT_ONCE)) for start in starts])


def _top_two(policy: TopTwoThompson, record: "Record") -> tuple[Floats, Floats]:
    """P(logged arm) as the leader, and as the challenger: sum_{j != a} p_j p_a / (1 - p_j), but for the last try."""
    key = (policy.noise_sd, policy.prior_sd, policy.prior_mean)
    if key not in record.tried:
        location, width = _posterior(policy, record)
        arms = np.arange(record.arm_count)
        p = np.stack([_highest(location, width, record, np.full(record.horizon, arm)) for arm in arms], axis=-1)
        logged, challenger = _of(p, record.arms), np.zeros(record.horizon)
        for j in arms:
            others = np.where(arms == j, 0.0, p)
            in_vain = p[:, j] ** TRIES
            runner_up = np.argmax(np.where(arms == j, -np.inf, location), axis=-1) == record.arms
            found = (1 - in_vain) * logged / np.maximum(others.sum(axis=-1), 1e-300) + in_vain * runner_up
            challenger += np.where(record.arms == j, 0.0, p[:, j] * found)
        record.tried[key] = logged, challenger
    return record.tried[key]


def _exp3(policy: Exp3, record: "Record") -> Floats:
    """Every probability depends on the ones before it; plain numbers are faster than short arrays."""
    count, gamma = record.arm_count, policy.gamma
    gains = (gamma / count * (record.rewards - policy.low) / (policy.high - policy.low)).tolist()
    logs, chances = [0.0] * count, []
    for arm, gain in zip(record.arms.tolist(), gains, strict=True):
        here = logs[arm]
        chance = gamma / count + (1 - gamma) / sum([math.exp(min(other - here, 700.0)) for other in logs])
        chances.append(chance)
        logs[arm] = here + gain / chance
    return np.array(chances)


def _committed(policy: ExploreThenCommit, record: "Record") -> Floats:
    """It keeps the arm that was best after its pulls of each, even if a floor or a lapse pulls another one later."""
    rounds, explored = np.arange(record.horizon), policy.pulls * record.arm_count
    turn = rounds % record.arm_count if policy.order == "turns" else rounds // policy.pulls
    after = min(explored, record.horizon - 1)
    pulls, sums = record.pulls[after], record.sums[after]
    kept = np.argmax(np.divide(sums, pulls, out=np.full(sums.shape, -np.inf), where=pulls > 0))
    right: np.ndarray = np.where(rounds < explored, turn == record.arms, kept == record.arms)
    return right.astype(np.float64)


def _beta(policy: BetaThompson, record: "Record", part: slice) -> Floats:
    """The chances of the logged arms from beta draws, on a grid of x = log(b / (1 - b)); see `policies.beta_draws`."""
    a = policy.alpha + record.sums[part]
    c = policy.beta + record.pulls[part] - record.sums[part]
    peak, spread = np.log(a / c), 6 * np.sqrt(1 / a + 1 / c)
    low, high = (peak - spread - 6 / a).min(axis=-1), (peak + spread + 6 / c).max(axis=-1)
    x = np.linspace(low, high, NODES, axis=-1)[:, None, :]
    density = np.exp(a[..., None] * (x - peak[..., None]) - (a + c)[..., None] * _log_ratio(x, peak[..., None]))
    density /= density.sum(axis=-1, keepdims=True)
    below = density.cumsum(axis=-1) - density / 2  # two draws in the same cell: either is higher half of the time
    arms = record.arms[part]
    logged = np.arange(len(arms)), arms
    below[logged] = density[logged]
    chances: Floats = below.prod(axis=1).sum(axis=-1)
    return chances


def _log_ratio(x: Floats, peak: Floats) -> Floats:
    """log((1 + e^x) / (1 + e^peak))."""
    return np.logaddexp(0, x) - np.logaddexp(0, peak)
