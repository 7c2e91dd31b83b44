"""Rules that are played under some conditions: rewards in batches, a warm-up; `chance_wrappers` has more.

Wrappers may be nested in any order, each kind once. The order matters only among those that change chances: a warm-up
needs no rewards, batches say of which rewards the rule has heard, and chances are changed where the rule is free.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from debandit.checks import option, whole
from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, Rounds, RuleData
from debandit.engine.kernels import KernelName, ObjectKernel
from debandit.errors import InputError, quoted
from debandit.log import ExperimentLog
from debandit.policies.policy import Lines, Policy


class Wrapper(Policy):
    """What they have in common: a rule inside, and what they make of the conditions under which it is played."""

    policy: Policy

    @abstractmethod
    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        """The conditions of the rule inside with what this wrapper asks for."""

    @property
    def draws(self) -> bool:
        """Whether it chooses arms at random itself."""
        return False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.policy, str):
            from debandit.policies import as_policy  # which knows all rules, this one too

            object.__setattr__(self, "policy", as_policy(self.policy, self.name))
        self._check(isinstance(self.policy, Policy), f"{quoted(self.policy)} is not a rule")
        kinds = [type(layer) for layer in self.layers]
        self._check(len(set(kinds)) == len(kinds), f"{self.name} can be around a rule only once")
        object.__setattr__(self, "randomised", self.policy.randomised or self.draws)
        object.__setattr__(self, "binary_rewards", self.policy.binary_rewards)

    @property
    def layers(self) -> tuple["Wrapper", ...]:
        """The wrappers, from the outermost inward."""
        return (self, *(self.policy.layers if isinstance(self.policy, Wrapper) else ()))

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        return self.around(self.policy.conditions(arm_count, horizon), arm_count, horizon)

    @property
    def core(self) -> Policy:
        return self.policy.core

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        return self.core.kernel

    @property
    def opening(self) -> int:
        return self.policy.opening

    @property
    def by_totals(self) -> bool:
        return self.core.by_totals

    @property
    def says_chances(self) -> bool:
        return self.core.says_chances

    @property
    def needs_batches(self) -> bool:
        return any(isinstance(layer, Batched) and layer.size is None for layer in self.layers)

    @property
    def fingerprint(self) -> str:
        return f"{self}\0{self.core.fingerprint}"

    def among(self, available: NDArray[np.bool_]) -> Policy:
        return replace(self, policy=self.policy.among(available))  # type: ignore[type-var]  # subclasses are dataclasses

    def planned(self, rounds: int) -> int:
        return self.policy.planned(rounds)

    def in_batches(self, log: ExperimentLog, rounds: int = 0) -> Policy:
        return replace(self, policy=self.policy.in_batches(log, rounds))  # type: ignore[type-var]  # subclasses are dataclasses

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return self.core.rule(arm_count, horizon)

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int, *squares: Floats) -> Floats:
        return self.core.free_chances(t, pulls, sums, horizon, *squares)

    def __str__(self) -> str:
        usual = self.defaults()
        shown = [f"{k}={v!r}" for k, v in self.options().items() if k != "policy" and v != usual[k]]
        return f"{self.name}({', '.join([str(self.policy), *shown])})"


@dataclass(frozen=True)
class Batched(Wrapper):
    """The rule learns only at the end of each batch.

    Within a batch a randomised rule keeps its probabilities, and a rule without randomness its choice. Initial pulls
    come first, as always; the arms take turns until the end of the batch in which they are complete.
    """

    name: ClassVar[str] = "batched"
    title: ClassVar[str] = "Rewards come in batches"
    formula: ClassVar[Lines] = ("N_k and S_k are those at the end of the last batch",)
    source: ClassVar[str] = (
        "Perchet, Rigollet, Chassang and Snowberg (2016), Batched bandit problems, Annals of Statistics 44"
    )
    policy: Policy
    size: int | tuple[int, ...] | None = option(
        None, text="rounds in each batch, or a list with the size of each; leave it out if the log has its own batches"
    )

    def __post_init__(self) -> None:
        if self.size is not None:
            several = isinstance(self.size, Iterable) and not isinstance(self.size, str)
            sizes: list[Any] = list(self.size) if several else [self.size]  # type: ignore[arg-type]  # an Iterable
            self._check(
                len(sizes) > 0
                and all(isinstance(n, (int, np.integer)) and n > 0 and n is not True for n in sizes)
                and sum(map(int, sizes)) < 2**53,
                f"size must be a whole number of 1 or more, or a list of them, not {quoted(self.size, 30)}",
            )
            object.__setattr__(self, "size", tuple(int(n) for n in sizes) if several else int(sizes[0]))
        super().__post_init__()

    def in_batches(self, log: ExperimentLog, rounds: int = 0) -> Policy:
        if self.size is None and log.batch_sizes is None:
            raise _no_batches()
        sizes = None if log.batch_sizes is None else _continued(log.batch_sizes, rounds)
        if sizes is not None and self.size not in (None, sizes):
            raise InputError(
                "both the rule and the log have batches", where="policy", remedy=f"Write {self.name}(RULE)."
            )
        return replace(self, size=sizes if self.size is None else self.size)

    def among(self, available: NDArray[np.bool_]) -> Policy:
        if available.all():
            return self
        if not self.by_totals:
            raise InputError(
                f"{self.core.name} needs the order of the rounds, so it cannot take into account which arms were "
                "available",
                where="policy",
                remedy="Go on as if all of them always were: --available all (in Python available='all').",
            )
        return PartlyAvailable(self.policy, self.size, tuple(map(tuple, available.tolist())))

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        if self.size is None:
            raise _no_batches()
        sizes = [self.size] * (horizon // self.size) if isinstance(self.size, int) else self.size
        ends = np.cumsum(sizes, dtype=np.int64)
        if not isinstance(self.size, int) and ends[-1] < horizon:
            raise InputError(
                f"the batches have {ends[-1]:,} rounds, but the experiment has {horizon:,}",
                where=self.name,
                remedy="Give one size for all batches, or sizes that add up.",
            )
        return conditions._replace(ends=np.append(ends[ends < horizon], horizon))


@dataclass(frozen=True)
class PartlyAvailable(Batched):
    """A batched rule as it ran in a log whose arms were not available in every batch; the log says which were."""

    available: tuple[tuple[bool, ...], ...] = ()

    def among(self, available: NDArray[np.bool_]) -> Policy:
        return Batched(self.policy, self.size).among(available)

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        conditions = super().around(conditions, arm_count, horizon)
        further = [self.available[-1]] * (len(conditions.ends) - len(self.available))  # as in the log's last batch
        return conditions._replace(available=np.array([*self.available, *further]))

    def __str__(self) -> str:
        return str(Batched(self.policy, self.size))


def _continued(sizes: tuple[int, ...], rounds: int) -> tuple[int, ...]:
    """The log's batches, and as many of its most frequent size as it takes to have this many rounds."""
    lacking, usual = max(rounds - sum(sizes), 0), Counter(sizes).most_common(1)[0][0]
    return sizes + (usual,) * -(-lacking // usual)


def _no_batches() -> InputError:
    return InputError(
        "a rule in batches, but nothing says where the batches end",
        where="policy",
        remedy="Give their size, as in batched(ucb, size=500), or name the log's column of batches (--batch COLUMN), "
        "or make batches from its times (--batch-by day).",
    )


@dataclass(frozen=True)
class WarmUp(Wrapper):
    """First `rounds` rounds with an even random split, or `pulls` of each arm in turn; then the rule, which knows them.

    If an arm lacks some of the rule's initial pulls then, it gets them at once, in index order.
    """

    name: ClassVar[str] = "warm_up"
    title: ClassVar[str] = "First an even split"
    formula: ClassVar[Lines] = ("p_k = 1 / K for t ≤ rounds, then the rule's",)
    policy: Policy
    rounds: int = whole(0, text="rounds with an even random split")
    pulls: int = whole(0, text="or pulls of each arm, in turn")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(not (self.rounds and self.pulls), "give either rounds, with an even split, or pulls of each arm")

    @property
    def draws(self) -> bool:
        return self.rounds > 0

    @property
    def opening(self) -> int:
        """0 if there is any, for it is not known beforehand what an arm lacks after it."""
        return 0 if self.rounds or self.pulls else self.policy.opening

    def around(self, conditions: Conditions, arm_count: int, horizon: int) -> Conditions:
        return conditions._replace(turns=min(self.pulls * arm_count, horizon), uniform=min(self.rounds, horizon))
