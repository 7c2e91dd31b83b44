"""Worlds: where simulated rewards come from. This is their table of contents."""

from debandit import spec
from debandit.errors import InputError, shorten
from debandit.settings import Unseen
from debandit.worlds.fitted import (
    Auto,
    Bootstrap,
    Efron,
    Gaussian,
    Jeffreys,
    MultiplierBootstrap,
    SmoothedBootstrap,
)
from debandit.worlds.laws import Bernoulli, Empirical, Multiplier, Normal, Smoothed, World

GIVEN: dict[str, type[World]] = {world.name: world for world in (Normal, Bernoulli, Empirical, Smoothed, Multiplier)}
FITTED: dict[str, type[Bootstrap]] = {
    world.name: world for world in (Auto, SmoothedBootstrap, Jeffreys, Gaussian, Efron, MultiplierBootstrap)
}


def as_world(world: World | str, where: str = "world") -> World:
    """A world, or the text of one: bernoulli(means=[0.3, 0.6])."""
    if isinstance(world, str):
        world = spec.build(world, GIVEN, where, "world")
    if not isinstance(world, World):
        raise InputError(f"{shorten(repr(world))} is not a world", where=where, remedy="Take one of debandit.worlds.")
    return world


def as_bootstrap(world: Bootstrap | str, where: str = "world") -> Bootstrap:
    """A way to make a world from a log, or the text of one: gaussian, or multiplier(weights=rademacher)."""
    if isinstance(world, str):
        world = spec.build(world, FITTED, where, "bootstrap world")
    if not isinstance(world, Bootstrap):
        raise InputError(
            f"{shorten(repr(world))} cannot be built from a log", where=where, remedy=f"Take {', '.join(FITTED)}."
        )
    return world


__all__ = [
    "FITTED",
    "GIVEN",
    "Auto",
    "Bernoulli",
    "Bootstrap",
    "Efron",
    "Empirical",
    "Gaussian",
    "Jeffreys",
    "Multiplier",
    "MultiplierBootstrap",
    "Normal",
    "Smoothed",
    "SmoothedBootstrap",
    "Unseen",
    "World",
    "as_bootstrap",
    "as_world",
]
