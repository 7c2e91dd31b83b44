"""Simulated experiments as tables of batches."""

import numpy as np

import debandit as db


def table_of(arms, rewards, sizes, arm_count, binary, **options):
    """The log whose batches have these sizes, one row for each batch and arm with pulls."""
    cells = np.repeat(np.arange(len(sizes)), sizes) * arm_count + arms
    counts, sums, squares = (np.bincount(cells, w, len(sizes) * arm_count) for w in (None, rewards, rewards**2))
    pulled = counts > 0
    means = sums[pulled] / counts[pulled]
    return db.ExperimentLog.from_batches(
        np.repeat(np.arange(1, len(sizes) + 1), arm_count)[pulled],
        np.tile(np.arange(1, arm_count + 1), len(sizes))[pulled],
        counts[pulled],
        means,
        None if binary else np.maximum(squares[pulled] / counts[pulled] - means**2, 0.0),
        labels=range(1, arm_count + 1),
        binary=binary,
        **{"available": "all"} | options,
    )


def tables(rule, world, sizes, count, seed=91):
    """Logs of `batched(rule)` that keep the counts of batches only."""
    policy = db.Batched(rule, size=tuple(sizes))
    runs = db.simulate(policy, world, horizon=sum(sizes), runs=count, seed=seed, paths=True)
    return [
        table_of(arms, rewards, sizes, world.arm_count, world.binary)
        for arms, rewards in zip(runs.path_arms, runs.path_rewards, strict=True)
    ]


DAYS = """\
day,variant,users,conversions
1,old,500,20
1,new,500,31
2,old,55,3
2,new,945,61
"""  # as batched(beta_thompson) may make it: after the first day the new one is better with 94 % probability
