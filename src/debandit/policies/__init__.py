"""The rules. This is their table of contents: the command line, the tests and the docs read it."""

from debandit import spec
from debandit.policies.beta_thompson import BetaThompson
from debandit.policies.epsilon_greedy import EpsilonGreedy
from debandit.policies.etc import ExploreThenCommit
from debandit.policies.policy import Policy
from debandit.policies.thompson import ThompsonSampling
from debandit.policies.ucb import UCB
from debandit.policies.uniform import Uniform

RULES: dict[str, type[Policy]] = {
    rule.name: rule for rule in (ExploreThenCommit, UCB, ThompsonSampling, BetaThompson, EpsilonGreedy, Uniform)
}


def policy_from_text(text: str, where: str = "--policy") -> Policy:
    """For example ucb, or thompson(prior_sd=10.0, noise_sd=2.0)."""
    policy: Policy = spec.build(text, RULES, where, "rule")
    return policy


__all__ = [
    "RULES",
    "UCB",
    "BetaThompson",
    "EpsilonGreedy",
    "ExploreThenCommit",
    "Policy",
    "ThompsonSampling",
    "Uniform",
    "policy_from_text",
]
