"""The rules. This is their table of contents: the command line, the tests and the docs read it."""

import re
from collections.abc import Callable

from debandit import spec
from debandit.engine.binding import import_file
from debandit.errors import InputError, shorten
from debandit.policies import presets
from debandit.policies.adapters import MABWiserRule as MABWiserRule
from debandit.policies.adapters import RiverRule as RiverRule
from debandit.policies.beta_thompson import BetaThompson as BetaThompson
from debandit.policies.chance_wrappers import Delayed as Delayed
from debandit.policies.chance_wrappers import Drop as Drop
from debandit.policies.chance_wrappers import Floor as Floor
from debandit.policies.chance_wrappers import Gate as Gate
from debandit.policies.chance_wrappers import Quota as Quota
from debandit.policies.chance_wrappers import Tempered as Tempered
from debandit.policies.chance_wrappers import exploration_sampling
from debandit.policies.deciding import CommitWhen as CommitWhen
from debandit.policies.deciding import StopWhen as StopWhen
from debandit.policies.etc import ExploreThenCommit as ExploreThenCommit
from debandit.policies.exp3 import Exp3 as Exp3
from debandit.policies.fixed_weights import FixedWeights as FixedWeights
from debandit.policies.fixed_weights import Uniform as Uniform
from debandit.policies.gaussian_thompson import GaussianThompson as GaussianThompson
from debandit.policies.gaussian_thompson import thompson_variance
from debandit.policies.greedy import DecayingEpsilonGreedy as DecayingEpsilonGreedy
from debandit.policies.greedy import EpsilonGreedy as EpsilonGreedy
from debandit.policies.greedy import Greedy as Greedy
from debandit.policies.inverse_gap import InverseGap as InverseGap
from debandit.policies.kl_ucb import KLUCB as KLUCB
from debandit.policies.leader_challenger import LeaderChallenger as LeaderChallenger
from debandit.policies.object_rules import ObjectRule as ObjectRule
from debandit.policies.own_rules import ScoreRule as ScoreRule
from debandit.policies.own_rules import SelectRule as SelectRule
from debandit.policies.parameters import add_parameters
from debandit.policies.play_the_winner import PlayTheWinner as PlayTheWinner
from debandit.policies.policy import Policy as Policy
from debandit.policies.softmax import Softmax as Softmax
from debandit.policies.successive_elimination import SuccessiveElimination as SuccessiveElimination
from debandit.policies.thompson import ThompsonSampling as ThompsonSampling
from debandit.policies.top_two_thompson import TopTwoThompson as TopTwoThompson
from debandit.policies.ts_postdiff import TSPostDiff as TSPostDiff
from debandit.policies.ucb import UCB as UCB
from debandit.policies.ucb import ucb1
from debandit.policies.ucb_tuned import UCBTuned as UCBTuned
from debandit.policies.wrappers import Batched as Batched
from debandit.policies.wrappers import WarmUp as WarmUp

_CLASSES: tuple[type[Policy], ...] = (
    ExploreThenCommit,
    Greedy,
    EpsilonGreedy,
    DecayingEpsilonGreedy,
    Softmax,
    InverseGap,
    UCB,
    UCBTuned,
    KLUCB,
    LeaderChallenger,
    SuccessiveElimination,
    ThompsonSampling,
    GaussianThompson,
    TopTwoThompson,
    BetaThompson,
    TSPostDiff,
    PlayTheWinner,
    Exp3,
    Uniform,
    FixedWeights,
)
RULES: dict[str, type[Policy]] = {rule.name: rule for rule in _CLASSES}
CLASSES = [name for name, value in vars().copy().items() if isinstance(value, type) and issubclass(value, Policy)]
_AROUND: tuple[type[Policy], ...] = (Batched, Delayed, WarmUp, Gate, Floor, Tempered, Drop, Quota, CommitWhen, StopWhen)
WRAPPERS: dict[str, type[Policy]] = {wrapper.name: wrapper for wrapper in _AROUND}
ALIASES: dict[str, Callable[..., Policy]] = {  # other names of rules with certain options
    "ucb1": ucb1,
    "thompson_variance": thompson_variance,
    "exploration_sampling": exploration_sampling,
}
OTHER_NAMES: dict[str, type[Policy]] = {  # that people type
    "explore_then_commit": ExploreThenCommit,
    "eps_greedy": EpsilonGreedy,
    "e_greedy": EpsilonGreedy,
    "ts": ThompsonSampling,
    "thompson_sampling": ThompsonSampling,
    "beta_ts": BetaThompson,
    "rpw": PlayTheWinner,
    "randomized_play_the_winner": PlayTheWinner,
    "boltzmann": Softmax,
}
ADAPTERS: dict[str, type[Policy]] = {rule.name: rule for rule in (MABWiserRule, RiverRule)}  # other packages' rules
_files_are_run = True
MAKERS: dict[str, Callable[..., Policy]] = OTHER_NAMES | RULES | ALIASES | ADAPTERS | WRAPPERS
for _rule in (*_CLASSES, *_AROUND, *ADAPTERS.values()):
    add_parameters(_rule)
_PRESETS = re.compile(rf"\b{presets.PREFIX}\s*(\w*)", re.IGNORECASE)


def as_policy(policy: Policy | str, where: str = "policy") -> Policy:
    """A rule, or the text of one: ucb, batched(ucb(c=2), size=500), preset:growthbook, or my_rules.py:MyRule(c=2)."""
    if isinstance(policy, str):
        policy = _from_text(policy, where)
    if not isinstance(policy, Policy):
        raise InputError(f"{shorten(repr(policy))} is not a rule", where=where, remedy="For example UCB(c=1.0).")
    return policy


def _from_text(text: str, where: str) -> Policy:
    """Rules of files and presets, also inside wrappers, are known by their own names from then on."""
    makers = MAKERS
    for file, name in rules_in_files(text):
        found = _rules_of(file, where)
        if name not in found:
            raise spec.unknown(name, found, f"{where}, {file}", "rule")
        makers = makers | {name: found[name]}
        text = text.replace(f"{file}:", "")
    for name in _PRESETS.findall(text):
        preset = presets.find(name, where)
        makers = makers | {preset.name: preset}
    text = _PRESETS.sub(r"\1", text)
    policy: Policy = spec.build(with_underscores(text), makers, where, "rule")
    return policy


def with_underscores(text: str) -> str:
    """The text with the names of rules as they are written here: epsilon_greedy for Epsilon Greedy."""
    for name in sorted(MAKERS, key=len, reverse=True):
        if "_" in name:
            apart = name.replace("_", r"[-\s]+")
            text = re.sub(rf"(?i)(?<!\w){apart}(?!\w)", name, text)
    return text


def rules_in_files(text: str) -> list[tuple[str, str]]:
    """The files that a rule's text names, which will be run, with the names of the rules in them."""
    wrapped = re.match(rf"\s*({'|'.join(WRAPPERS)})\s*\(", text, re.IGNORECASE)
    return re.findall(r"(?<![^\s(),])([^\s(),]+\.py):(\w+)" if wrapped else r"(?s)^(.*\.py):(\w+)", text)


def run_no_files() -> None:
    """From now on this process runs no Python file for a rule: where texts come from a web page, say."""
    global _files_are_run
    _files_are_run = False


def _rules_of(file: str, where: str) -> dict[str, type[Policy]]:
    """The rules of a user's Python file, which is run."""
    if not _files_are_run:
        remedy = "Take a rule from the list. For a rule of your own there are the command debandit debias, and Python."
        raise InputError("no Python file is run from here", where=where, remedy=remedy)
    try:
        module = import_file(file)
    except FileNotFoundError:
        raise InputError("there is no such file", where=f"{where}, {file}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of the user's code, which may end the program or worse
        what = f"cannot run the file ({type(error).__name__}: {shorten(str(error), 200)})"
        raise InputError(what, where=f"{where}, {file}") from error
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Policy) and value.__module__ == module.__name__
    }
