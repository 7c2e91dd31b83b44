"""debandit: how biased is each arm's mean after a bandit experiment, and what is it corrected.

The public names, imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from debandit.version import __version__

if TYPE_CHECKING:
    from debandit import datasets, estimators, theory, worlds
    from debandit.checking import Fit, check
    from debandit.debiasing import debias
    from debandit.errors import DebanditError, InputError, Refused
    from debandit.identification import Identified, identify
    from debandit.log import ExperimentLog
    from debandit.policies import (
        KLUCB,
        UCB,
        Batched,
        BetaThompson,
        DecayingEpsilonGreedy,
        EpsilonGreedy,
        Exp3,
        ExploreThenCommit,
        FixedWeights,
        Floor,
        Greedy,
        MABWiserRule,
        ObjectRule,
        PlayTheWinner,
        Policy,
        RiverRule,
        ScoreRule,
        SelectRule,
        Softmax,
        SuccessiveElimination,
        ThompsonSampling,
        ThompsonVariance,
        TopTwoThompson,
        TSPostDiff,
        UCBTuned,
        Uniform,
        WarmUp,
    )
    from debandit.readers import read_log
    from debandit.result import Debiased
    from debandit.simulation import Runs, simulate
    from debandit.study import Study

_HOMES = {
    "check": "checking",
    "Fit": "checking",
    "debias": "debiasing",
    "Debiased": "result",
    "ExperimentLog": "log",
    "read_log": "readers",
    "simulate": "simulation",
    "Runs": "simulation",
    "Study": "study",
    "DebanditError": "errors",
    "InputError": "errors",
    "Refused": "errors",
    "Policy": "policies",
    "ExploreThenCommit": "policies",
    "UCB": "policies",
    "ThompsonSampling": "policies",
    "BetaThompson": "policies",
    "EpsilonGreedy": "policies",
    "Uniform": "policies",
    "identify": "identification",
    "Identified": "identification",
    "DecayingEpsilonGreedy": "policies",
    "Exp3": "policies",
    "FixedWeights": "policies",
    "Greedy": "policies",
    "KLUCB": "policies",
    "MABWiserRule": "policies",
    "ObjectRule": "policies",
    "PlayTheWinner": "policies",
    "RiverRule": "policies",
    "ScoreRule": "policies",
    "SelectRule": "policies",
    "Softmax": "policies",
    "SuccessiveElimination": "policies",
    "ThompsonVariance": "policies",
    "TopTwoThompson": "policies",
    "TSPostDiff": "policies",
    "UCBTuned": "policies",
    "Batched": "policies",
    "Floor": "policies",
    "WarmUp": "policies",
}

__all__ = [
    "KLUCB",
    "UCB",
    "Batched",
    "BetaThompson",
    "DebanditError",
    "Debiased",
    "DecayingEpsilonGreedy",
    "EpsilonGreedy",
    "Exp3",
    "ExperimentLog",
    "ExploreThenCommit",
    "Fit",
    "FixedWeights",
    "Floor",
    "Greedy",
    "Identified",
    "InputError",
    "MABWiserRule",
    "ObjectRule",
    "PlayTheWinner",
    "Policy",
    "Refused",
    "RiverRule",
    "Runs",
    "ScoreRule",
    "SelectRule",
    "Softmax",
    "Study",
    "SuccessiveElimination",
    "TSPostDiff",
    "ThompsonSampling",
    "ThompsonVariance",
    "TopTwoThompson",
    "UCBTuned",
    "Uniform",
    "WarmUp",
    "__version__",
    "check",
    "datasets",
    "debias",
    "estimators",
    "identify",
    "read_log",
    "simulate",
    "theory",
    "worlds",
]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "estimators", "theory", "worlds"):
        return importlib.import_module(f"debandit.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"debandit.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'debandit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
