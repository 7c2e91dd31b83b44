"""Rules and documents as if rewards had been counted in another unit."""

import dataclasses
import re

from debandit.policies.wrappers import Wrapper

# options that are in the unit of the rewards (1), or in 1 over it (-1); all other rules have none
UNITS = {
    "ucb": {"c": 1},
    "thompson": {"prior_mean": 1, "prior_sd": 1, "noise_sd": 1},
    "top_two_thompson": {"prior_mean": 1, "prior_sd": 1, "noise_sd": 1},
    "gaussian_thompson": {"prior_mean": 1, "prior_sd": 1, "least_sd": 1},
    "softmax": {"temperature": 1},
    "inverse_gap": {"gamma": -1},
    "successive_elimination": {"sd": 1},
    "exp3": {"low": 1, "high": 1},
}
WITHOUT = {"etc", "greedy", "epsilon_greedy", "decaying_epsilon_greedy", "uniform", "fixed_weights"}
BOUNDED = {  # for 0/1 rewards, or for rewards between 0 and 1
    *("beta_thompson", "kl_ucb", "ucb_tuned", "ts_postdiff", "leader_challenger", "play_the_winner"),
}

WITHOUT_UNIT = {  # numbers in documents that are no multiples of a reward
    *("p_value", "p_adjusted", "lift", "lift_low", "lift_high", "never_pulled", "pulls_cv", "level", "common", "own"),
    *("log_likelihood", "expected_log_likelihood", "probability", "acceptance", "effective", "weight", "winner"),
    *(
        "power",
        "coverage",
        "pulls_se",
        "winner_se",
        "power_se",
        "coverage_se",
        "slope",
        "filled",
        "batches",
        "share",
        "pulls",
    ),
}
SQUARES = {"variances", "covariances"}


def in_unit(policy, unit):
    """The rule with its options in another unit."""
    if isinstance(policy, Wrapper):
        return dataclasses.replace(policy, policy=in_unit(policy.policy, unit))
    of_unit = {name: power for name, power in UNITS.get(policy.name, {}).items() if getattr(policy, name) is not None}
    return dataclasses.replace(policy, **{name: getattr(policy, name) * unit**power for name, power in of_unit.items()})


def told(document, unit, name=""):
    """The document as if rewards had been counted in `unit`; numbers within texts are taken out."""
    if isinstance(document, dict):
        return {key: told(value, unit, key) for key, value in document.items() if key not in ("policy", "log_sha256")}
    if isinstance(document, (list, tuple)):
        return [told(value, unit, name) for value in document]
    if isinstance(document, str):
        return re.sub(r"\d+(,\d{3})*(\.\d+)?(e[+-]?\d+)?", "#", document)
    known = isinstance(document, float) and name not in WITHOUT_UNIT
    return document * (unit**2 if name in SQUARES else unit) if known else document


def parts(document, place=()):
    """The numbers and texts of a document by their place."""
    if not isinstance(document, (dict, list)):
        return {place: document}
    items = document.items() if isinstance(document, dict) else enumerate(document)
    return {key: value for name, part in items for key, value in parts(part, (*place, name)).items()}
