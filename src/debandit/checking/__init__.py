"""Did this rule make this log, and are its rewards what debiasing assumes?

`chosen` looks for choices that the rule never makes, `plausibility` whether those of a randomised rule are as random as
it is, `batch_counts` does both for the counts of batches, `counts` looks at the numbers of all pulls, `reward_tests` at
drift and dependence. `neighbours` looks for rules that would fit instead. `fit` is the record and its text.
"""

from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np

from debandit.checking.batch_counts import BatchCounts, compare_batches, explain_batch, judge_batches
from debandit.checking.chosen import Choices, compare_choices, explain, situation
from debandit.checking.counts import Counts, compare_counts, left_out
from debandit.checking.fit import (
    LEVEL,
    WARNED,
    Fit,
    Looked,
    debias_warnings,
    finding_of,
    of_counts,
    of_rewards,
    refusal,
    reward_warnings,
)
from debandit.checking.neighbours import forgotten_batches, neighbours_of
from debandit.checking.plausibility import Plausibility, judge
from debandit.checking.reward_tests import examine_rewards
from debandit.checks import checked_seed, checked_whole
from debandit.engine.experiment import enough_rounds
from debandit.errors import Refused, listed
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.policies.availability import absent_of, doubted_absences
from debandit.policies.courses import early_end
from debandit.readers import logs_of
from debandit.settings import absence_notes
from debandit.worlds import Unseen

MOST_ROUNDS = 1000  # or batches, of a randomised rule: some need milliseconds for the probabilities of one round
FEW_ROUNDS, FEWER_ROUNDS = 800, 200  # the same before debiasing, the latter if chances do not follow from totals
MOST_LOGS = 20  # longer lists are only searched for impossible choices of rules without randomness


def check(
    log: ExperimentLog,
    policy: Policy | str,
    *,
    seed: int = 0,
    unseen: tuple[float, float] | None = None,
    rounds: int = MOST_ROUNDS,
    threads: int | None = None,
) -> Fit:
    """Say whether a policy may have made a log.

    A rule without randomness must choose every logged arm, ties allowed. The choices of a randomised one give a
    p-value. Large batches, and tables of batches, are judged by the counts of each batch instead. Pull counts of the
    whole log decide only if nothing else can: if only they are known, or the rule does not say how likely its choices
    are; otherwise they are left out if they would take long. The rewards are tested as well, for drift and dependence.
    See docs/check.md.

    Parameters
    ----------
    log : ExperimentLog, data frame, mapping of columns or path
        What happened.
    policy : Policy or str
        The rule that is said to have chosen the arms.
    seed : int, default 0
        The p-value depends on it, because the method adds random numbers.
    unseen : (float, float), optional
        Mean and standard deviation of the arms without a reward, as in `debias`; without it the counts of a log with
        such arms are not compared.
    rounds : int, default 1000
        The choices of a randomised rule are judged in at most this many rounds.
    threads : int, optional
        Threads to use; by default as many as there are cores.

    Returns
    -------
    Fit
        The verdict, the tests, and if the rule does not fit, rules much like it that would.

    Examples
    --------
    >>> import debandit as db
    >>> world = "normal(means=[1, 1.5], sds=[1, 1])"
    >>> log = db.simulate("ucb(c=2)", world, horizon=100, runs=1, seed=1, paths=True).log(0)
    >>> db.check(log, "ucb(c=2)").verdict
    'fits'
    >>> fit = db.check(log, "ucb(c=1)")
    >>> fit.verdict, fit.fits, fit.mismatches[0]
    ('impossible', False, 16)
    """
    declared = as_policy(policy)
    (log,) = logs_of([log], batched=declared.needs_batches)
    rule, stand_in = declared.in_log(log), None if unseen is None else Unseen.of(unseen)
    checked_seed(seed)
    enough_rounds(rule, len(log.labels), rule.planned(log.horizon))
    rule.check_rewards(log)
    looked = _look(log, rule, checked_whole("rounds", rounds, 1, 10**9), seed)
    near = _neighbours(log, rule, looked, LEVEL, rounds, seed)
    no_world = bool(log.unseen) and stand_in is None
    if no_world and looked is None:
        raise Refused(
            f"no reward was logged for {listed(log.unseen)}, and only the pull counts can show whether the rule fits",
            where="arms",
            remedy="Give such arms a world with --unseen MEAN,SD (in Python unseen=(mean, sd)).",
        )
    too_long = "" if looked is None else left_out(log, rule)
    counts = None if no_world or too_long else compare_counts(log, rule, seed, stand_in, threads)
    return _fit(log, rule, looked, counts, near, too_long)


def check_before_debiasing(
    logs: Sequence[ExperimentLog],
    policies: Sequence[Policy],
    *,
    seed: int,
    unseen: Unseen | None,
    force: bool,
    threads: int | None,
    executor: Executor | None,
) -> list[list[str]]:
    """What to warn of, for each log. An impossible log is refused, unless it is forced."""
    thorough = len(logs) <= MOST_LOGS
    doubts: list[list[str]] = []
    for place, (log, policy) in enumerate(zip(logs, policies, strict=True)):
        if policy.randomised and not thorough:
            doubts.append([])
            continue
        looked = _look(log, policy, FEW_ROUNDS if policy.by_totals else FEWER_ROUNDS, seed)
        impossible = looked is not None and bool(looked.wrong)
        near = () if force else _neighbours(log, policy, looked, WARNED, MOST_ROUNDS, seed)
        if looked is not None and impossible and not force:
            which = f"log {place + 1}, " if len(logs) > 1 else ""
            raise refusal(_fit(log, policy, looked, None, near), f"{which}{looked.where}")
        if not thorough and not impossible:
            doubts.append([])
            continue
        counts = None if looked else compare_counts(log, policy, seed, unseen, threads, executor)
        doubts.append(debias_warnings(_fit(log, policy, looked, counts, near)))
    return doubts


def p_of_choices(log: ExperimentLog, policy: Policy, seed: int = 0) -> float:
    """The p-value of the choices alone: 0 if they are impossible, 1 if the rule does not say how likely they are."""
    looked = _look(log, policy, MOST_ROUNDS, seed)
    return 1.0 if looked is None else looked.p_value


def _look(log: ExperimentLog, policy: Policy, most: int, seed: int) -> Looked | None:
    """What the batches or the rounds say, whichever suit; None if neither are known, or the rule cannot say."""
    rng = np.random.default_rng(seed)
    if _by_batches(log, policy):
        return _look_at_batches(compare_batches(log, policy, most), log, policy, rng)
    rounds = compare_choices(log, policy, most)
    return None if rounds is None else _look_at_rounds(rounds, log, policy, rng)


def _neighbours(
    log: ExperimentLog, policy: Policy, looked: Looked | None, level: float, most: int, seed: int
) -> tuple[str, ...]:
    """Rules that would fit instead, where this one is refused at some level."""

    def accepts(other: Policy) -> bool:
        found = _look(log, other, most, seed)
        return found is not None and found.p_value >= LEVEL

    return () if looked is None or looked.p_value >= level else neighbours_of(log, policy, looked, accepts)


def _by_batches(log: ExperimentLog, policy: Policy) -> bool:
    """Whether whole batches are judged: no more is known, or they are large, or have quotas.

    A delay in rounds leaves it open what the rule had heard of when a batch began.
    """
    conditions = policy.conditions(len(log.labels), policy.planned(log.horizon))
    if conditions.late:
        return False
    known = log.rounds is not None and len(conditions.ends) > 0
    if not policy.by_totals:
        return known and conditions.quota
    return log.batches is not None or (known and (conditions.in_large_batches or conditions.quota))


def _look_at_rounds(found: Choices, log: ExperimentLog, policy: Policy, rng: np.random.Generator) -> Looked:
    bad, size, labels = np.flatnonzero(found.impossible), len(found.arms), log.labels
    wrong = tuple((found.rounds[bad] + 1).tolist())
    judged = _judged(found, log, policy, rng) if policy.randomised and not wrong else None
    which = "the first " if found.rounds[-1] == size - 1 else ""
    name = "choices" if size == log.horizon else f"choices of {which}{size:,} rounds"
    finding = finding_of(name, "round", judged, [f"{t:,}" for t in wrong], size)
    if not wrong:
        early = policy.planned(log.horizon) > log.horizon
        undecided = early_end(policy, log.rounds, len(labels)) if early and log.rounds else ""
        return _ended(Looked("round", size, wrong, "", "", (), judged, finding), log, policy, undecided)
    logged = np.arange(len(labels)) == found.arms[bad[0]]
    shown = explain(found, bad[0], policy, labels), situation(found, bad[0], labels, logged=logged)
    return Looked("round", size, wrong, f"round {wrong[0]:,}", *shown, judged, finding)


def _judged(found: Choices, log: ExperimentLog, policy: Policy, rng: np.random.Generator) -> Plausibility:
    """How the choices look, and if nothing speaks against them, whether they look as if batches had been forgotten."""
    judged = judge(found, rng)
    p_value, size = forgotten_batches(log, policy) if judged.p_value >= WARNED else (1.0, 0)
    if p_value >= judged.p_value:
        return judged
    return judged._replace(p_value=p_value, departure=f"look as if the rule heard of rewards in batches of {size:,}")


def _look_at_batches(found: BatchCounts, log: ExperimentLog, policy: Policy, rng: np.random.Generator) -> Looked:
    bad, size, labels = np.flatnonzero(found.impossible), len(found.batches), log.labels
    wrong = tuple((found.batches[bad] + 1).tolist())
    judged = judge_batches(found, labels, rng) if policy.randomised and not wrong else None
    of_all = "" if size == found.total else f" of {found.total:,}"
    names = [found.names[i].removeprefix("batch ") for i in bad]
    finding = finding_of(f"counts of {size:,}{of_all} batches", "batch", judged, names, size)
    if not wrong:
        return _ended(Looked("batch", size, wrong, "", "", (), judged, finding), log, policy, found.undecided)
    first = bad[0]
    counts = {"expected": found.expected[first], "taken": found.counts[first], "logged": found.odd[first]}
    shown = explain_batch(found, first, labels), situation(found, first, labels, **counts)
    return Looked("batch", size, wrong, found.names[first], *shown, judged, finding)


def _ended(looked: Looked, log: ExperimentLog, policy: Policy, undecided: str) -> Looked:
    """What was found, also that the experiment should not have ended where the log does: one more round is missing."""
    conditions = policy.conditions(len(log.labels), policy.planned(log.horizon))
    if log.horizon not in conditions.moments(log.horizon) and conditions.decides:
        undecided = "nothing is decided within a batch"
    if not undecided:
        return looked
    last, most = f"the log ends after {log.horizon:,} rounds", f"{policy.planned(log.horizon):,} were planned"
    explained = f"{last}, but {most} and the experiment was not decided: {undecided}. Was it stopped by hand?"
    missing = (looked.size if looked.unit == "batch" else log.horizon) + 1
    finding = looked.finding._replace(p_value=None, finding="the log ends before the experiment was decided")
    return looked._replace(wrong=(missing,), where="the end of the log", explained=explained, finding=finding)


def _fit(
    log: ExperimentLog,
    policy: Policy,
    looked: Looked | None,
    counts: Counts | None,
    near: tuple[str, ...],
    without_counts: str = "",
) -> Fit:
    judged, wrong = (looked.judged, looked.wrong) if looked else (None, ())
    rewards = examine_rewards(log, policy.batch_sizes(len(log.labels), log.horizon))
    return Fit(
        policy=str(policy),
        arm_count=len(log.labels),
        horizon=log.horizon,
        rounds_checked=looked.size if looked and looked.unit == "round" else 0,
        batches_checked=looked.size if looked and looked.unit == "batch" else 0,
        p_value=looked.p_value if looked else counts.p_value if counts else 1.0,
        mismatches=wrong,
        first_mismatch=looked.explained if looked else "",
        situation=looked.situation if looked else (),
        log_likelihood=judged and judged.log_likelihood,
        expected_log_likelihood=judged and judged.expected,
        findings=(
            *([looked.finding] if looked else []),
            *([of_counts(counts)] if counts else []),
            *of_rewards(rewards),
        ),
        warnings=tuple(reward_warnings(rewards)),
        notes=(*_notes(log, policy), *([without_counts] if without_counts else [])),
        neighbours=near,
    )


def _notes(log: ExperimentLog, policy: Policy) -> tuple[str, ...]:
    """What to say about arms that were not available in every batch."""
    if log.batches is None:
        return ()
    return (*absence_notes(absent_of(policy, log, log.batches)), *doubted_absences(policy, log, log.batches))


__all__ = ["Fit", "check", "check_before_debiasing", "p_of_choices"]
