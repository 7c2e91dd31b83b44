"""`plan`: what to expect of an experiment, against what can be worked out without it."""

import numpy as np
import pytest

import debandit as db
from debandit.forecasting import Outcome

WORLD = "bernoulli(means=[0.2, 0.5])"


@pytest.fixture(scope="module")
def plans():
    return db.plan(["uniform", "batched(uniform, size=20)"], WORLD, horizon=[40], experiments=6, runs=20, seed=3)


def test_of_a_uniform_rule_everything_is_known(plans):
    """Pulls are binomial(40, 1/2), a pull of the worse arm costs 0.3, and means are without bias."""
    first = plans[0]
    for arm in range(2):
        assert abs(first.pulls[arm].value - 20) < 4.5 * first.pulls[arm].se
        assert abs(first.raw_bias[arm].value) < 4.5 * first.raw_bias[arm].se
    assert first.pulls[0].se == pytest.approx(np.sqrt(10 / 4000), rel=0.05)
    assert abs(first.regret.value - 6) < 4.5 * first.regret.se
    assert first.best == 1
    better = db.plan("batched(beta_thompson, size=20)", WORLD, horizon=40, experiments=2, runs=20)[0]
    assert better.regret.value < first.regret.value - 4.5 * first.regret.se  # the control: a rule that learns


def test_rows_frame_text_and_picture(plans, tmp_path):
    rows = plans.rows()
    assert [(row["arm"], row["horizon"]) for row in rows] == [("1", 40), ("2", 40)] * 2
    assert list(plans.to_frame()) == list(rows[0])
    assert "Side by side" in str(plans)
    assert "Arm 2, the best one, gets 50 % of the rounds" in str(plans[0])
    assert max(map(len, str(plans).splitlines())) <= 120
    plans.plot(tmp_path / "plan.svg")
    assert "right winner" in (tmp_path / "plan.svg").read_text()


def test_the_control_may_be_the_best_arm():
    """Then it is compared with the best of the others."""
    found = db.plan("uniform", WORLD, horizon=40, control=2, experiments=4, runs=20)[0]
    assert (found.best, found.compared) == (1, 0)
    assert np.isfinite(found.power.value)
    assert "The difference of -0.3 between arm 1 and arm 2, the control" in str(found)


def test_a_rule_that_stops_has_shares_of_what_it_pulled():
    rule = "stop_when(batched(beta_thompson, size=20), probability=0.9, most=400)"
    found = db.plan(rule, "bernoulli(means=[0.2, 0.6])", horizon=400, experiments=2, runs=20)[0]
    pulls = [each.value for each in found.pulls]
    assert sum(pulls) < 200
    assert f"gets {100 * pulls[1] / sum(pulls):.0f} % of the rounds" in str(found)


def test_same_seed_same_plan():
    both = [db.plan("ucb", WORLD, horizon=20, experiments=3, runs=10, seed=5, threads=n).rows() for n in (1, 2)]
    assert both[0] == both[1]


def test_what_is_refused():
    with pytest.raises(db.InputError, match="control"):
        db.plan("ucb", WORLD, horizon=20, control=3)
    with pytest.raises(db.InputError, match="one world at a time"):
        db.plan("ucb", db.worlds.Bernoulli([[0.1, 0.2], [0.3, 0.4]]), horizon=20)
    with pytest.raises(db.InputError, match="level"):
        db.plan("ucb", WORLD, horizon=20, level=2)
    with pytest.raises(db.InputError, match="experiments"):
        db.plan("ucb", WORLD, horizon=20, experiments=1)


def test_an_outcome_needs_two_experiments():
    assert np.isnan(Outcome.of(np.array([np.nan, 1.0]))).all()
    assert Outcome.of(np.array([1.0, 3.0, np.nan])) == (2.0, 1.0)


def test_a_plan_is_for_all_rounds_of_a_rule_that_stops():
    """Else its experiments would be refused one by one, as logs that ended for no reason."""
    rule = "stop_when(batched(thompson, size=20), share=0.95, most=120)"
    with pytest.raises(
        db.InputError, match=r"horizon: the rule may go on for 120 rounds, and the plan is for 60\n  Plan"
    ):
        db.plan(rule, "normal(means=[1, 2], sds=[1, 1])", horizon=60, experiments=2)
