"""What the library says in options of the command line, said in the words of the page."""

import re
from typing import Any

from debandit.errors import DebanditError, Refused

LABELS = {  # what the fields of options are called
    "arm": "Arm",
    "reward": "Reward",
    "time": "Sort by",
    "batch": "Batch",
    "batch-by": "Cut into batches by",
    "metric": "Other outcomes",
    "pulls": "Users",
    "successes": "Successes",
    "mean": "Mean",
    "sd": "Standard deviation",
    "sum": "Sum",
    "squares": "Sum of squares",
    "available": "Availability",
    "arms": "All arms, in the rule's order",
    "missing": "Rows with a missing value",
    "control": "Control",
    "level": "Confidence level",
    "interval": "Interval",
    "seed": "Seed",
    "world": "World",
    "runs": "Runs",
    "adjust": "Days that move all arms",
    "method": "Method",
    "control-variates": "Control variates",
    "unseen": "Mean and standard deviation of arms without a reward",
    "force": "Go on even if the rule cannot have made the log",
}
_FLAG = re.compile(r"--([a-z][a-z-]*[a-z])")
_IN_PYTHON = re.compile(r" \(in Python (?:[^()]|\([^()]*\))*\)")
_COMMAND = re.compile(r"\bdebandit (check|debias|describe|identify)\b")
_STEPS = {"check": "the check", "debias": "this page", "describe": "the columns", "identify": "“I do not know it”"}


def for_page(text: str) -> str:
    """The text with the names of fields for options, and of steps for commands."""
    text = _FLAG.sub(lambda flag: f"“{LABELS[flag[1]]}”" if flag[1] in LABELS else flag[0], _IN_PYTHON.sub("", text))
    return _COMMAND.sub(lambda command: _STEPS[command[1]], text)


def described(error: DebanditError, kept: str = "", name: str = "") -> dict[str, Any]:
    """What, where and what to do, in the words of the page, and which fields it is about.

    The log is called by the name with which it was sent, not by the one under which it is `kept`.
    """
    what, where, remedy = (
        text.replace(kept, name) if kept else text for text in (error.what, error.where, error.remedy)
    )
    return {
        "what": for_page(what),
        "where": for_page(where),
        "remedy": for_page(remedy),
        "refused": isinstance(error, Refused),
        "fields": [where, *_FLAG.findall(f"{where} {remedy}"), *re.findall(r"\w+", what)],
    }
