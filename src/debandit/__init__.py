"""debandit: how biased each arm's mean is after a bandit experiment, and what it is when corrected.

The public names, imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from debandit.version import __version__

if TYPE_CHECKING:
    from debandit import datasets, estimators, theory, worlds
    from debandit.checking import Fit, check
    from debandit.debiasing import debias, debias_all
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

_MODULES = ("datasets", "estimators", "theory", "worlds")
_HOMES = {  # all other names are those of policies
    "check": "checking",
    "Fit": "checking",
    "debias": "debiasing",
    "debias_all": "debiasing",
    "DebanditError": "errors",
    "InputError": "errors",
    "Refused": "errors",
    "identify": "identification",
    "Identified": "identification",
    "ExperimentLog": "log",
    "read_log": "readers",
    "Debiased": "result",
    "simulate": "simulation",
    "Runs": "simulation",
    "Study": "study",
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
    "debias_all",
    "estimators",
    "identify",
    "read_log",
    "simulate",
    "theory",
    "worlds",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"debandit.{name}")
    if name in __all__:
        return getattr(importlib.import_module(f"debandit.{_HOMES.get(name, 'policies')}"), name)
    raise AttributeError(f"module 'debandit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
