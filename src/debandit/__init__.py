"""debandit: how biased each arm's mean is after a bandit experiment, and what it is when corrected.

The public names, imported when they are first used; the rules are those of `policies`.
"""

import importlib
from typing import TYPE_CHECKING, Any

from debandit.version import __version__ as __version__

if TYPE_CHECKING:
    from debandit import datasets as datasets
    from debandit import estimators as estimators
    from debandit import theory as theory
    from debandit import worlds as worlds
    from debandit.checking import Fit as Fit
    from debandit.checking import check as check
    from debandit.comparing import Comparison as Comparison
    from debandit.comparing import compare as compare
    from debandit.debiasing import debias as debias
    from debandit.debiasing import debias_all as debias_all
    from debandit.describing import Description as Description
    from debandit.describing import describe as describe
    from debandit.errors import DebanditError as DebanditError
    from debandit.errors import InputError as InputError
    from debandit.errors import Refused as Refused
    from debandit.forecasting import Plan as Plan
    from debandit.forecasting import Plans as Plans
    from debandit.forecasting import plan as plan
    from debandit.identification import Identified as Identified
    from debandit.identification import identify as identify
    from debandit.log import ExperimentLog as ExperimentLog
    from debandit.policies import *  # noqa: F403 - the table of contents of the rules
    from debandit.readers import read_log as read_log
    from debandit.result import Debiased as Debiased
    from debandit.simulation import Runs as Runs
    from debandit.simulation import simulate as simulate
    from debandit.study import Study as Study

_MODULES = ("datasets", "estimators", "theory", "worlds")
_HOMES = {  # of all other names that are not those of rules
    "check": "checking",
    "Fit": "checking",
    "compare": "comparing",
    "Comparison": "comparing",
    "debias": "debiasing",
    "debias_all": "debiasing",
    "describe": "describing",
    "Description": "describing",
    "DebanditError": "errors",
    "InputError": "errors",
    "Refused": "errors",
    "plan": "forecasting",
    "Plan": "forecasting",
    "Plans": "forecasting",
    "identify": "identification",
    "Identified": "identification",
    "ExperimentLog": "log",
    "read_log": "readers",
    "Debiased": "result",
    "simulate": "simulation",
    "Runs": "simulation",
    "Study": "study",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"debandit.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"debandit.{_HOMES[name]}"), name)
    if name == "__all__":
        return __dir__()
    if not name.startswith("_") and name in (policies := importlib.import_module("debandit.policies")).CLASSES:
        return getattr(policies, name)
    raise AttributeError(f"module 'debandit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*_MODULES, *_HOMES, *importlib.import_module("debandit.policies").CLASSES, "__version__"))
