"""P(the logged arm | the past) in every round, fast enough to try hundreds of options.

Where the rules themselves integrate to 13 digits for every arm, a few digits for the logged arm are enough here.
"""

from collections.abc import Callable

import numpy as np

from debandit.engine.data import Floats, Ints, RuleData
from debandit.identification.record import Record
from debandit.policies import BetaThompson, Policy

Z = np.linspace(-6, 6, 49)
Z_WEIGHTS = np.exp(-0.5 * Z * Z) / np.exp(-0.5 * Z * Z).sum()
NODES = 240  # of beta densities
ROUNDS_AT_ONCE = 256  # so that arrays stay in the cache


def logged_chances(policy: Policy, record: Record) -> Floats:
    """How likely the rule was to pull what was pulled."""
    if isinstance(policy, BetaThompson):
        return _in_parts(record, lambda part: _beta(policy, record, part))
    if record.arm_count > 2 and _draws_normals(policy):
        rule = policy.rule(record.arm_count, record.horizon)
        if not len(rule.explore):
            forced = np.arange(record.horizon) // max(rule.opening, 1)
            free = np.arange(record.horizon) >= rule.opening * record.arm_count
            draws = _in_parts(record, lambda part: _normal(rule, record, part))
            return np.where(free, draws, forced == record.arms)
    every = policy.path_probabilities(record.arms, record.rewards, record.arm_count)
    return _of(every, record.arms)


def _draws_normals(policy: Policy) -> bool:
    """Whether `RuleData` says all about the rule."""
    own = type(policy)
    return (
        own.kernel == Policy.kernel
        and own.probabilities is Policy.probabilities
        and own.path_probabilities is Policy.path_probabilities
        and policy.rule(2, 1).noisy
    )


def _in_parts(record: Record, chances: Callable[[slice], Floats]) -> Floats:
    starts = range(0, record.horizon, ROUNDS_AT_ONCE)
    return np.concatenate([chances(slice(start, start + ROUNDS_AT_ONCE)) for start in starts])


def _of(every: np.ndarray, arms: Ints) -> np.ndarray:
    """The entries of the logged arms."""
    return every[np.arange(len(arms)), arms]


def _normal(rule: RuleData, record: Record, part: slice) -> Floats:
    """P_a = E prod_{j != a} Phi((location_a + width_a Z - location_j) / width_j), by the trapezoidal rule."""
    from scipy.special import ndtr

    arms, pulls, others = record.arms[part], record.pulls[part], record.others[part]
    weight = pulls + rule.prior_pulls
    location = np.divide(record.sums[part] + rule.prior_sum, weight, out=np.zeros(weight.shape), where=weight > 0)
    width = np.maximum(rule.width[pulls], 1e-150)
    x = _of(location, arms)[:, None] + _of(width, arms)[:, None] * Z
    rivals, spreads = (np.take_along_axis(each, others, axis=1)[..., None] for each in (location, width))
    chances: Floats = ndtr((x[:, None, :] - rivals) / spreads).prod(axis=1) @ Z_WEIGHTS
    return chances


def _beta(policy: BetaThompson, record: Record, part: slice) -> Floats:
    """The same for beta draws on a grid of x = log(b / (1 - b)); see `policies.beta_draws`."""
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
