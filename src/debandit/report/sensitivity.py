"""How much the answer depends on what was assumed: other means, other worlds, other options of the rule."""

import dataclasses
from collections.abc import Iterator

import numpy as np

from debandit.debiasing import debias
from debandit.engine.data import Floats
from debandit.errors import DebanditError, with_few_sizes
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.result import Debiased

RUNS = 1000  # at most
FACTORS = (0.5, 2.0)  # by which each number of the rule is changed
MOST_OPTIONS = 3


def sensitivity(log: ExperimentLog, result: Debiased, threads: int | None = None) -> list[tuple[str, Floats]]:
    """What each arm would be under other assumptions, in words and numbers (K,); what is not possible is left out."""
    found = [
        ("no correction (raw)", result.naive),
        ("corrected given the arm's place (quoted)", result.quoted),
        ("corrected on average over experiments", result.corrected),
    ]
    if result.adjusted is not None:
        found.append(("each batch by its users (period-weighted)", result.adjusted.means))
    if result.replays is None:
        for what, policy, world in _variants(log, result):
            try:
                other = debias(
                    log,
                    policy,
                    world=world,
                    runs=min(result.runs, RUNS),
                    interval="none",
                    unseen=result.settings.unseen,
                    seed=result.settings.seed,
                    force=True,
                    threads=threads,
                )
            except DebanditError:
                continue
            found.append((f"quoted, {what}", other.quoted))
    return [(what, values) for what, values in found if np.isfinite(values).any()]


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
