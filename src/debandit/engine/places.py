"""The bias of an arm's mean given its place in the log: what it is in runs in which the arm stands as it does there.

A place is to lead, to be second, or to be among the rest, by the sample means, and to be the arm that was pulled most
or not; of equals the first counts. Few runs may have an arm in its place, so the average over them is drawn towards
that over more runs, each time as if there were three runs more: from all runs to those in which the arm leads or does
not, as in the log, to those with the same place, to those in which it also is or is not the most pulled arm. Of the
leader it is the mean of whichever arm leads a run, drawn from all runs to those in which that arm is or is not the most
pulled one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from debandit.engine.control_variates import ERROR, FEATURES, PULLED, Fitted, fit
from debandit.engine.data import Floats, Ints

LEADS, SECOND, REST, NOWHERE = 0, 1, 2, -1
CLASSES = 3  # nested: leads or not, place, and most pulled or not
_PSEUDO_RUNS = 3.0
OF_LEADER = FEATURES + 1  # its features, and whether the run is of its class


class Places(NamedTuple):
    """Where arms stand, by their means and pulls."""

    place: Ints  # (..., K)
    most_pulled: NDArray[np.bool_]  # (..., K)

    @classmethod
    def of(cls, pulls: Ints | Floats, means: Floats) -> "Places":
        """The places of arms (..., K); one without a pull has none."""
        seen = pulls > 0
        left = np.where(seen, means, -np.inf)
        place, arms = np.where(seen, REST, NOWHERE), np.arange(pulls.shape[-1])
        for which in (LEADS, SECOND):
            best = (arms == left.argmax(axis=-1)[..., None]) & np.isfinite(left)
            place, left = np.where(best, which, place), np.where(best, -np.inf, left)
        return cls(place, arms == np.argmax(pulls, axis=-1)[..., None])

    def within(self, first: int, end: int) -> "Places":
        """Those of some worlds alone."""
        return Places(self.place[first:end], self.most_pulled[first:end])


def placed(table: Floats, described: Floats, log: Places) -> tuple[Floats, Floats]:
    """Sums over the runs of each arm's classes, and the features of the leader of each run.

    Of a table (S, rows, K, runs) with the features (F, rows, K, runs), for arms that stand like that in the `log`. The
    sums (rows, K, CLASSES, 3) are the number of runs, their errors, and the squares of these.
    """
    pulls, sums = table[0].swapaxes(1, 2), table[1].swapaxes(1, 2)
    runs = Places.of(pulls, np.divide(sums, pulls, out=np.zeros_like(sums), where=pulls > 0))  # (rows, runs, K)
    place, most = runs.place.swapaxes(1, 2), runs.most_pulled.swapaxes(1, 2)  # (rows, K, runs)
    own, own_most = log.place[..., None], log.most_pulled[..., None]
    similar = ((place == LEADS) == (own == LEADS)) & (place != NOWHERE)
    same = place == own
    member = np.stack((similar, same, same & (most == own_most)), axis=2).astype(np.float64)  # (rows, K, 3, runs)
    error = described[ERROR][:, :, None]
    classes = np.stack((member, member * error, member * error * error), axis=-1).sum(axis=-2)
    leads = place == LEADS
    alike = (leads & most).any(axis=1) == (log.most_pulled & (log.place == LEADS)).any(axis=1)[:, None]
    top = np.zeros((OF_LEADER, *alike.shape))
    top[: len(described)] = described.sum(axis=2)  # of all arms: 0 on average, whichever arm leads
    top[PULLED], top[ERROR], top[-1] = 1.0, (described[ERROR] * leads).sum(axis=1) * alike, alike
    return classes, top


class Quoted(NamedTuple):
    """The bias of each arm given its place, and its Monte-Carlo standard error (W, K)."""

    bias: Floats
    se: Floats


def quoted_biases(classes: Floats, leader: Floats, log: Places, moments: Floats, arms: Fitted, best: Fitted) -> Quoted:
    """What is to be taken off each arm's mean; NaN for arms without a place."""
    bias, se = _others(classes, moments.sum(axis=-3), arms)
    first_bias, first_se = _leader(leader, best)
    leads = log.place == LEADS
    bias, se = np.where(leads, first_bias[:, None], bias), np.where(leads, first_se[:, None], se)
    nowhere = log.place == NOWHERE
    return Quoted(np.where(nowhere, np.nan, bias), np.where(nowhere, np.nan, se))


def _others(classes: Floats, whole: Floats, arms: Fitted) -> tuple[Floats, Floats]:
    """From the bias over all runs through smaller and smaller classes of them.

    The answer is a weighted sum of the averages over the classes, and the weight of a run is the sum of those of the
    classes that it belongs to. Within a class runs vary as they do in the next larger one, as far as it is small.
    """
    count, total, squares = np.moveaxis(classes, -1, 0)  # (W, K, CLASSES)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(count > 0, total / count, 0.0)
        within = np.maximum(squares - count * mean**2, 0.0)
    share = count / (count + _PSEUDO_RUNS)
    bias, rest = arms.bias, np.ones(arms.bias.shape)
    weights = np.zeros(count.shape)  # of the average over each class
    for i in range(CLASSES):
        bias = np.where(count[..., i] > 0, share[..., i] * mean[..., i] + (1 - share[..., i]) * bias, bias)
        weights[..., :i] *= (1 - share[..., i])[..., None]
        weights[..., i] = share[..., i]
        rest = rest * (1 - share[..., i])
    variance = (rest * arms.se) ** 2
    each = np.divide(weights, count, out=np.zeros(count.shape), where=count > 0).cumsum(axis=-1)  # of one run
    pulled = np.maximum(whole[..., PULLED, PULLED], 1.0)
    spread = np.maximum(whole[..., ERROR, ERROR] / pulled - (whole[..., PULLED, ERROR] / pulled) ** 2, 0.0)
    for i in range(CLASSES):
        spread = (within[..., i] + _PSEUDO_RUNS * spread) / np.maximum(count[..., i] - 1 + _PSEUDO_RUNS, 1.0)
        beyond = count[..., i + 1] if i + 1 < CLASSES else 0.0
        variance = variance + (count[..., i] - beyond) * each[..., i] ** 2 * spread
    return bias, np.sqrt(variance)


def _leader(products: Floats, best: Fitted) -> tuple[Floats, Floats]:
    """The bias of whichever arm leads, in the runs of its class, drawn towards that in all runs.

    With control variates: what an average over the class differs from the truth is the intercept of the errors in the
    class, 0 in other runs, on the sums over all runs, divided by the share of the class.
    """
    whole = products.sum(axis=1)
    runs, count = whole[:, PULLED, PULLED], whole[:, -1, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        plain = np.where(count > 0, whole[:, PULLED, ERROR] / count, 0.0)
        change = np.zeros((len(products), FEATURES, OF_LEADER))
        change[:, np.arange(FEATURES), np.arange(FEATURES)] = 1.0
        change[:, ERROR, -1] = -plain
        centred = fit(change[:, None] @ products @ change[:, None].swapaxes(-1, -2))
        mean = np.where(count > 0, plain + centred.bias * runs / count, 0.0)
        error = np.where(count > 0, centred.se * runs / count, 0.0)
    share = count / (count + _PSEUDO_RUNS)
    return share * mean + (1 - share) * best.bias, np.hypot(share * error, (1 - share) * best.se)
