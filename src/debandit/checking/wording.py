"""What the check found, for people."""

from debandit.checking.choices import Plausibility
from debandit.checking.counts import Counts
from debandit.checking.fit import HARDLY, LEVEL, REMEDY, Finding, Fit
from debandit.checking.replaying import Replay
from debandit.checking.rewards import RewardTests
from debandit.errors import Refused, listed, shorten


def of_choices(found: Replay, judged: Plausibility | None, wrong: tuple[int, ...], horizon: int) -> Finding:
    """Of the rounds that were looked at."""
    count = len(found.arms)
    which = "the first " if found.rounds[-1] == count - 1 else ""
    name = "choices" if count == horizon else f"choices of {which}{count:,} rounds"
    if wrong:
        text = f"the rule never makes {len(wrong):,} of {count:,}: in round {listed([f'{t:,}' for t in wrong], 5)}"
        return Finding(name, None, text)
    if judged is None:
        return Finding(name, None, f"the rule makes all {count:,} of them, ties allowed")
    text = f"log-likelihood {judged.log_likelihood:.1f}, expected {judged.expected:.1f}"
    return Finding(name, judged.p_value, f"{text}; they {judged.departure}" if judged.p_value < LEVEL else text)


def of_counts(counts: Counts) -> Finding:
    """Of the arm with the least usual number of pulls."""
    text = f"{shorten(counts.arm)}: {counts.pulls:,} pulls, {counts.low:,.0f} to {counts.high:,.0f} in 95 % of the runs"
    return Finding("pull counts (approximate)", counts.p_value, text)


def of_rewards(tests: RewardTests) -> list[Finding]:
    """Of the arms that look the least like independent draws from one law."""
    kinds = (
        ("drift of rewards", tests.drift, "time"),
        ("dependence of rewards", tests.dependence, "the reward before"),
    )
    return [
        Finding(name, test.p_value, f"{shorten(test.arm)}: correlation {test.correlation:.2f} with {other}")
        for name, test, other in kinds
        if test is not None
    ]


def reward_warnings(tests: RewardTests) -> list[str]:
    """Where the rewards are not what debiasing assumes."""
    drift, dependence = tests
    found = []
    if drift is not None and drift.p_value < HARDLY:
        found.append(
            f"{shorten(drift.arm)}: its rewards {'rise' if drift.correlation > 0 else 'fall'} over time "
            f"(p = {drift.p_value:.2g}), but debiasing assumes that their law does not change. Look at them over time: "
            "one mean, corrected or not, may not describe them."
        )
    if dependence is not None and dependence.p_value < HARDLY:
        found.append(
            f"{shorten(dependence.arm)}: its rewards are {'like' if dependence.correlation > 0 else 'unlike'} the ones "
            f"before them (p = {dependence.p_value:.2g}), but debiasing assumes that they are independent. Are rows "
            "repeated, or several of one user? Its bias may be larger than estimated."
        )
    return found


def debias_warnings(fit: Fit) -> list[str]:
    """What stays in the result of `debias`."""
    if fit.mismatches:
        what = f"forced: {fit.policy} never makes {len(fit.mismatches):,} of {fit.rounds_checked:,} choices of the log"
        return [f"{what}, so the correction is that of another experiment; {fit.first_mismatch}", *fit.warnings]
    if fit.p_value < HARDLY:
        test = fit.findings[0]
        what = f"{fit.policy} hardly made this log (p = {fit.p_value:.2g}), so the correction may be worthless"
        return [f"{what}; {test.test}: {test.finding}. {fit.remedy}", *fit.warnings]
    return list(fit.warnings)


def refusal(fit: Fit, which: str) -> Refused:
    """Why `debias` does not go on."""
    choices = f"{len(fit.mismatches):,} of {fit.rounds_checked:,} choices"
    what = f"{fit.policy} cannot have made this log: it never makes {choices}"
    ways_out = [fit.first_mismatch, fit.scores(), REMEDY, "To go on in spite of it: --force, in Python force=True."]
    return Refused(what, where=f"{which}round {fit.mismatches[0]:,}", remedy="\n".join(ways_out))
