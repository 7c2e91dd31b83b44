"""From a question to results, by either method."""

import numpy as np

from debandit.debiasing.assembling import reordered, result_of
from debandit.debiasing.preparing import compared_with, stacks, world_of
from debandit.debiasing.question import Question
from debandit.debiasing.running import estimate
from debandit.reordering import rao_blackwell
from debandit.result import Debiased


def bootstrapped(question: Question) -> list[Debiased]:
    """Algorithm 1."""
    logs, rules, settings, intervals = question.logs, question.rules(), question.settings(), question.intervals()
    controls = [compared_with(log, question.control) for log in logs]
    worlds = [
        world_of(log, rule, kind, question.unseen)
        for log, rule, (kind, _) in zip(logs, rules, question.worlds(), strict=True)
    ]
    doubts = question.doubts()
    results: dict[int, Debiased] = {}
    for batch, experiment in stacks(logs, worlds, rules, question.seed, question.log_index):
        estimates = estimate(
            experiment,
            [logs[i] for i in batch],
            [worlds[i].variances for i in batch],
            np.stack([controls[i] for i in batch]),
            question.runs,
            question.control_variates,
            question.workers,
        )
        for i, estimated in zip(batch, estimates, strict=True):
            results[i] = result_of(logs[i], worlds[i], estimated, settings[i], doubts[i], intervals[i])
    return [results[i] for i in range(len(logs))]


def replayed(question: Question) -> list[Debiased]:
    """Rao-Blackwell."""
    settings, intervals = question.settings(), question.intervals()
    found = [
        rao_blackwell(
            log,
            rule,
            runs=question.runs,
            seed=question.seed,
            threads=question.threads,
            executor=question.executor,
            log_index=question.log_index + i,
        )
        for i, (log, rule) in enumerate(zip(question.logs, question.rules(), strict=True))
    ]
    parts = zip(question.logs, found, settings, question.doubts(), intervals, strict=True)
    return [reordered(*each) for each in parts]
