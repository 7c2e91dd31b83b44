"""The rules. This is their table of contents: the command line, the tests and the docs read it."""

from debandit import spec
from debandit.errors import InputError, shorten
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


def as_policy(policy: Policy | str, where: str = "policy") -> Policy:
    """A rule, or the text of one: ucb, or thompson(prior_sd=10.0, noise_sd=2.0)."""
    if isinstance(policy, str):
        policy = spec.build(policy, RULES, where, "rule")
    if not isinstance(policy, Policy):
        raise InputError(f"{shorten(repr(policy))} is not a rule", where=where, remedy="For example UCB(c=1.0).")
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
    "as_policy",
]
