"""Did this rule make this log, and are its rewards what debiasing assumes?

`chosen` looks for choices that the rule never makes, `plausibility` whether those of a randomised rule are as random as
it is, `counts` at the numbers of pulls, `reward_tests` at drift and dependence. `fit` is the record and its text.
"""

from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np

from debandit.checking.chosen import Choices, compare_choices, explain, situation
from debandit.checking.counts import Counts, compare_counts
from debandit.checking.fit import Fit, debias_warnings, of_choices, of_counts, of_rewards, refusal, reward_warnings
from debandit.checking.plausibility import judge
from debandit.checking.reward_tests import examine_rewards
from debandit.checks import checked_seed, checked_whole
from debandit.errors import InputError, Refused, listed
from debandit.log import ExperimentLog
from debandit.policies import Policy, as_policy
from debandit.readers import logs_of
from debandit.simulation import enough_rounds
from debandit.worlds import Unseen

MOST_ROUNDS = 1000  # of a randomised rule: some need milliseconds for the probabilities of one round
FEW_ROUNDS = 200  # the same before debiasing, which should not take much longer for it
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
    """Whether `policy` may have made the log.

    A rule without randomness must choose every logged arm, ties allowed. The choices of a randomised one, in at most
    `rounds` rounds, give a p-value; it depends on the `seed`, because the method adds random numbers. Pull counts
    decide only if nothing else can: if only they are known, or the rule does not say how likely its choices are.
    `unseen=(mean, sd)` gives arms without a reward a world, as in `debias`; without it their counts are not compared.
    """
    declared = as_policy(policy)
    (log,) = logs_of([log], batched=declared.needs_batches)
    rule, stand_in = declared.in_log(log), None if unseen is None else Unseen.of(unseen)
    checked_seed(seed)
    enough_rounds(rule, len(log.labels), log.horizon)
    if rule.binary_rewards and not log.binary:
        raise InputError(f"{rule.name} is a rule for 0/1 rewards, but the log has others", where="reward")
    found = compare_choices(log, rule, checked_whole("rounds", rounds, 1, 10**9))
    no_world = bool(log.unseen) and stand_in is None
    if no_world and found is None:
        raise Refused(
            f"no reward was logged for {listed(log.unseen)}, and only pull counts could tell whether the rule fits",
            where="arms",
            remedy="Give such arms a world with --unseen MEAN,SD (in Python unseen=(mean, sd)).",
        )
    counts = None if no_world else compare_counts(log, rule, seed, stand_in, threads)
    return _fit(log, rule, found, counts, seed)


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
        found = compare_choices(log, policy, FEW_ROUNDS)
        impossible = found is not None and bool(found.impossible.any())
        if impossible and not force:
            raise refusal(_fit(log, policy, found, None, seed), f"log {place + 1}, " if len(logs) > 1 else "")
        if not thorough and not impossible:
            doubts.append([])
            continue
        counts = None if found else compare_counts(log, policy, seed, unseen, threads, executor)
        doubts.append(debias_warnings(_fit(log, policy, found, counts, seed)))
    return doubts


def _fit(log: ExperimentLog, policy: Policy, found: Choices | None, counts: Counts | None, seed: int) -> Fit:
    bad = np.empty(0, np.int64) if found is None else np.flatnonzero(found.impossible)
    wrong = () if found is None else tuple((found.rounds[bad] + 1).tolist())
    judged = judge(found, np.random.default_rng(seed)) if found and policy.randomised and not wrong else None
    rewards = examine_rewards(log)
    return Fit(
        policy=str(policy),
        arm_count=len(log.labels),
        horizon=log.horizon,
        rounds_checked=0 if found is None else len(found.arms),
        p_value=0.0 if wrong else judged.p_value if judged else counts.p_value if counts and not found else 1.0,
        mismatches=wrong,
        first_mismatch=explain(found, bad[0], policy, log.labels) if found and wrong else "",
        situation=tuple(situation(found, bad[0], log.labels)) if found and wrong else (),
        log_likelihood=judged and judged.log_likelihood,
        expected_log_likelihood=judged and judged.expected,
        findings=(
            *([of_choices(found, judged, wrong, log.horizon)] if found else []),
            *([of_counts(counts)] if counts else []),
            *of_rewards(rewards),
        ),
        warnings=tuple(reward_warnings(rewards)),
    )


__all__ = ["Fit", "check", "check_before_debiasing"]
