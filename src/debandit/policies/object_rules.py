"""Rules of one's own that are any Python object with `choose()` and `learn(arm, reward)`. See docs/own-rules.md."""

import hashlib
import inspect
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from debandit.engine.data import RuleData, rule_data
from debandit.engine.kernels import ObjectKernel
from debandit.engine.objects import follow
from debandit.policies.history import NO_SCORES, History, Replay
from debandit.policies.policy import Policy, certain


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
        return rule_data()

    @property
    def says_chances(self) -> bool:
        return self.by_totals or not self.randomised or type(self).answer is not ObjectRule.answer

    def answer(self, history: History) -> Replay | None:
        if self.randomised:
            return super().answer(history)
        paths, values = history.paths
        forced, known = history.forced.reshape(paths.shape), history.known[: history.end].tolist()
        chosen = [
            self._along(arms.tolist(), rewards.tolist(), force.tolist(), known, history)
            for arms, rewards, force in zip(paths, values, forced, strict=True)
        ]
        asked = np.array(chosen, np.int64).reshape(len(paths), history.end)[:, history.rounds]
        return Replay(certain(asked.reshape(history.free.shape), history.arm_count), NO_SCORES)

    def _along(
        self, arms: list[int], rewards: list[float], forced: list[int], known: list[int], history: History
    ) -> list[int]:
        """What it chooses if it is told the rounds of a log."""

        def make(arm_count: int, _: int, seed: int) -> Any:
            return self.make(arm_count, history.horizon, seed)

        def play(t: int, ask: Callable[[], int]) -> tuple[int, int, float]:
            return forced[t] if forced[t] >= 0 else ask(), arms[t], rewards[t]

        return follow(make, history.arm_count, 0, known, play, "the replay of the log, ")

    @property
    def fingerprint(self) -> str:
        try:
            source = Path(inspect.getfile(type(self))).read_bytes()
        except (TypeError, OSError):  # written into a prompt
            source = b""
        return f"{type(self).__qualname__} {self}\0{hashlib.sha256(source).hexdigest()}"
