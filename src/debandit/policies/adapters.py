"""Rules of other packages: the learning policies of MABWiser and the bandit policies of River.

Both are written as their package writes them, as in `mabwiser(policy=EpsilonGreedy(epsilon=0.1))`. From such a text
only classes of the package are called, with literals; nothing else is evaluated.
"""

import ast
import importlib
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from importlib.metadata import version
from inspect import isclass, signature
from types import MappingProxyType
from typing import Any, ClassVar

from debandit.checks import option, whole
from debandit.errors import InputError, quoted, shorten
from debandit.policies.object_rules import ObjectRule

Makers = Mapping[str, Callable[..., Any]]
_ANYTHING = "For anything else write an ObjectRule: its make() may return what it likes."


@dataclass(frozen=True)
class _Adapter(ObjectRule):
    """What they have in common: a policy as text. Objects are welcome, and are written down."""

    example: ClassVar[str]
    policy: str = option(MISSING, text="the policy as its package writes it, or the object")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.policy, str):
            object.__setattr__(self, "policy", self._written(self.policy))
        self._build(0)

    @abstractmethod
    def _build(self, seed: int) -> Any:
        """A fresh policy of the package."""

    @staticmethod
    def _written(policy: Any) -> str:
        """A policy of the package as text."""
        return repr(policy)

    def _built(self, policies: Makers, parts: Makers = MappingProxyType({}), **more: Any) -> Any:
        """The policy that the text describes; `parts` are for its options, `more` options that the text has not."""
        try:
            node = ast.parse(self.policy.strip(), mode="eval").body
            name = node.func if isinstance(node, ast.Call) else node
            if not isinstance(name, ast.Name) or name.id not in policies:
                raise LookupError("no such policy")
            return _made(node, {**parts, **policies}, more)
        except Exception as error:  # the package's own complaints, too
            reason = f"{type(error).__name__}: {shorten(str(error), 200)}"
            what = f"cannot make {quoted(self.policy)} ({reason})"
            remedy = f"Write it like {self.example}. There are {', '.join(sorted(policies))}.\n{_ANYTHING}"
            raise InputError(what, where=self.name, remedy=remedy) from error

    @property
    def fingerprint(self) -> str:
        return f"{super().fingerprint} {version(self.name)}"


@dataclass(frozen=True)
class MABWiserRule(_Adapter):
    """A context-free learning policy of MABWiser, as text or as the object, in the run that MABWiser's users have.

    MABWiser chooses only after a first `fit`: so each arm is pulled `initial_pulls` times in index order, these rounds
    are fitted, and every later round is a `predict` and a `partial_fit`.
    """

    name: ClassVar[str] = "mabwiser"
    title: ClassVar[str] = "A policy of MABWiser"
    example: ClassVar[str] = "mabwiser(policy=EpsilonGreedy(epsilon=0.1))"
    initial_pulls: int = whole(1)

    def make(self, arm_count: int, horizon: int, seed: int) -> "_MABWiser":
        mab = _package("mabwiser.mab").MAB(list(range(arm_count)), self._build(seed), seed=seed)
        return _MABWiser(mab, arm_count * self.initial_pulls)

    def _build(self, seed: int) -> Any:
        known = _package("mabwiser.mab").LearningPolicy
        names = ("EpsilonGreedy", "Popularity", "Random", "Softmax", "ThompsonSampling", "UCB1")  # no contexts
        return self._built({name: getattr(known, name) for name in names})


class _MABWiser:
    def __init__(self, mab: Any, opening: int) -> None:
        self.mab, self.opening = mab, opening
        self.arms: list[int] = []
        self.rewards: list[float] = []
        if not opening:
            mab.fit([], [])

    def choose(self) -> int:
        arm: int = self.mab.predict()
        return arm

    def learn(self, arm: int, reward: float) -> None:
        if len(self.rewards) == self.opening:
            self.mab.partial_fit([arm], [reward])
            return
        self.arms.append(arm)
        self.rewards.append(reward)
        if len(self.rewards) == self.opening:
            self.mab.fit(self.arms, self.rewards)


@dataclass(frozen=True)
class RiverRule(_Adapter):
    """A policy of river.bandit without contexts, as text or as the object; every round is a `pull` and an `update`.

    Its seed is set anew in every run. Initial pulls of each arm are River's own option `burn_in`.
    """

    name: ClassVar[str] = "river"
    title: ClassVar[str] = "A policy of River"
    example: ClassVar[str] = "river(policy=EpsilonGreedy(epsilon=0.1, burn_in=1))"

    def make(self, arm_count: int, horizon: int, seed: int) -> "_River":
        return _River(self._build(seed), list(range(arm_count)))

    def _build(self, seed: int) -> Any:
        base = _package("river.bandit").base
        policies = {
            name: value
            for name, value in vars(_package("river.bandit")).items()
            if isclass(value) and issubclass(value, base.Policy) and not issubclass(value, base.ContextualPolicy)
        }
        return self._built(policies, {**_classes("river.proba"), **_classes("river.stats")}, seed=seed)

    @staticmethod
    def _written(policy: Any) -> str:
        if not isinstance(policy, _package("river.base").Base):
            return repr(policy)
        options = {key: getattr(policy, key) for key in signature(type(policy)).parameters if key != "seed"}
        return f"{type(policy).__name__}({', '.join(f'{k}={RiverRule._written(v)}' for k, v in options.items())})"


class _River:
    def __init__(self, policy: Any, arms: list[int]) -> None:
        self.policy, self.arms = policy, arms
        self.learn = policy.update

    def choose(self) -> int:
        arm: int = self.policy.pull(self.arms)
        return arm


def _package(module: str) -> Any:
    name = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        what, remedy = f"{name} cannot be imported ({error})", f"Install it with: pip install 'debandit[{name}]'"
        raise InputError(what, where="policy", remedy=remedy) from None


@cache
def _classes(module: str) -> dict[str, Any]:
    found = _package(module)
    return {name: getattr(found, name) for name in found.__all__ if isclass(getattr(found, name))}


def _made(node: ast.expr, makers: Makers, more: Mapping[str, Any]) -> Any:
    """What an expression of calls and literals describes."""
    match node:
        case ast.Name(id=name) if name in makers:
            return makers[name](**more)
        case ast.Call(func=ast.Name(id=name), args=[], keywords=options) if name in makers:
            given = {str(option.arg): _made(option.value, makers, {}) for option in options}
            return makers[name](**given, **more)
    return ast.literal_eval(node)
