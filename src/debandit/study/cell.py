"""One cell of a study: a rule in a world, the methods to compare there, and how often."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from debandit.policies import Policy
from debandit.version import __version__
from debandit.worlds import World

FORMAT = 1  # of the kept results
WITHOUT_RUNS = ("naive", "ipw", "aipw", "theorem1", "theorem2")  # methods that simulate nothing
MOST_EXPERIMENTS = 1_000_000
_ROUNDS_PER_CHUNK, _LARGEST_CHUNK, _NUMBERS_PER_CHUNK = 50_000_000, 1000, 4_000_000


class Bins(NamedTuple):
    """Of a histogram: `bins` bins of equal width from `low` to `high`."""

    low: float
    high: float
    bins: int


@dataclass(frozen=True)
class Cell:
    """What is simulated and measured. `paper` holds printed values: {method: {quantity: one value per arm}}."""

    label: str
    policy: Policy
    world: World
    horizon: int
    methods: tuple[str, ...]
    experiments: int = 1000
    runs: int = 1000
    until_se: float | None = None
    most_experiments: int = MOST_EXPERIMENTS
    unseen: tuple[float, float] | None = None
    histogram: Bins | None = None
    remark: str = ""
    paper: dict[str, Any] = field(default_factory=dict)

    @property
    def chunk_size(self) -> int:
        """Experiments computed at once: about a quarter of a second of work, and paths that fit into memory.

        It depends on nothing but the cell, so that the same chunks come back in every run.
        """
        rounds = self.horizon * (1 + self.runs * sum(method not in WITHOUT_RUNS for method in self.methods))
        return max(1, min(_LARGEST_CHUNK, _ROUNDS_PER_CHUNK // rounds, _NUMBERS_PER_CHUNK // self.horizon))

    def seed(self, seed: int, chunk: int) -> int:
        """Of one chunk. It follows from what is simulated, not from the cell's place in the study."""
        words = np.frombuffer(self._place().digest(), np.uint32)
        return int(np.random.SeedSequence([seed, chunk, *words]).generate_state(1, np.uint64)[0])

    def key(self, seed: int) -> str:
        """A name for everything that decides the bits of a chunk's results."""
        parts = (FORMAT, __version__, seed, self.runs, self.methods, self.unseen, self.histogram, self.chunk_size)
        digest = self._place()
        digest.update(json.dumps(parts).encode())
        return str(digest.hexdigest()[:32])

    def _place(self) -> Any:
        """A hash of rule, world and horizon."""
        digest = hashlib.sha256(f"{self.policy}\0{self.horizon}\0{self.world.name}".encode())
        kind, *arrays = self.world.data()
        digest.update(repr(kind).encode())
        for array in arrays:
            digest.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
        return digest
