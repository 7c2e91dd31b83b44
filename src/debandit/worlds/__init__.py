"""Worlds: where simulated rewards come from. The lists of them are at the ends of `drifting` and `fitted`."""

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
