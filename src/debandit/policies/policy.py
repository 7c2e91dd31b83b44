"""What every rule has in common, and index rules (`RuleData`) as probabilities instead of draws."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from debandit.checks import check_fields
from debandit.engine.binding import class_of
from debandit.engine.conditions import FREE, Conditions
from debandit.engine.data import FIRST, LAST, Floats, Ints, Rounds, RuleData
from debandit.engine.kernels import INDEX, KernelName, ObjectKernel
from debandit.errors import InputError
from debandit.log import ExperimentLog
from debandit.policies.availability import believed
from debandit.policies.history import History, Replay
from debandit.policies.normal_draws import highest_draw

Lines = tuple[str, ...]
Free = Callable[..., Floats]  # (t, pulls, sums), or with squares, -> chances, where the choice is free

OF_THE_ENGINE = ("initial_pulls", "ties", "draws")  # options that no function of a rule needs to know
SELDOM_CHANGED = (*OF_THE_ENGINE, "order", "first_t")  # not worth a word where they are as usual


class Policy(ABC):
    """The rule that chose the arms. Subclasses are frozen dataclasses whose fields are the rule's parameters.

    A rule that goes by totals says its `free_chances`; one that looks at more overrides `answer`.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""  # in words
    formula: ClassVar[Lines] = ()  # in the letters that `rulebook.SYMBOLS` explains
    source: ClassVar[str] = ""  # who proposed it
    binary_rewards: ClassVar[bool] = False  # the rule makes sense for 0/1 rewards only
    two_arms: ClassVar[bool] = False  # likewise for two arms only
    needs_squares: ClassVar[bool] = False  # it goes by pulls, sums and sums of squared deviations from the means
    knows_arms: ClassVar[bool] = False  # it has parameters for each arm, and is asked about all arms or none
    randomised: ClassVar[bool] = True  # given the past, more than one arm may be chosen
    draws_means: ClassVar[bool] = False  # its chances are those of an arm to be the best, given what it has heard of

    def __post_init__(self) -> None:
        check_fields(self, self.name)
        if getattr(self, "ties", "") == "random":
            object.__setattr__(self, "randomised", True)

    @abstractmethod
    def rule(self, arm_count: int, horizon: int) -> RuleData:
        """The rule as data for the compiled loop."""

    @property
    def kernel(self) -> KernelName | ObjectKernel:
        """What the engine compiles: a module with `start`, `choose` and `learn`, or functions of the rule's own."""
        return INDEX

    @property
    def core(self) -> "Policy":
        """The rule inside all wrappers."""
        return self

    @property
    def opening(self) -> int:
        """Forced initial pulls of each arm, in index order."""
        return int(getattr(self, "initial_pulls", 0))

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        """The conditions under which it is played."""
        return Conditions(self.opening)

    @property
    def needs_batches(self) -> bool:
        """Whether the log must say what its batches were."""
        return False

    def in_log(self, log: ExperimentLog) -> "Policy":
        """The rule as it ran in this log's batches, if it has any."""
        ran = self.in_batches(log)
        if log.batches is None or log.batches.available.all():
            return ran
        return ran.among(believed(ran, log, log.batches))

    def among(self, available: NDArray[np.bool_]) -> "Policy":
        """The rule in batches that have these arms (batches, arms); it must be batched."""
        return self

    def planned(self, rounds: int) -> int:
        """How many rounds an experiment might have had that ended after this many."""
        return rounds

    def leads_within(self, share: float, arms: Ints, pulls: Ints, sums: Floats, above: float = 0.0) -> Floats:
        """P(no mean is higher than that of arms (n,) by more than a share of it), for totals (n, K); of shape (n,).

        For rules that draw the arms' means. Where it is surely below `above`, any number from it to there will do.
        """
        raise cannot_say(self)

    def in_batches(self, log: ExperimentLog, rounds: int = 0) -> "Policy":
        """The rule with the log's batches, and further ones if it is planned for more rounds."""
        if log.batch_sizes is not None:
            what = f"the log has batches, but {self.name} learns from every reward at once"
            left_out = "--batch or --batch-by" if log.batches is None else "--batch"
            counted = "" if log.batches is None else ", and the counts of each arm are added up"
            remedy = (
                f'If it learned only when a batch was over, write "batched({self.name})"; if not, leave out '
                f"{left_out}{counted}."
            )
            raise InputError(what, where="policy", remedy=remedy)
        return self

    def check_rewards(self, log: ExperimentLog) -> None:
        """Refuse a log with rewards that the rule cannot have learned from."""
        if self.binary_rewards and not log.binary:
            raise InputError(
                f"{self.core.name} is a rule for 0/1 rewards, but the log has others",
                where="reward",
                remedy="Name the column with the 0/1 rewards that the rule saw, or a rule for any rewards, such as "
                "thompson.",
            )

    def batch_sizes(self, arm_count: int, horizon: int) -> tuple[int, ...]:
        """The sizes of the batches between which it hears of rewards, in so many rounds; none if it hears of each."""
        ends = self.conditions(arm_count, self.planned(horizon)).ends
        return tuple(np.diff(np.append(ends[ends < horizon], horizon), prepend=0).tolist()) if len(ends) else ()

    def in_large_batches(self, arm_count: int, horizon: int) -> bool:
        """Whether it only ever sees sums of many rewards."""
        return self.by_totals and self.conditions(arm_count, horizon).in_large_batches

    @property
    def by_totals(self) -> bool:
        """Whether its chances follow from totals alone, so that whole batches can be drawn at once."""
        own = type(self)
        says = own.free_chances is not Policy.free_chances or own.probabilities is not Policy.probabilities
        return says or self.kernel == INDEX

    @property
    def says_chances(self) -> bool:
        """Whether it can say how likely each arm is, by totals or by all the rounds of which it has heard."""
        return self.by_totals or type(self).answer is not Policy.answer

    def probabilities(
        self, t: ArrayLike, pulls: ArrayLike, sums: ArrayLike, horizon: int, squares: ArrayLike | None = None
    ) -> Floats:
        """P(arm chosen in round t | the totals before it), t counted from 0.

        The totals have shape (..., K), and so has the answer; t is a number or has their leading axes. `squares` are
        sums of squared deviations from the arms' means, for rules that go by them.
        """
        conditions = self.conditions(np.shape(pulls)[-1], horizon)
        if len(conditions.ends) or conditions.delayed or (conditions.commit and conditions.wrapped):
            what = f"the choices of {self} do not follow from totals alone"
            raise InputError(what, where="policy", remedy="Give the whole log.")
        totals = (pulls, sums) if squares is None else (pulls, sums, squares)
        return chances_under(conditions, t, totals, lambda t, n, s, *more: self.free_chances(t, n, s, horizon, *more))

    def free_chances(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        """The probabilities where nothing is prescribed, if the rule has heard of t rounds."""
        if type(self).probabilities is not Policy.probabilities:  # a rule of a user
            return np.asarray(self.probabilities(t, pulls, sums, horizon))
        if self.kernel != INDEX:
            raise cannot_say(self)
        return _index_chances(self.rule(pulls.shape[-1], horizon), t, pulls, sums)

    def free_scores(self, t: Rounds, pulls: Ints, sums: Floats, horizon: int) -> Floats:
        """The scores whose highest is chosen; NaN where the choice does not go by scores."""
        if self.kernel != INDEX:
            return np.full(pulls.shape, np.nan)
        return _index_scores(self.rule(pulls.shape[-1], horizon), t, pulls, sums)

    def replay(self, history: History) -> Replay | None:
        """How likely it was to choose each arm in the asked rounds of logs; None if it cannot say.

        After the round in which the experiment should have ended no arm was.
        """
        planned = self.planned(history.length)
        seen = history.under(self.conditions(history.arm_count, planned), planned)
        found = self._replayed(seen)
        if found is None or not seen.conditions.decides:
            return found
        from debandit.policies.courses import under_decisions

        chances, undecided = under_decisions(self, history, found.chances)
        return Replay(chances, np.where(undecided[..., None], found.scores, np.nan))

    def chances_along(self, arms: Ints, rewards: Floats, arm_count: int, rounds: Ints) -> Floats:
        """The chances (runs, n, K) in some rounds of runs (runs, T), whatever these have later; it must say them.

        What is decided on the way is left out.
        """
        conditions = self.conditions(arm_count, arms.shape[-1])._replace(commits=None, stops=None)
        found = self._replayed(History(arms, rewards, arm_count, asked=rounds, conditions=conditions))
        assert found is not None
        return found.chances

    def _replayed(self, seen: History) -> Replay | None:
        with np.errstate(invalid="ignore", divide="ignore"):  # an arm may lack pulls where the choice is prescribed
            answer = self.core.answer(seen)
        if answer is None:
            return None
        begun = seen.conditions.begun(seen.length)[seen.rounds]
        chances = seen.conditions.planned(answer.chances, seen.prescribed[..., seen.rounds], begun)
        scored = seen.free[..., None] & (not seen.conditions.changes)
        return Replay(chances, np.broadcast_to(np.where(scored, answer.scores, np.nan), chances.shape))

    def answer(self, history: History) -> Replay | None:
        """What the rule itself says where its choice is free; elsewhere anything."""
        return self._by_totals(history) if self.by_totals else None

    def _by_totals(self, history: History) -> Replay:
        """The answer from totals; the rule is asked once for all rounds that have heard of the same rewards."""
        asked = np.any(history.free.reshape(-1, len(history.rounds)), axis=0)
        moments, back = np.unique(history.known[history.rounds[asked]], return_inverse=True)
        chances, scores = np.zeros((2, *history.free.shape, history.arm_count))
        if len(moments):
            known = moments, *history.totals(moments), history.horizon
            squares = (history.squares_after(moments),) if self.needs_squares else ()
            chances[..., asked, :] = self.free_chances(*known, *squares)[..., back, :]
            scores[..., asked, :] = self.free_scores(*known)[..., back, :]
        return Replay(chances, scores)

    @property
    def fingerprint(self) -> str:
        """What tells this rule from any other, besides its data for the engine.

        The seeds of studies follow from it, so that of a built-in rule goes by its name, wherever its files are moved.
        """
        module, kernel = type(self).__module__, str(self.kernel).rpartition(".")[2]
        home = f"debandit.policies.{self.name}" if module.startswith("debandit.policies.") else module
        return f"{home}.{type(self).__qualname__} {self} debandit.engine.{kernel}"

    def options(self) -> dict[str, Any]:
        """The rule's parameters and their values."""
        return {name: getattr(self, name) for name in self.defaults()}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The rule's parameters and what they are unless one says otherwise."""
        return {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]  # all are dataclasses

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds the class of a user's file by the file, for it has no name to import it by."""
        owner = type(self)
        return remade, (owner.__module__, inspect.getfile(owner), owner.__qualname__, self.options())

    def __str__(self) -> str:
        usual = self.defaults()
        shown = [(k, v) for k, v in self.options().items() if k not in SELDOM_CHANGED or v != usual[k]]
        options = ", ".join(f"{name}={value!r}" for name, value in shown)
        return f"{self.name}({options})" if options else self.name

    def _check(self, holds: bool, what: str) -> None:
        if not holds:
            raise InputError(what, where=self.name)


def cannot_say(policy: Policy) -> InputError:
    """The complaint where a rule's chances are needed and it does not give them."""
    return InputError(
        f"{policy.name} does not say how likely its choices are",
        where="policy",
        remedy="Give the rule a method probabilities(t, pulls, sums, horizon).",
    )


def remade(module: str, file: str, owner: str, values: dict[str, Any]) -> Policy:
    """A rule that came from another process."""
    policy: Policy = class_of(module, file, owner)(**values)
    return policy


def chances_under(conditions: Conditions, t: ArrayLike, totals: tuple[ArrayLike, ...], free: Free) -> Floats:
    """P(arm chosen in round t | totals before it), of shape (..., K) like the totals; t may have their leading axes.

    The totals are pulls and sums, and whatever else `free` goes by.
    """
    n, s, *more = np.asarray(totals[0]), *(np.asarray(each, dtype=np.float64) for each in totals[1:])
    rounds = np.broadcast_to(np.asarray(t), n.shape[:-1])
    prescribed = conditions.prescribed(rounds, n, n, s)
    asked, chances = prescribed == FREE, np.zeros(n.shape)
    if asked.any():
        chances[asked] = free(rounds[asked], n[asked], s[asked], *(each[asked] for each in more))
    return conditions.planned(chances, prescribed, rounds)


def winners(scores: Floats, ties: int) -> Floats:
    """The chances (..., K) of arms of which the highest score wins."""
    arm_count = scores.shape[-1]
    if ties == FIRST:
        return certain(np.argmax(scores, axis=-1), arm_count)
    highest = scores == scores.max(axis=-1, keepdims=True)
    if ties == LAST:
        return certain(arm_count - 1 - np.argmax(highest[..., ::-1], axis=-1), arm_count)
    return np.asarray(highest / np.maximum(highest.sum(axis=-1, keepdims=True), 1))  # none where there are no scores


def certain(arms: Ints, arm_count: int) -> Floats:
    """Probability 1 for the given arms."""
    return np.eye(arm_count)[arms]


def _index_chances(rule: RuleData, t: Rounds, pulls: Ints, sums: Floats) -> Floats:
    """The chances (..., K) where the choice is free, in rounds t."""
    location, width = location_and_width(rule, pulls, sums)
    chances = highest_draw(location, width) if rule.noisy else winners(_scores(rule, t, location, width), rule.ties)
    if rule.explore is not None:
        explore = rule.explore(np.asarray(t))[..., None]
        chances = explore / pulls.shape[-1] + (1 - explore) * chances
    return chances


def _index_scores(rule: RuleData, t: Rounds, pulls: Ints, sums: Floats) -> Floats:
    """The scores (..., K) whose highest wins; NaN where the choice goes by draws."""
    scores = _scores(rule, t, *location_and_width(rule, pulls, sums))
    return np.full(scores.shape, np.nan) if rule.noisy else scores


def location_and_width(rule: RuleData, pulls: Ints, sums: Floats) -> tuple[Floats, Floats]:
    """The order of operations is that of the compiled loop, so that ties are the same ties."""
    weight = pulls + rule.prior_pulls
    location: Floats = np.divide(sums + rule.prior_sum, weight, out=np.zeros(sums.shape), where=weight > 0)
    return location, np.zeros(sums.shape) if rule.width is None else rule.width(pulls)


def _scores(rule: RuleData, t: Rounds, location: Floats, width: Floats) -> Floats:
    return location + (0.0 if rule.level is None else rule.level(np.asarray(t))[..., None]) * width
