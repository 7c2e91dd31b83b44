"""Rewards that arrive in batches."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from debandit.engine.data import Ints
from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog
from debandit.policies.policy import Policy
from debandit.policies.wrapper import Wrapper


@dataclass(frozen=True)
class Batched(Wrapper):
    """The rule hears of its rewards only at the end of each batch.

    Within a batch a randomised rule keeps its probabilities and another one its choice. Initial pulls come first, as
    ever; until the end of the batch in which they are complete the arms take turns. `size` is that of all batches, or a
    list with the size of each; None: as in the log's own batches.
    """

    name: ClassVar[str] = "batched"
    policy: Policy
    size: int | tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            several = isinstance(self.size, Iterable) and not isinstance(self.size, str)
            sizes: list[Any] = list(self.size) if several else [self.size]  # type: ignore[arg-type]  # an Iterable
            self._check(
                len(sizes) > 0 and all(isinstance(n, (int, np.integer)) and n > 0 and n is not True for n in sizes),
                f"size must be a whole number of 1 or more, or a list of such, not {shorten(repr(self.size), 30)}",
            )
            object.__setattr__(self, "size", tuple(int(n) for n in sizes) if several else int(sizes[0]))
        super().__post_init__()

    def in_log(self, log: ExperimentLog) -> Policy:
        if self.size is None and log.batch_sizes is None:
            raise _no_batches()
        if self.size is not None and log.batch_sizes is not None:
            raise InputError(
                "both the rule and the log have batches", where="policy", remedy=f"Write {self.name}(RULE)."
            )
        return replace(self, size=log.batch_sizes if self.size is None else self.size)

    def ends(self, horizon: int) -> Ints:
        if self.size is None:
            raise _no_batches()
        if isinstance(self.size, int):
            return np.append(np.arange(self.size, horizon, self.size), horizon)
        ends = np.cumsum(self.size)
        if ends[-1] < horizon:
            raise InputError(
                f"the batches have {ends[-1]:,} rounds, the experiment {horizon:,}",
                where=self.name,
                remedy="Give one size for all batches, or sizes that add up.",
            )
        return np.append(ends[ends < horizon], horizon)


def _no_batches() -> InputError:
    return InputError(
        "it is not known where batches end",
        where="policy",
        remedy="Give their size, as in batched(ucb, size=500), or the log's column of batches (--batch COLUMN).",
    )
