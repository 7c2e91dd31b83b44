"""Rules of one's own that are any Python object with `choose()` and `learn(arm, reward)`. See docs/own-rules.md."""

import hashlib
import inspect
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from debandit.engine.data import Floats, Ints, RuleData, rule_data
from debandit.engine.kernels import ObjectKernel
from debandit.engine.objects import follow
from debandit.errors import DebanditError, InputError
from debandit.policies.choices import certain, unwrapped
from debandit.policies.policy import Policy


class ObjectRule(Policy):
    """The object that `make` returns is asked to `choose()` an arm, counted from 0, and told to `learn(arm, reward)`.

    Every run has an object of its own, which is first told `initial_pulls` of each arm, if the class has that number.
    Python is slow: a ScoreRule or a SelectRule is compiled.
    """

    @abstractmethod
    def make(self, arm_count: int, horizon: int, seed: int) -> Any:
        """A new object. All its randomness must come from the seed, a whole number below 2^32."""

    @property
    def kernel(self) -> ObjectKernel:
        return ObjectKernel(self.make)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        return rule_data(opening=self.opening)

    def path_probabilities(self, arms: Ints, rewards: Floats, arm_count: int) -> Floats:
        if self.randomised:
            return super().path_probabilities(arms, rewards, arm_count)
        return self.known_probabilities(arms, rewards, arm_count, *unwrapped(self.opening, arms.shape, arm_count))

    def known_probabilities(self, arms: Ints, rewards: Floats, arm_count: int, prescribed: Ints, known: Ints) -> Floats:
        if self.randomised:
            return super().known_probabilities(arms, rewards, arm_count, prescribed, known)
        horizon, heard = arms.shape[-1], known.tolist()
        paths, values, forced = arms.reshape(-1, horizon), rewards.reshape(-1, horizon), prescribed.reshape(-1, horizon)
        logs = zip(paths.tolist(), values.tolist(), forced.tolist(), strict=True)
        chosen = [self._along(path, value, force, heard, arm_count) for path, value, force in logs]
        return certain(np.array(chosen).reshape(arms.shape), arm_count)

    def _along(
        self, arms: list[int], rewards: list[float], prescribed: list[int], known: list[int], arm_count: int
    ) -> list[int]:
        """What it chooses if it is told the rounds of a log."""

        def play(t: int, ask: Callable[[], int]) -> tuple[int, int, float]:
            return prescribed[t] if prescribed[t] >= 0 else ask(), arms[t], rewards[t]

        try:
            return follow(self.make, arm_count, 0, known, play, "the replay of the log, ")
        except InputError as error:  # which `check` would take for a rule that cannot be replayed
            raise DebanditError(error.what, where=error.where, remedy=error.remedy) from error

    @property
    def fingerprint(self) -> str:
        try:
            source = Path(inspect.getfile(type(self))).read_bytes()
        except (TypeError, OSError):  # written into a prompt
            source = b""
        return f"{type(self).__qualname__} {self}\0{hashlib.sha256(source).hexdigest()}"
