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

from debandit.engine.data import TIES, Floats, Ints, RuleData, rule_data
from debandit.engine.kernels import KernelName, OwnKernel, load_replay
from debandit.errors import InputError
from debandit.policies.choices import certain, unwrapped, winners
from debandit.policies.policy import SELDOM_CHANGED, Policy

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
            opening=self.opening,
            parameters=tuple(float(getattr(self, name)) for name in _parameters(type(self))),
            state_size=self.states(arm_count),
            ties=getattr(self, "ties", "first"),
        )

    def states(self, arm_count: int) -> int:
        """How many numbers the rule remembers of its own."""
        return self.state_size

    @property
    def by_totals(self) -> bool:
        answers = type(self).probabilities is not Policy.probabilities
        return answers and type(self).path_probabilities is OwnRule.path_probabilities

    def path_probabilities(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        if type(self).randomised:
            return super().path_probabilities(arms, rewards, arm_count)
        return self.known_probabilities(arms, rewards, arm_count, *unwrapped(self.opening, arms.shape, arm_count))

    def known_probabilities(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        if type(self).randomised:  # not only at ties
            return super().known_probabilities(arms, rewards, arm_count, prescribed, known)
        choices = self._choices(arms, rewards, arm_count, prescribed, known)
        forced = certain(np.maximum(prescribed, 0), arm_count)
        return np.where(prescribed[..., None] >= 0, forced, choices)

    @abstractmethod
    def _choices(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        """The chances of a rule that does not draw, in rounds that are not prescribed."""

    def _replay(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints, out: Any) -> Any:
        """Fill `out`, of shape (..., T) or (..., T, K), by the rule's own functions along logs."""
        horizon = arms.shape[-1]
        rule, along = self.rule(arm_count, horizon), load_replay(_kernel(type(self)))
        paths, values = arms.reshape(-1, horizon).astype(np.int64), rewards.reshape(-1, horizon)
        forced, rows = prescribed.reshape(-1, horizon), out.reshape(len(paths), *out.shape[arms.ndim - 1 :])
        for path, reward, force, row in zip(paths, values, forced, rows, strict=True):
            state = np.zeros(rule.state_size)
            along(path, reward.copy(), force.copy(), known, rule.opening, rule.parameters, state, arm_count, row)
        return out

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

    def _choices(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        scores = self.known_scores(arms, rewards, arm_count, prescribed, known)
        return winners(scores, TIES.index(getattr(self, "ties", "first")))

    def path_scores(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        return self.known_scores(arms, rewards, arm_count, *unwrapped(self.opening, arms.shape, arm_count))

    def known_scores(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        scores = np.full((*arms.shape, arm_count), np.nan)
        if type(self).randomised:
            return scores
        return np.asarray(self._replay(arms, rewards, arm_count, prescribed, known, scores))


class SelectRule(OwnRule):
    """`select(t, pulls, sums, variances, state, random, ...)` is the arm, counted from 0.

    pulls, sums and variances (divisor n) are arrays with a value for each arm. `random` is handed to `uniform`,
    `normal` and `beta` of debandit.rules. A rule may keep `state_size` numbers in `state`, which `begin(state,
    arm_count, ...)` sets and `learn(arm, reward, state, ...)` changes after every round.
    """

    template: ClassVar[str] = "selected"
    roles: ClassVar[tuple[str, ...]] = ("select", "begin", "learn")

    def _choices(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        chosen = np.empty(arms.shape, np.int64)
        return certain(self._replay(arms, rewards, arm_count, prescribed, known, chosen), arm_count)


def _parameters(owner: type[OwnRule]) -> list[str]:
    return [name for name in owner.defaults() if name not in SELDOM_CHANGED]


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
        what = f"{owner.__name__}.{role} wants {strange[0]!r}, which there is not"
        raise InputError(what, where="policy", remedy=f"It may name {offered}; is it a @staticmethod?")
    return names


def _source(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
