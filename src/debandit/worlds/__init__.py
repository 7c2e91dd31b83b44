"""Worlds: where simulated rewards come from. This is their table of contents."""

from debandit import spec
from debandit.worlds.bernoulli import Bernoulli
from debandit.worlds.empirical import Empirical
from debandit.worlds.fitted import Bootstrap, Efron, Gaussian, MultiplierBootstrap, Unseen
from debandit.worlds.multiplier import Multiplier
from debandit.worlds.normal import Normal
from debandit.worlds.world import World

GIVEN: dict[str, type[World]] = {world.name: world for world in (Normal, Bernoulli, Empirical, Multiplier)}
FITTED: dict[str, type[Bootstrap]] = {world.name: world for world in (Gaussian, Efron, MultiplierBootstrap)}


def world_from_text(text: str, where: str = "--world") -> World:
    """For example bernoulli(means=[0.3, 0.6])."""
    world: World = spec.build(text, GIVEN, where, "world")
    return world


def bootstrap_from_text(text: str, where: str = "--world") -> Bootstrap:
    """For example gaussian, or multiplier(weights=rademacher)."""
    bootstrap: Bootstrap = spec.build(text, FITTED, where, "bootstrap world")
    return bootstrap


__all__ = [
    "FITTED",
    "GIVEN",
    "Bernoulli",
    "Bootstrap",
    "Efron",
    "Empirical",
    "Gaussian",
    "Multiplier",
    "MultiplierBootstrap",
    "Normal",
    "Unseen",
    "World",
    "bootstrap_from_text",
    "world_from_text",
]
