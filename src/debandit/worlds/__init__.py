"""Worlds: where simulated rewards come from. `laws`, `drifting` and `fitted` end with the list of what they have."""

from debandit.settings import Unseen
from debandit.worlds.drifting import GIVEN, Drifting, as_world
from debandit.worlds.fitted import (
    FITTED,
    Auto,
    Bootstrap,
    Efron,
    Gaussian,
    Jeffreys,
    MultiplierBootstrap,
    SmoothedBootstrap,
    as_bootstrap,
)
from debandit.worlds.laws import (
    Bernoulli,
    Empirical,
    Multiplier,
    Normal,
    Smoothed,
    UniformRewards,
    World,
)

__all__ = [
    "FITTED",
    "GIVEN",
    "Auto",
    "Bernoulli",
    "Bootstrap",
    "Drifting",
    "Efron",
    "Empirical",
    "Gaussian",
    "Jeffreys",
    "Multiplier",
    "MultiplierBootstrap",
    "Normal",
    "Smoothed",
    "SmoothedBootstrap",
    "UniformRewards",
    "Unseen",
    "World",
    "as_bootstrap",
    "as_world",
]
