"""debandit: how biased is each arm's mean after a bandit experiment, and what is it corrected.

The public names, imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from debandit.version import __version__

if TYPE_CHECKING:
    from debandit import estimators, theory, worlds
    from debandit.debiasing import debias
    from debandit.errors import DebanditError, InputError, Refused
    from debandit.log import ExperimentLog
    from debandit.policies import (
        UCB,
        BetaThompson,
        EpsilonGreedy,
        ExploreThenCommit,
        Policy,
        ThompsonSampling,
        Uniform,
    )
    from debandit.readers import read_log
    from debandit.result import Debiased
    from debandit.simulation import Runs, simulate
    from debandit.study import Study

_HOMES = {
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
}

__all__ = [
    "UCB",
    "BetaThompson",
    "DebanditError",
    "Debiased",
    "EpsilonGreedy",
    "ExperimentLog",
    "ExploreThenCommit",
    "InputError",
    "Policy",
    "Refused",
    "Runs",
    "Study",
    "ThompsonSampling",
    "Uniform",
    "__version__",
    "debias",
    "estimators",
    "read_log",
    "simulate",
    "theory",
    "worlds",
]


def __getattr__(name: str) -> Any:
    if name in ("estimators", "theory", "worlds"):
        return importlib.import_module(f"debandit.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"debandit.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'debandit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
