"""Which method is recommended for a log, on grounds that were measured; nothing is recommended elsewhere."""

from typing import NamedTuple

import numpy as np

from debandit.checking.fit import WARNED
from debandit.checking.reward_tests import RewardTest, examine_rewards
from debandit.comparing.methods import BATCH_WEIGHTED, CORRECTED, NAIVE, QUOTED, RAO_BLACKWELL, Inputs
from debandit.engine.places import LEADS, Places
from debandit.errors import listed, shorten
from debandit.intervals import Interval
from debandit.log import ExperimentLog
from debandit.periods import COMMON, Cells, cells_of
from debandit.policies import Policy

FEW, MANY = 2, 10  # pulls, of an arm that does not lead: docs/quoted.md, where it is weak
LEVEL = 0.95
CLOSED = ("binary", "pooled-t", "two-part", "wald", "none")  # intervals without simulation


class Ground(NamedTuple):
    """Experiments on which the means were measured, and the errors of the best-looking arm there.

    These are mean errors in units of the naive RMSE, as absolute values, averaged over settings (docs/quoted.md, and
    docs/compare.md for the last).
    """

    experiments: str
    rules: tuple[str, ...]
    rounds: tuple[int, int]
    arms: tuple[int, int]
    binary: bool
    batches: tuple[int, int] | None
    errors: dict[str, float]

    def holds(self, log: ExperimentLog, policy: Policy) -> bool:
        """Whether the log is such an experiment."""
        sizes = log.batch_sizes
        around = [layer.name for layer in getattr(policy, "layers", ())]
        return (
            policy.core.name in self.rules
            and around == ([] if self.batches is None else ["batched"])
            and log.binary == self.binary
            and (self.batches is None or (sizes is not None and _between(len(sizes), self.batches)))
            and _between(log.horizon, self.rounds)
            and _between(len(log.labels), self.arms)
        )


_SMALL = ("etc", "ucb", "thompson", "epsilon_greedy"), (60, 300), (2, 8)
GROUNDS = (
    Ground(
        "random settings with 60 to 300 rounds of 2 to 8 arms and rewards on a scale",
        *_SMALL,
        binary=False,
        batches=None,
        errors={QUOTED: 0.117, NAIVE: 0.309, CORRECTED: 0.958},
    ),
    Ground(
        "random settings with 60 to 300 rounds of 2 to 8 arms and 0/1 rewards",
        *_SMALL,
        binary=True,
        batches=None,
        errors={QUOTED: 0.095, NAIVE: 0.397, CORRECTED: 1.034},
    ),
    Ground(
        "settings with 20,000 to 100,000 users of 2 to 5 arms in 10 to 100 batches of Thompson sampling",
        ("thompson", "beta_thompson"),
        (20_000, 100_000),
        (2, 5),
        binary=True,
        batches=(10, 100),
        errors={QUOTED: 0.247, NAIVE: 0.558, CORRECTED: 1.064},
    ),
)
MEASURED = (
    "60 to 300 rounds of 2 to 8 arms under etc, ucb, thompson or epsilon_greedy, and 0/1 rewards of 20,000 to 100,000 "
    "users in 10 to 100 batches of Thompson sampling"
)


class Advice(NamedTuple):
    """What is recommended for a log.

    Attributes
    ----------
    estimates : tuple of str
        For each arm the method whose estimate is recommended.
    interval : str
        The method whose interval is recommended; empty if none is.
    because : tuple of str
        Why.
    """

    estimates: tuple[str, ...]
    interval: str
    because: tuple[str, ...]


def advice_for(given: Inputs, possible: set[str]) -> Advice:
    """What to take of the methods that are possible here."""
    nothing = ("",) * len(given.log.labels)
    ran = given.policy.in_log(given.log)
    sizes = ran.batch_sizes(len(given.log.labels), given.log.horizon)
    tests = examine_rewards(given.log, sizes)
    if given.work.force:
        why = "Nothing is recommended: --force skipped the check of the rule, and everything depends on the rule."
        return Advice(nothing, "", (why,))
    if kind := tests.kind(WARNED):
        cells = cells_of(given.log, sizes) if BATCH_WEIGHTED in possible else None
        return _under_drift(given.log, kind, tests.drift, cells)
    ground = next((ground for ground in GROUNDS if ground.holds(given.log, given.policy)), None)
    if ground is None:
        why = (
            "Nothing is recommended, because no experiments like this one were measured. In those that were "
            f"({MEASURED}) the quoted means had the smallest bias for the best-looking arm."
        )
        return Advice(nothing, "", (why,))
    return _on(ground, given, possible)


def _under_drift(log: ExperimentLog, kind: str, drift: RewardTest | None, cells: Cells | None) -> Advice:
    """Batch-weighted means, if there are cells for them; those of arms with empty cells need a drift that all share."""
    whose = "all arms" if kind == COMMON or drift is None else shorten(drift.arm)
    drifts = f"The rewards of {whose} drift. Only the methods that compare within batches allow for that."
    filled = (cells.pulls == 0).any(axis=0) if cells is not None else np.ones(len(log.labels), bool)
    taken = (log.pulls > 0) & (cells is not None) & ((kind == COMMON) | ~filled)
    if not taken.any():
        return Advice(("",) * len(filled), "", (f"{drifts} Nothing is recommended.",))
    because = [
        f"{drifts} Recommended here (*): batch-weighted means. Drift does not bias them if an arm is sure of pulls in "
        "every batch."
    ]
    if filled.any():
        text = "no pulls in some batches. What was filled in there is right only if all arms drift alike"
        because.append(f"{_named(log, filled)}: {text}{'.' if kind == COMMON else ', and here they do not.'}")
    return Advice(tuple(np.where(taken, BATCH_WEIGHTED, "").tolist()), "", tuple(because))


def _on(ground: Ground, given: Inputs, possible: set[str]) -> Advice:
    """The quoted means, but for arms of which the naive one is known to be better."""
    log, interval = given.log, given.result.interval
    follows = (log.pulls > 0) & (Places.of(log.pulls, log.means).place != LEADS)
    weak = follows & (not ground.binary)
    better_naive, still_low = weak & (log.pulls > MANY), weak & (log.pulls <= FEW)
    errors = ", ".join(f"{error:.2f} with {name}" for name, error in ground.errors.items())
    because = [
        "Recommended here (*): the quoted mean, because this is one log. "
        f"In {ground.experiments} the bias for the best-looking arm was {errors} means, "
        "in units of the naive RMSE."
    ]
    if better_naive.any():
        because.append(
            f"{_named(log, better_naive)}: the naive mean. For arms that do not lead and have more than {MANY} pulls "
            "the quoted means were too high on average, and the naive ones nearly right."
        )
    if still_low.any():
        because.append(f"{_named(log, still_low)}: pulled once or twice; the quoted mean is probably still too low.")
    trusted = _is_trusted(interval, ground)
    if trusted:
        because.append(f"Interval (*), the one of debias: {interval.known}.")
    elif interval.name != "none":
        which = f"{interval.name} at {100 * interval.level:g} %"
        because.append(
            f"No interval is recommended: the one of debias, {which}, is not known to hold in such experiments."
        )
    because.append("To put many experiments together, take the corrected means.")
    if RAO_BLACKWELL in possible:
        because.append(
            "If bias is worse for you than scatter, take Rao-Blackwell: its RMSE was 1.06 to 1.16 times the naive one."
        )
    because.append("The other methods were not measured in these settings.")
    chosen = np.where(better_naive, NAIVE, np.where(log.pulls > 0, QUOTED, ""))
    return Advice(tuple(chosen.tolist()), QUOTED if trusted else "", tuple(because))


def _is_trusted(interval: Interval, ground: Ground) -> bool:
    """Whether its coverage was measured there, and held; in long experiments closed forms are known to fail."""
    known = interval.level == LEVEL and bool(np.isfinite(interval.low).any())
    known = known and not interval.known.startswith("not measured")
    return known and interval.name not in (("none", "wald") if ground.batches is None else CLOSED)


def _named(log: ExperimentLog, which: np.ndarray) -> str:
    return listed([log.labels[k] for k in np.flatnonzero(which)])


def _between(value: int, limits: tuple[int, int]) -> bool:
    return limits[0] <= value <= limits[1]
