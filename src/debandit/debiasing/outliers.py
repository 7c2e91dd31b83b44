"""Rewards so far from all others that they make the correction alone.

Arms lend one another their spread, so one reward of a million among ordinary ones makes every correction absurd.
"""

import numpy as np

from debandit.errors import shorten
from debandit.log import ExperimentLog
from debandit.log_parts import Floats
from debandit.worlds.fitted import moderated_variances

FEW, PER_REWARDS = 3, 20  # rewards at most, and at most one in this many
LITTLE = 0.03  # of a variance is left without them; docs/worlds.md has how often that is


def carried_by_few(log: ExperimentLog) -> list[str]:
    """A warning if a few rewards make nearly all of the variance that some arm has in the world `smoothed`."""
    if log.rounds is None or log.binary or log.pulls.max() < 2:
        return []
    samples = log.samples()
    pulls, variances = log.pulls.copy(), np.nan_to_num(log.variances)
    few = _farthest(samples)[: min(FEW, log.horizon // PER_REWARDS)]
    before = moderated_variances(pulls, variances)
    for count, (arm, _) in enumerate(few, 1):
        pulls[arm] -= 1
        variances[arm] = _variance(np.delete(samples[arm], [place for k, place in few[:count] if k == arm]))
        if not (pulls > 1).any():
            break
        if (moderated_variances(pulls, variances) < LITTLE * before)[pulls > 0].any():
            return [_said(log, samples, few[:count])]
    return []


def _variance(sample: Floats) -> float:
    return float(sample.var()) if len(sample) > 1 and np.ptp(sample) > 0 else 0.0


def _farthest(samples: list[Floats]) -> list[tuple[int, int]]:
    """The arms and places of the rewards that are farthest from the median of their arm."""
    found = []
    for arm, sample in enumerate(samples):
        distance = np.abs(sample - np.median(sample)) if len(sample) else sample
        places = np.argsort(-distance, kind="stable")[: min(FEW, max(1, len(sample) // PER_REWARDS))]
        found += [(-distance[place], arm, int(place)) for place in places]
    return [(arm, place) for _, arm, place in sorted(found)]


def _said(log: ExperimentLog, samples: list[Floats], few: list[tuple[int, int]]) -> str:
    arm, place = few[0]
    far = f"{samples[arm][place]:.6g} of {shorten(log.labels[arm])}"
    which = f"one reward, {far}, has" if len(few) == 1 else f"{len(few)} rewards, the farthest {far}, together have"
    return (
        f"{which} more than {100 * (1 - LITTLE):.0f} % of the variance from which corrections and intervals are made. "
        'If it is a mistake, repair it. If not, do not trust these; --world "smoothed(sd=...)", with the standard '
        "deviation of ordinary rewards, corrects the other arms without it"
    )
