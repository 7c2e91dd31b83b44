"""Rules of one's own: a dataclass of parameters and a function that numba can compile.

    @dataclass(frozen=True)
    class Optimist(ScoreRule):
        name: ClassVar[str] = "optimist"
        c: float = 1.0

        @staticmethod
        def score(mean, pulls, t, c):
            return mean + c * np.sqrt(np.log(t) / pulls)

A function takes the arguments that it names. Parameters are those of the dataclass, as floats.
"""

import hashlib
import inspect
from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from debandit.checks import checked_choice
from debandit.engine.data import TIES, Floats, RuleData, rule_data
from debandit.engine.kernels import KernelName, OwnKernel, load_replay
from debandit.errors import InputError, shorten
from debandit.policies.history import NO_SCORES, History, Replay
from debandit.policies.policy import OF_THE_ENGINE, Policy, certain, winners

# role -> the arguments that the engine has to offer
ARGUMENTS = {
    "score": ("mean", "pulls", "t", "z", "variance"),
    "select": ("t", "pulls", "sums", "variances", "state", "random"),
    "begin": ("state", "arm_count"),
    "learn": ("arm", "reward", "state"),
}  # and all of them `parameters`, an array
COMPILED_AS = {"learn": "take_in"}  # the engine's own `learn` does more


class OwnRule(Policy):
    """What rules with functions of their own have in common."""

    initial_pulls: int = 1  # of each arm in index order; a parameter of rules that annotate it themselves
    template: ClassVar[str]
    roles: ClassVar[tuple[str, ...]]
    state_size: ClassVar[int] = 0

    @property
    def kernel(self) -> KernelName:
        return _kernel(type(self))

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(
            parameters=tuple(float(getattr(self, name)) for name in _parameters(type(self))),
            state_size=self.states(arm_count),
            ties=self._ties,
        )

    @property
    def _ties(self) -> str:
        return checked_choice("ties", getattr(self, "ties", "first"), TIES, where=self.name)

    def states(self, arm_count: int) -> int:
        """How many numbers the rule remembers of its own."""
        return self.state_size

    @property
    def says_chances(self) -> bool:
        return self.by_totals or not type(self).randomised or type(self).answer is not OwnRule.answer

    def answer(self, history: History) -> Replay | None:
        if self.by_totals or type(self).randomised:  # not only at ties
            return super().answer(history)
        return self._along(history)

    @abstractmethod
    def _along(self, history: History) -> Replay:
        """The answer of a rule that draws nothing, by its own functions."""

    def _followed(self, history: History, width: int) -> Floats:
        """What the rule's functions say of every asked round, of shape (..., n, width)."""
        rule, along = self.rule(history.arm_count, history.horizon), load_replay(_kernel(type(self)))
        whole = *history.paths, history.forced.reshape(-1, history.length), history.known
        arms, rewards, forced, known = (np.ascontiguousarray(each[..., : history.end]) for each in whole)
        arms, rewards = arms.astype(np.int64), rewards.astype(np.float64)  # arrays of the one kind that is compiled for
        said = np.empty((*arms.shape, width))
        if self.template == ScoreRule.template:  # scores remember nothing, so that other rounds may be left out
            forced[:, np.setdiff1d(np.arange(history.end), history.rounds)] = 0
        for i in range(len(arms)):
            heard, state = (arms[i], rewards[i], forced[i], known), np.zeros(rule.state_size)
            try:
                along(*heard, self.opening, rule.parameters, state, history.arm_count, said[i])
            except Exception as error:  # the user's function, or numba's view of it
                reason = f"{type(error).__name__}: {shorten(' '.join(str(error).split()), 300)}"
                raise InputError(f"the rule failed in the replay of the log ({reason})", where="policy") from error
        return said[:, history.rounds].reshape(*history.free.shape, width)

    @property
    def fingerprint(self) -> str:
        kernel = _kernel(type(self))
        return f"{self}\0{kernel.binding}\0{_source(kernel.file)}"


class ScoreRule(OwnRule):
    """The highest `score(mean, pulls, t, z, variance, ...)` wins; z is a fresh standard normal for each arm and round.

    t is the number of the round, counted from 1; variance has the divisor n. Compiled for many runs side by side.
    """

    template: ClassVar[str] = "scored"
    roles: ClassVar[tuple[str, ...]] = ("score",)

    def _along(self, history: History) -> Replay:
        scores = self._followed(history, history.arm_count)
        return Replay(winners(scores, TIES.index(self._ties)), scores)


class SelectRule(OwnRule):
    """`select(t, pulls, sums, variances, state, random, ...)` is the arm, counted from 0.

    pulls, sums and variances (divisor n) are arrays with a value for each arm. `random` is handed to `uniform`,
    `normal` and `beta` of debandit.rules. A rule may keep `state_size` numbers in `state`, which `begin(state,
    arm_count, ...)` sets and `learn(arm, reward, state, ...)` changes after every round.
    """

    template: ClassVar[str] = "selected"
    roles: ClassVar[tuple[str, ...]] = ("select", "begin", "learn")

    def _along(self, history: History) -> Replay:
        chosen = self._chosen_and_state(history)[..., 0].astype(np.int64)
        lost = (chosen < 0) | (chosen >= history.arm_count)
        if lost.any():
            raise InputError(
                f"the rule chose an arm that does not exist, in round {history.rounds[lost.nonzero()[-1][0]] + 1}",
                where="policy",
                remedy=f"Arms are counted from 0 to {history.arm_count - 1}.",
            )
        return Replay(certain(chosen, history.arm_count), NO_SCORES)

    def _chosen_and_state(self, history: History) -> Floats:
        """The choice in every asked round, and the numbers that the rule remembers after it."""
        return self._followed(history, 1 + self.states(history.arm_count))


def _parameters(owner: type[OwnRule]) -> list[str]:
    return [name for name in owner.defaults() if name not in OF_THE_ENGINE]


def _function(owner: type, role: str) -> Callable[..., Any] | None:
    found = getattr(owner, role, None)
    function = getattr(found, "py_func", found)  # numba's wrapper keeps the Python function
    return function if callable(function) else None


@cache
def _kernel(owner: type[OwnRule]) -> OwnKernel:
    """The text that binds the rule's functions to its template."""
    try:
        file = inspect.getfile(owner)
    except (TypeError, OSError):
        file = ""
    file = file if Path(file).is_file() else ""
    functions = {role: _function(owner, role) for role in owner.roles}
    if functions[owner.roles[0]] is None:
        what = f"{owner.__name__} has no function {owner.roles[0]}"
        raise InputError(what, where="policy", remedy=f"It may name {', '.join(ARGUMENTS[owner.roles[0]])}.")
    wanted = {role: _arguments(owner, role, function) for role, function in functions.items()}
    every = [name for names in wanted.values() for name in names]
    lines = ["from debandit.engine.binding import function_of", "from debandit.engine.compiled.jit import jit", ""]
    lines += [f"NOISY_SCORE, VARIANCES = {'z' in every}, {'variance' in every or 'variances' in every}"]
    for role, names in wanted.items():
        offered = ", ".join(ARGUMENTS[role])
        name = COMPILED_AS.get(role, role)
        call = "pass"
        if functions[role] is not None:
            parameters = _parameters(owner)
            own = {"parameters": "p"} | {name: f"p[{i}]" for i, name in enumerate(parameters)}
            given = ", ".join(own.get(name, name) for name in names)
            lines += [f"_own_{role} = function_of({owner.__module__!r}, {file!r}, {owner.__qualname__!r}, {role!r})"]
            call = f"return _own_{role}({given})"
        lines += ["", "", "@jit", f"def {name}({offered}, p):", f"    {call}", ""]
    return OwnKernel(owner.template, "\n".join(lines), file)


def _arguments(owner: type[OwnRule], role: str, function: Callable[..., Any] | None) -> list[str]:
    names = [] if function is None else list(inspect.signature(function).parameters)
    strange = [name for name in names if name not in (*ARGUMENTS[role], "parameters", *_parameters(owner))]
    if strange:
        offered = ", ".join((*ARGUMENTS[role], *_parameters(owner)))
        what = f"{owner.__name__}.{role} wants {strange[0]!r}, which does not exist"
        raise InputError(what, where="policy", remedy=f"It may name {offered}; is it a @staticmethod?")
    return names


def _source(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
