"""How much the answer depends on what was assumed: other means, other worlds, other options of the rule."""

import dataclasses
from collections.abc import Iterator

import numpy as np

from debandit.debiasing import debias
from debandit.errors import DebanditError, with_few_sizes
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.result import Debiased
from debandit.words.assumptions import Assumption
from debandit.words.values import has_quoted

RUNS, FEW, ROUNDS = 1000, 100, 25_000_000  # runs at most, at least, and rounds of all runs together
FACTORS = (0.5, 2.0)  # by which each number of the rule is changed
MOST_OPTIONS = 3


def sensitivity(log: ExperimentLog, result: Debiased, threads: int | None = None) -> list[Assumption]:
    """What each arm would be under other assumptions; what is not possible is left out."""
    found = [
        Assumption("no correction (raw)", result.naive),
        Assumption("corrected given the arm's place (quoted)", result.quoted),
        Assumption("corrected on average over experiments", result.corrected),
    ]
    if result.adjusted is not None:
        found.append(Assumption("each batch by its users (period-weighted)", result.adjusted.means))
    variants = _variants(log, result) if result.replays is None else ()
    found += [_simulated(log, result, *variant, threads) for variant in variants]
    return [each for each in found if np.isfinite(each.means).any()]


def _simulated(
    log: ExperimentLog, result: Debiased, what: str, policy: Policy, world: str, threads: int | None
) -> Assumption:
    """The numbers to quote with another rule or world, from fewer runs than the result; NaN if that is not possible."""
    try:
        other = debias(
            log,
            policy,
            world=world,
            runs=min(result.runs, RUNS, max(FEW, ROUNDS // result.settings.horizon)),
            interval="none",
            unseen=result.settings.unseen,
            seed=result.settings.seed,
            force=True,
            threads=threads,
        )
    except DebanditError:
        return Assumption(what, np.full(len(result.labels), np.nan))
    if has_quoted(result):
        return Assumption(f"quoted, {what}", other.quoted, other.quoted_bias_se)
    return Assumption(f"corrected, {what}", other.corrected, other.bias_se)


def _variants(log: ExperimentLog, result: Debiased) -> Iterator[tuple[str, Policy, str]]:
    """Another world, and the numbers of the rule halved and doubled."""
    policy, world = as_policy(result.settings.policy), str(result.settings.world)
    for other in ("jeffreys", "smoothed", "gaussian"):
        if other != world and (other != "jeffreys" or log.binary):
            yield f"in the world {other}", policy, other
    core = policy.core
    numbers = {k: v for k, v in core.options().items() if isinstance(v, float) and np.isfinite(v) and v > 0}
    for name, value in list(numbers.items())[:MOST_OPTIONS]:
        for factor in FACTORS:
            try:
                changed = dataclasses.replace(core, **{name: value * factor})  # type: ignore[type-var]
                around = with_core(policy, changed)
            except DebanditError:
                continue
            yield f"if the rule were {with_few_sizes(str(changed))}", around, world


def with_core(policy: Policy, core: Policy) -> Policy:
    """The policy with another rule inside of its wrappers."""
    if policy is policy.core:
        return core
    inner: Policy = vars(policy)["policy"]
    changed: Policy = dataclasses.replace(policy, policy=with_core(inner, core))  # type: ignore[type-var]
    return changed
