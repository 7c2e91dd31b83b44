"""The refusal of a rule names a neighbour that would fit."""

import numpy as np
import pytest
from batch_tables import table_of

import debandit as db
from debandit import checking
from debandit.checking.fit import Finding, Fit
from debandit.checking.neighbours import _numbers, _rounded_up
from debandit.policies import as_policy

NORMAL = db.worlds.Normal([1.0, 1.5, 1.2], [1.0, 1.0, 1.0])
RARE = db.worlds.Bernoulli([0.02, 0.02, 0.02])  # so that means are often equal
CLOSE = db.worlds.Normal([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])  # so that choices are close


def log_of(made, world=NORMAL, horizon=300, seed=0):
    return db.simulate(as_policy(made), world, horizon=horizon, runs=1, seed=seed, paths=True).log(0)


def fit_of(log, declared):
    """Without the pull counts, which take time and say nothing about neighbours."""
    policy = as_policy(declared).in_log(log)
    looked = checking._look(log, policy, checking.MOST_ROUNDS, 0)
    near = checking._neighbours(log, policy, looked, checking.LEVEL, checking.MOST_ROUNDS, 0)
    return checking._fit(log, policy, looked, None, near)


@pytest.mark.parametrize(
    ("declared", "made", "world"),
    [
        ("epsilon_greedy(0.1)", "epsilon_greedy(epsilon=0.1, ties=last)", RARE),
        ("ucb", "ucb(first_t=0)", CLOSE),
        ("ucb", "ucb(initial_pulls=5)", NORMAL),
        ("ucb(initial_pulls=5)", "ucb", NORMAL),
        ("etc(pulls=20)", "etc(pulls=10)", NORMAL),
        ("thompson(initial_pulls=1)", "thompson", NORMAL),
        ("etc(pulls=20)", "warm_up(etc(pulls=20), pulls=20)", NORMAL),
        ("ucb", "warm_up(ucb, pulls=5)", NORMAL),
        ("ucb", "warm_up(ucb, rounds=50)", NORMAL),
        ("epsilon_greedy(0.1)", "warm_up(epsilon_greedy(0.1), rounds=100)", NORMAL),
        ("ucb", "batched(ucb, size=50)", NORMAL),
        ("ucb", "batched(ucb, size=7)", NORMAL),
        ("batched(ucb, size=50)", "batched(ucb, size=20)", NORMAL),
        ("thompson", "batched(thompson, size=100)", NORMAL),
        ("ucb", "delayed(ucb, rounds=5)", NORMAL),
        ("ucb", "delayed(ucb, rounds=37)", NORMAL),
        ("thompson", "delayed(thompson, rounds=50)", NORMAL),
        ("batched(ucb, size=20)", "delayed(batched(ucb, size=20), batches=1)", NORMAL),
        ("delayed(ucb, rounds=5)", "ucb", NORMAL),
        ("batched(ucb, size=50)", "ucb", NORMAL),
    ],
)
def test_the_neighbour_that_made_the_log_is_named(declared, made, world):
    logs = (log_of(made, world, seed=seed) for seed in range(20))
    fit = next(fit for fit in (fit_of(log, declared) for log in logs) if not fit.fits)
    assert str(as_policy(made)) in fit.neighbours
    assert f"This would fit: {fit.neighbours[0]}" in " ".join(str(fit).split())


def test_what_is_named_can_be_pasted_and_fits():
    log = log_of("delayed(ucb, rounds=5)")
    fit = db.check(log, "ucb")
    assert fit.neighbours == ("delayed(ucb(c=1.0), rounds=5)",)
    assert db.check(log, fit.neighbours[0]).fits
    assert db.check(log, fit.neighbours[0]).neighbours == ()


def test_debias_says_it_in_the_same_words():
    sentence = "This would fit: delayed(ucb(c=1.0), rounds=5). Use it if it is what ran."
    log = log_of("delayed(ucb, rounds=5)")
    assert sentence in str(db.check(log, "ucb"))
    with pytest.raises(db.Refused) as error:
        db.debias(log, "ucb", runs=10)
    assert sentence in error.value.remedy
    warmed = log_of("warm_up(thompson, rounds=100)", seed=1)
    warning, *_ = db.debias(warmed, "thompson", runs=10).warnings
    assert "is unlikely to have made this log" in warning
    assert "This would fit: warm_up(thompson(" in warning


def test_the_log_s_own_batches_stay_unsaid():
    """The rule is named as one writes it for this log; also for a table, and for one without its rounds."""
    made = log_of("delayed(batched(thompson, size=100), batches=1)", horizon=2000).rounds
    log = db.ExperimentLog(made.arms, made.rewards, labels=[0, 1, 2], batches=np.repeat(np.arange(20), 100))
    table = table_of(made.arms, made.rewards, [100] * 20, 3, binary=False)
    wanted = str(db.Delayed(db.Batched(db.ThompsonSampling()), batches=1))
    for each in (log, table):
        fit = fit_of(each, "batched(thompson)")
        assert not fit.fits
        assert wanted in fit.neighbours


def test_a_rule_that_fits_or_is_far_off_has_no_neighbours():
    assert db.check(log_of("ucb"), "ucb").neighbours == ()
    far = fit_of(log_of("uniform"), "ucb")
    assert (far.verdict, far.neighbours) == ("impossible", ())
    assert "would fit" not in str(far)


def test_the_search_does_not_change_the_verdict(monkeypatch):
    logs = [log_of("delayed(epsilon_greedy, rounds=20)", seed=seed) for seed in range(5)]
    found = [db.check(log, "epsilon_greedy") for log in logs]
    monkeypatch.setattr(checking, "neighbours_of", lambda *_: ())
    before = [db.check(log, "epsilon_greedy") for log in logs]
    assert [fit.p_value for fit in found] == [fit.p_value for fit in before]
    assert any(fit.neighbours for fit in found)
    assert not any(fit.neighbours for fit in before)


def test_several_in_one_sentence():
    fit = Fit("ucb", 2, 9, 9, 0, 0.0, (3,), "", (), None, None, (Finding("choices", None, ""),), ())
    for names, words in ((("a",), "fit: a."), (("a", "b"), "fit: a or b."), (("a", "b", "c"), "fit: a, b or c.")):
        assert words in type(fit)(**(vars(fit) | {"neighbours": names})).remedies[0]


def test_numbers_that_are_tried():
    assert _numbers(0, exact=True) == _numbers(-5, exact=False) == []
    assert _numbers(25, exact=False) == [*range(1, 11), 20]
    assert _numbers(137, exact=True) == [*range(1, 11), *range(20, 101, 10), *range(107, 138)]
    assert [_rounded_up(473, digits) for digits in (1, 2, 3, 4)] == [500, 480, 473, 473]
