"""The details of a result: how its numbers were made, and how far to trust them."""

from typing import TYPE_CHECKING

import numpy as np

from debandit.errors import shorten, with_few_sizes
from debandit.tables import Column, Part, Table
from debandit.words.differences import difference_parts
from debandit.words.metrics import metric_details
from debandit.words.periods import period_details
from debandit.words.values import Values, called, has_quoted

if TYPE_CHECKING:
    from debandit.result import Debiased

_WHICH_TO_USE = (
    "The quoted mean is corrected given the arm's place in this log: quote it for a single experiment.",
    "The corrected mean is corrected on average over experiments: take it to pool many experiments.",
)
_OF_LEADER = "The interval of the best-looking arm takes into account that the arm was selected."
_UNSTABLE = 0.5  # a coefficient of variation of pulls that is worth a word


def details(result: "Debiased") -> list[Part]:
    """What stands behind the answer."""
    settings = result.settings
    if result.replays:
        how = f"method {settings.method}"
    else:
        how = f"world {settings.world}" + (f" (auto: {settings.world_because})" if settings.world_because else "")
    fitted = " with control variates" if settings.control_variates else ""
    texts = [
        f"{result.runs:,} runs{fitted}, seed {settings.seed}; {result.stopped_because}.",
        *(str(result.interval).split("\n") if result.interval.name != "none" else []),
        *_walks(result),
    ]
    parts = [
        Part("made", f"Rule {with_few_sizes(settings.policy)}, {how}."),
        Part("errors", _table(result)),
        *(Part("which", text) for text in _which_to_use(result)),
        *difference_parts(result),
        *_of_winner(result),
        *period_details(result),
        *metric_details(result),
        *(Part("runs", text) for text in texts),
        *(Part("note", f"note: {note}") for note in _unstable(result)),
    ]
    return [part._replace(kind=f"details {part.kind}") for part in parts]


def _table(result: "Debiased") -> Table:
    """Each arm's means with their Monte-Carlo errors."""
    said = Values.in_tables(result)
    columns = [Column("arm", "arm", "text"), said.column("naive", f"raw {said.mean}")]
    if has_quoted(result):
        columns += [said.column("quoted", "quoted"), said.column("quoted_bias_se", "± MC s.e.")]
    columns += [said.column("corrected", "corrected"), said.column("bias_se", "± MC s.e.")]
    if (result.never_pulled > 0).any():
        columns.append(Column("never_pulled", "never pulled", "share"))
    if result.replays:
        columns.append(Column("effective", "effective size", "count"))
    return Table(result.arm_rows(), columns, said.decimals)


def _which_to_use(result: "Debiased") -> list[str]:
    selected = result.winner is not None and np.isfinite(result.winner.low)
    return [*(_WHICH_TO_USE if has_quoted(result) else ()), *([_OF_LEADER] if selected else [])]


def _of_winner(result: "Debiased") -> list[Part]:
    """The winner's curse."""
    if result.winner is None:
        return []
    arm, *values = result.winner[:5]
    naive, bias, error, corrected = map(Values.in_tables(result).one, values)
    said = (
        f"The highest mean of such an experiment is biased by {bias} ± {error} on average: corrected as the winner, "
        f"{called(arm)} has {corrected} (raw {naive})."
    )
    return [Part("winner", said)]


def _walks(result: "Debiased") -> list[str]:
    if result.replays is None:
        return []
    walks, steps, acceptance, _ = result.replays
    return [
        f"{walks:,} walks of {steps:,} steps over the orders of the rewards, {100 * acceptance:.0f} % of them "
        "accepted; the second half counts."
    ]


def _unstable(result: "Debiased") -> list[str]:
    """What pulls that vary much from run to run mean for textbook intervals."""
    largest = np.nanmax(result.pulls_cv, initial=0.0)
    if result.interval.name == "none" or not largest > _UNSTABLE:
        return []
    arm = shorten(result.labels[int(np.nanargmax(result.pulls_cv))])
    return [
        f"the pulls of {arm} vary from run to run, with a standard deviation of {100 * largest:.0f} % of their mean; "
        "textbook intervals and tests (wald) are only proved to hold if pulls hardly vary"
    ]
