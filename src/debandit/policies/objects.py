"""Rules of one's own that are any Python object with `choose()` and `learn(arm, reward)`. See docs/own-rules.md."""

import hashlib
import inspect
from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from debandit.engine.data import Floats, Ints, RuleData, rule_data
from debandit.engine.objects import ObjectKernel, follow
from debandit.errors import DebanditError, InputError
from debandit.policies.choices import certain
from debandit.policies.policy import Policy


class ObjectRule(Policy):
    """The object that `make` returns is asked to `choose()` an arm, counted from 0, and told to `learn(arm, reward)`.

    Every run has an object of its own. Python is slow: a ScoreRule or a SelectRule is compiled.
    """

    @abstractmethod
    def make(self, arm_count: int, horizon: int, seed: int) -> Any:
        """A new object. All its randomness must come from the seed, a whole number below 2^32."""

    @property
    def kernel(self) -> ObjectKernel:
        return ObjectKernel(self.make)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data()

    def path_probabilities(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        if self.randomised:
            return super().path_probabilities(arms, rewards, arm_count)
        horizon = arms.shape[-1]
        paths, values = arms.reshape(-1, horizon).tolist(), rewards.reshape(-1, horizon).tolist()
        chosen = [self._along(*log, arm_count) for log in zip(paths, values, strict=True)]
        return certain(np.array(chosen).reshape(arms.shape), arm_count)

    def _along(self, arms: list[int], rewards: list[float], arm_count: int) -> list[int]:
        """What it chooses if it is told the rounds of a log."""
        rounds = list(zip(arms, rewards, strict=True))
        try:
            return follow(self.make, arm_count, len(rounds), 0, lambda t, _: rounds[t], "the replay of the log, ")
        except InputError as error:  # which `check` would take for a rule that cannot be replayed
            raise DebanditError(error.what, where=error.where, remedy=error.remedy) from error

    @property
    def fingerprint(self) -> str:
        try:
            source = Path(inspect.getfile(type(self))).read_bytes()
        except (TypeError, OSError):  # written into a prompt
            source = b""
        return f"{type(self).__qualname__} {self}\0{hashlib.sha256(source).hexdigest()}"
