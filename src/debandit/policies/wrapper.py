"""What wrappers have in common: a rule inside, and a plan that the loop follows around it.

Wrappers may be nested in any order, each kind once. The order makes no difference: a floor is for the rounds in which
the rule is free, a warm-up needs no rewards, and batches say of which rewards the rule has heard.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from debandit.engine.batches import are_large
from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, Plan, RuleData
from debandit.engine.kernels import KernelName
from debandit.engine.objects import ObjectKernel
from debandit.errors import InputError, shorten
from debandit.log import ExperimentLog
from debandit.policies.choices import before, certain, totals_at
from debandit.policies.policy import Policy


class Wrapper(Policy):
    """A rule that is played under some conditions. Subclasses say which, by overriding one of the four questions."""

    policy: Policy

    def turns(self, arm_count: int) -> int:
        """So many first rounds in which the arms take turns."""
        return 0

    def uniform_rounds(self) -> int:
        """So many first rounds in which every arm has the same probability."""
        return 0

    def share(self, arm_count: int) -> float:
        """The probability with which a free choice is replaced by a uniform one."""
        return 0.0

    def ends(self, horizon: int) -> Ints | None:
        """The rounds after which the rule hears of its rewards."""
        return None

    def __post_init__(self) -> None:
        if isinstance(self.policy, str):
            from debandit.policies import as_policy  # which knows all rules, this one too

            object.__setattr__(self, "policy", as_policy(self.policy, self.name))
        self._check(isinstance(self.policy, Policy), f"{shorten(repr(self.policy))} is not a rule")
        kinds = [type(layer) for layer in self.layers]
        self._check(len(set(kinds)) == len(kinds), f"a {self.name} rule cannot be {self.name} once more")
        mixes = any(layer.uniform_rounds() or layer.share(2) > 0 for layer in self.layers)
        object.__setattr__(self, "randomised", self.core.randomised or mixes)
        object.__setattr__(self, "binary_rewards", self.core.binary_rewards)

    @property
    def layers(self) -> tuple["Wrapper", ...]:
        """The wrappers, from the outermost inward."""
        return (self, *(self.policy.layers if isinstance(self.policy, Wrapper) else ()))

    @property
    def core(self) -> Policy:
        """The rule inside all wrappers."""
        return self.layers[-1].policy

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        return self.core.kernel

    @property
    def opening(self) -> int:
        """That of the rule inside; 0 with a warm-up, after which it is not known beforehand what an arm still lacks."""
        warm = any(layer.uniform_rounds() or layer.turns(1) for layer in self.layers)
        return 0 if warm else self.core.opening

    @property
    def by_totals(self) -> bool:
        return self.core.by_totals

    def in_large_batches(self, arm_count: int, horizon: int) -> bool:
        return self.by_totals and are_large(self.plan(arm_count, horizon).ends, horizon)

    def batch_chances(self, known: int, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        return self.core.probabilities(known, pulls, sums, horizon)

    @property
    def fingerprint(self) -> str:
        return f"{self}\0{self.core.fingerprint}"

    def in_log(self, log: ExperimentLog) -> Policy:
        return replace(self, policy=self.policy.in_log(log))  # type: ignore[type-var]  # subclasses are dataclasses

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return self.core.rule(arm_count, horizon)._replace(plan=self.plan(arm_count, horizon))

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        plan = self.plan(arm_count, horizon)
        turns, uniform = min(plan.turns, horizon), min(plan.uniform, horizon)
        return self.core.conditions(arm_count, horizon)._replace(
            turns=turns, uniform=uniform, ends=plan.ends, floor=plan.floor
        )

    def plan(self, arm_count: int, horizon: int) -> Plan:
        """What all wrappers together ask of the loop."""
        turns = max(layer.turns(arm_count) for layer in self.layers)
        uniform = max(layer.uniform_rounds() for layer in self.layers)
        share = max(layer.share(arm_count) for layer in self.layers)
        given = [ends for layer in self.layers if (ends := layer.ends(horizon)) is not None]
        ends = given[0] if given else np.empty(0, np.int64)
        settled = max(turns, uniform) + self.core.opening * arm_count
        if len(ends) and self.core.opening:
            settled = int(ends[min(int(np.searchsorted(ends, settled)), len(ends) - 1)])
        return Plan(True, turns, uniform, settled, share, ends)

    def probabilities(self, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike, horizon: int) -> Floats:
        n, s = np.asarray(pulls), np.asarray(sums, dtype=np.float64)
        plan = self.plan(n.shape[-1], horizon)
        committed = self.core.rule(n.shape[-1], horizon).hold and (plan.turns or plan.uniform or plan.floor > 0)
        if len(plan.ends) or committed:
            raise InputError(
                f"the choices of {self} do not follow from totals alone", where="policy", remedy="Give the whole log."
            )
        rounds = np.broadcast_to(np.asarray(t), n.shape[:-1])
        prescribed = _prescribed(plan, self.core.opening, rounds, n, n)
        with np.errstate(invalid="ignore", divide="ignore"):  # an arm without a pull, in rounds that are prescribed
            chances = self.core.probabilities(t, n, s, horizon)
        return _planned(plan, rounds, prescribed, chances)

    def path_probabilities(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        plan, rounds, prescribed, known = self._along(arms, rewards, arm_count)
        if plan.floor > 0 and self.core.options().get("ties") == "random" and self.core.rule(arm_count, 1).hold:
            raise InputError(f"the log of {self} does not show what it committed to", where="policy")
        with np.errstate(invalid="ignore", divide="ignore"):
            chances = self.core.known_probabilities(arms, rewards, arm_count, prescribed, known)
        return _planned(plan, rounds, prescribed, chances)

    def path_scores(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        plan, _, prescribed, known = self._along(arms, rewards, arm_count)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = self.core.known_scores(arms, rewards, arm_count, prescribed, known)
        return np.where((prescribed[..., None] >= 0) | (plan.floor > 0), np.nan, scores)

    def heard(self, arm_count: int, horizon: int) -> Ints:
        ends, rounds = self.plan(arm_count, horizon).ends, np.arange(horizon)
        return np.append(0, ends)[np.searchsorted(ends, rounds, side="right")] if len(ends) else rounds

    def at_rounds(self, rounds: Ints, arms: Ints, rewards: Floats, arm_count: int) -> tuple[Floats, Floats]:
        if not self.by_totals:
            return super().at_rounds(rounds, arms, rewards, arm_count)
        plan, _, prescribed, known = self._along(arms, rewards, arm_count)
        starts, back = np.unique(known[rounds], return_inverse=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = self.core._by_totals(starts, *totals_at(arms, rewards, arm_count, starts), len(arms))
        chances, scores = (part[back] for part in found)
        fixed = prescribed[rounds]
        return _planned(plan, rounds, fixed, chances), np.where(fixed[:, None] >= 0, np.nan, scores)

    def _along(self, arms: Ints, rewards: Floats, arm_count: int) -> tuple[Plan, Ints, Ints, Ints]:
        """The plan, the rounds, what is prescribed in them, and of how many rounds the rule has heard before each."""
        horizon = arms.shape[-1]
        plan, rounds, known = self.plan(arm_count, horizon), np.arange(horizon), self.heard(arm_count, horizon)
        early = slice(min(horizon, plan.settled))
        pulls, _ = before(arms[..., early], rewards[..., early], arm_count)
        heard = pulls[..., known[early], :]
        prescribed = np.full(arms.shape, -1)
        prescribed[..., early] = _prescribed(plan, self.core.opening, rounds[early], pulls, heard)
        return plan, rounds, prescribed, known

    def __str__(self) -> str:
        usual = self.defaults()
        shown = [f"{k}={v!r}" for k, v in self.options().items() if k != "policy" and v != usual[k]]
        return f"{self.name}({', '.join([str(self.policy), *shown])})"


def _prescribed(plan: Plan, opening: int, rounds: Ints, pulls: Ints, heard: Ints) -> Ints:
    """The arm that must be pulled, or -1; 0 where it is uniform. The loop does the same in `engine.wrapped`."""
    arm_count = pulls.shape[-1]
    lacks, unheard = pulls < opening, (heard < opening).any(axis=-1)
    prescribed = np.where(lacks.any(axis=-1), np.argmax(lacks, axis=-1), np.where(unheard, rounds % arm_count, -1))
    prescribed = np.where(rounds < plan.turns, rounds % arm_count, prescribed)
    return np.where(rounds < plan.uniform, 0, prescribed)


def _planned(plan: Plan, rounds: Ints, prescribed: Ints, chances: Floats) -> Floats:
    """The rule's own chances where it is free, and what the plan makes of the others."""
    arm_count = chances.shape[-1]
    planned: Floats = plan.floor / arm_count + (1 - plan.floor) * chances
    fixed = prescribed >= 0
    planned[fixed] = certain(prescribed[fixed], arm_count)
    planned[np.broadcast_to(rounds < plan.uniform, fixed.shape)] = 1 / arm_count
    return planned
