"""What one needs to write a rule of one's own (see docs/own-rules.md)."""

from debandit.engine.draws import beta, normal, uniform
from debandit.policies.adapters import MABWiserRule, RiverRule
from debandit.policies.object_rules import ObjectRule
from debandit.policies.own_rules import ScoreRule, SelectRule
from debandit.policies.policy import Policy

__all__ = ["MABWiserRule", "ObjectRule", "Policy", "RiverRule", "ScoreRule", "SelectRule", "beta", "normal", "uniform"]
