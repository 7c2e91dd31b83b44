"""What is in a log, before anything is corrected."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from debandit.engine.conditions import LARGE
from debandit.errors import between, listed, printable, shorten
from debandit.files import known
from debandit.intervals import chosen_interval
from debandit.log import ExperimentLog
from debandit.log_parts import Floats
from debandit.policies import RULES
from debandit.readers import logs_of
from debandit.tables import NARROW, Column, Part, Printed, Table, decimals_for, plain, render
from debandit.worlds import as_bootstrap

SLICES = 40  # of time, in the picture
_BARS = " ▁▂▃▄▅▆▇█"
_LONGEST_LABEL = 24
_METRIC = "metric:"  # before its name, in a row
_MOST_BATCHES, _MOST_ARMS = 12, 8  # of the table per batch
_COLUMNS = (
    Column("arm", "arm", "text"),
    Column("pulls", "pulls", "count"),
    Column("share", "share", "share"),
    Column("mean", "mean", "number"),
    Column("sd", "std. dev.", "number"),
    Column("zeros", "zeros", "share"),
    Column("first", "first", "text"),
    Column("last", "last", "text"),
)


def describe(log: Any) -> "Description":
    """Say what is in a log: per arm, over time, and which rules, world and interval suit it.

    Parameters
    ----------
    log : ExperimentLog, data frame, mapping of columns or path
        What happened.

    Returns
    -------
    Description
        The answer; printed, it is a text.

    Examples
    --------
    >>> import debandit as db
    >>> found = db.describe(db.datasets.ecmo.log)
    >>> found.headline
    '2 arms, 12 rounds; rewards are 0/1'
    >>> print(found.picture())
    share of the pulls over time
    ECMO          █ ██████████|
    conventional   █          |
    """
    (one,) = logs_of([log], batched=True)
    return Description(one)


@dataclass(frozen=True, eq=False)
class Description(Printed):
    """A log in words, in numbers and as a picture.

    Attributes
    ----------
    log : ExperimentLog
        The log.
    """

    log: ExperimentLog

    @property
    def headline(self) -> str:
        """How much there is, and of what kind."""
        log, sizes = self.log, self.log.batch_sizes
        kind = "0/1" if log.binary else "numbers" if log.has_rewards else "known by means and variances"
        batches = "" if sizes is None else f" in {len(sizes):,} batch{'es' * (len(sizes) != 1)} of {between(sizes)}"
        return f"{len(log.labels):,} arms, {log.horizon:,} rounds{batches}; rewards are {kind}"

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per arm."""
        log = self.log
        samples = log.samples() if log.has_rewards else [np.full(1, np.nan)] * len(log.labels)
        return [
            {
                "arm": label,
                "pulls": int(log.pulls[k]),
                "share": log.pulls[k] / log.horizon,
                "mean": float(log.means[k]),
                "sd": float(np.sqrt(log.variances[k] * log.pulls[k] / max(log.pulls[k] - 1, 1))),
                "zeros": float((samples[k] == 0).mean()) if log.has_rewards and len(samples[k]) else np.nan,
                "first": self._when(k, 0),
                "last": self._when(k, -1),
                **{_METRIC + name: float(metric.means[k]) for name, metric in log.metrics.items()},
            }
            for k, label in enumerate(log.labels)
        ]

    def _when(self, arm: int, which: int) -> str:
        """The first or the last round or batch of an arm."""
        if self.log.batches is not None:
            found = np.flatnonzero(self.log.batches.pulls[:, arm])
            return self.log.batches.names[found[which]] if len(found) else "–"
        if self.log.rounds is None:
            return "–"
        found = np.flatnonzero(self.log.rounds.arms == arm)
        return f"{found[which] + 1:,}" if len(found) else "–"

    def shares(self) -> Floats | None:
        """The share of each arm in slices of time (slices, arms), or None if the order is not known."""
        if self.log.batches is not None:
            pulls: Floats = self.log.batches.pulls.astype(np.float64)
        elif self.log.rounds is not None:
            arms, count = self.log.rounds.arms, len(self.log.labels)
            slices = min(SLICES, self.log.horizon)
            part = np.arange(self.log.horizon) * slices // self.log.horizon
            pulls = np.bincount(part * count + arms, minlength=slices * count).reshape(slices, count).astype(np.float64)
        else:
            return None
        shares: Floats = pulls / pulls.sum(axis=1, keepdims=True)
        return shares

    def picture(self) -> str:
        """A line of bars for each arm: its share of the pulls over time."""
        shares = self.shares()
        if shares is None:
            return ""
        if len(shares) > SLICES:
            shares = np.array([part.mean(axis=0) for part in np.array_split(shares, SLICES)])
        labels = [printable(label)[:_LONGEST_LABEL] for label in self.log.labels]
        width = max(map(len, labels))
        bars = ["".join(_BARS[round(share * (len(_BARS) - 1))] for share in arm) for arm in shares.T]
        title = "share of the pulls, batch by batch" if self.log.batches is not None else "share of the pulls over time"
        return "\n".join([title, *(f"{label:{width}}  {line}|" for label, line in zip(labels, bars, strict=True))])

    def suits(self) -> str:
        """Which world, interval and rules suit such rewards."""
        large = bool(self.log.batch_sizes) and self.log.horizon >= LARGE * len(self.log.batch_sizes or ())
        world, why = as_bootstrap("auto").chosen_for(self.log, large)
        numbers = [rule for rule in RULES.values() if rule.binary_rewards and not self.log.binary]
        arms = [rule for rule in RULES.values() if rule.two_arms and len(self.log.labels) != 2 and rule not in numbers]
        needs = ((len(numbers), "0/1 rewards"), (len(arms), "two arms"))
        left = " and ".join(f"{count} need{'s' * (count == 1)} {what}" for count, what in needs if count)
        suiting = len(RULES) - len(numbers) - len(arms)
        suit = f"{suiting} of the {len(RULES)} rules suit; {left}" if left else f"all {len(RULES)} rules suit"
        return f"debias will use the world {world.name} ({why}) and the interval {chosen_interval(self.log)[0]}; {suit}"

    def batches(self) -> str:
        """A table of users and shares batch by batch, of many batches the first and the last ones."""
        sizes, labels = self.log.batch_sizes, self.log.labels
        if sizes is None or len(labels) > _MOST_ARMS:
            return ""
        known, rounds = self.log.batches, self.log.rounds
        names = known.names if known is not None else [str(i + 1) for i in range(len(sizes))]
        ends = np.cumsum(sizes)
        count, half = len(sizes), _MOST_BATCHES // 2
        rows: list[dict[str, Any]] = []
        for i in range(count) if count <= _MOST_BATCHES else (*range(half), *range(count - half, count)):
            if known is not None:
                pulls = known.pulls[i]
            elif rounds is not None:
                pulls = np.bincount(rounds.arms[ends[i] - sizes[i] : ends[i]], minlength=len(labels))
            rows.append(
                {"batch": names[i], "users": sizes[i], **{str(k): n / sizes[i] for k, n in enumerate(pulls.tolist())}}
            )
        columns = [Column("batch", "batch", "text"), Column("users", "users", "count")]
        room = min(_LONGEST_LABEL, (NARROW - 10) // len(labels))
        columns += [Column(str(k), shorten(printable(label), room), "share") for k, label in enumerate(labels)]
        lines = render(rows, columns, 1).split("\n")
        if count > _MOST_BATCHES:
            lines.insert(2 + half, f"... {count - 2 * half:,} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return plain(self.parts())

    def parts(self) -> list[Part]:
        """The pieces of what is printed."""
        rows = self.rows()
        errors = [row["sd"] / np.sqrt(max(row["pulls"], 1)) for row in rows]
        shown = {name: f"mean {printable(name)[:_LONGEST_LABEL]}" for name in self.log.metrics}
        metrics = [Column(_METRIC + name, title, "number") for name, title in shown.items()]
        pictures = [tuple(text.split("\n")) for text in (self.picture(), self.batches()) if text]
        unseen = [f"never pulled: {listed(self.log.unseen)}"] if self.log.unseen else []
        return [
            Part("headline", self.headline, strong=True),
            Part("arms", Table(rows, (*_COLUMNS, *metrics), decimals_for(errors))),
            *(Part("over time", lines) for lines in pictures),
            *(Part("unseen", text) for text in unseen),
            *(Part("note", text) for text in self.log.absences),
            Part("suits", self.suits()),
        ]

    def document(self) -> dict[str, Any]:
        """What a JSON file has."""
        log = self.log
        found = {"horizon": log.horizon, "binary": log.binary, "batch_sizes": log.batch_sizes, "arms": self.rows()}
        return {"schema": "debandit.description", "schema_version": 1, **known(found), "notes": list(log.notes)}
