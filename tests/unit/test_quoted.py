"""The mean of an arm given its place in the log: the recipe run by run, and where it appears."""

import json

import numpy as np
import pytest

import debandit as db
from debandit.debiasing.cases import cases_of
from debandit.debiasing.running import stacks
from debandit.engine import spread
from debandit.engine.places import LEADS, NOWHERE, REST, SECOND, Places
from debandit.engine.runs import TOTALS
from debandit.intervals import pooled_t_difference, sample_of
from debandit.policies import as_policy
from debandit.settings import checked_options


def test_places_by_hand():
    """Of equals the first counts, and an arm without a pull has no place."""
    found = Places.of(np.array([[2, 3, 0, 3], [0, 0, 1, 0]]), np.array([[1.0, 1.0, np.nan, 0.5], [9, 9, 2.0, 9]]))
    assert found.place.tolist() == [[LEADS, SECOND, NOWHERE, REST], [NOWHERE, NOWHERE, LEADS, NOWHERE]]
    assert found.most_pulled.tolist() == [
        [False, True, False, False],
        [False, False, True, False],
    ]


def runs_of(log, policy, runs, seed, world):
    """Pulls (runs, K), means and errors of the very runs that `debias` makes."""
    settings, work = checked_options({"runs": runs, "seed": seed, "world": world, "force": True})
    cases = cases_of([log], as_policy(policy), settings, work)
    ((_, worlds, experiment),) = stacks(cases)
    pulls, sums = spread.store(experiment, runs, kept=TOTALS, paths=False, workers=1).table.transpose(0, 2, 1)
    means = np.where(pulls > 0, sums / np.maximum(pulls, 1), np.nan)
    return pulls, means, means - worlds[0].means


def place_of(means, arm):
    """1, 2 or 3, by counting who is ahead; None without a pull."""
    if np.isnan(means[arm]):
        return None
    ahead = sum(m > means[arm] or (m == means[arm] and k < arm) for k, m in enumerate(means) if m == m)
    return min(ahead + 1, 3)


def recipe(log, pulls, means, errors):
    """B of every arm, run by run, as it is written down in docs/quoted.md."""

    def shrunk(values, towards):
        return (sum(values) + 3 * towards) / (len(values) + 3)

    def most(pulls, arm):
        return int(np.argmax(pulls)) == arm

    found = []
    for arm in range(len(log.labels)):
        own, own_most = place_of(log.means, arm), most(log.pulls, arm)
        if own == 1:
            led = [int(np.nanargmax(m)) for m in means]
            overall = np.mean([e[j] for e, j in zip(errors, led, strict=True)])
            alike = [e[j] for e, j, n in zip(errors, led, pulls, strict=True) if most(n, j) == own_most]
            found.append(shrunk(alike, overall))
            continue
        there = [(place_of(m, arm), most(n, arm), e[arm]) for m, n, e in zip(means, pulls, errors, strict=True)]
        value = np.mean([e for place, _, e in there if place])
        value = shrunk([e for place, _, e in there if place and place > 1], value)
        value = shrunk([e for place, _, e in there if place == own], value)
        found.append(shrunk([e for place, much, e in there if place == own and much == own_most], value))
    return found


CASES = [
    ("ucb", db.worlds.Normal([0, 0.3, 0.5], [1, 1, 1]), "gaussian"),
    ("thompson", db.worlds.Normal([0, 0.3, 0.5, 0.5], [1, 2, 1, 1]), "smoothed"),
    ("epsilon_greedy(epsilon=0.2)", db.worlds.Bernoulli([0.3, 0.5]), "jeffreys"),
    ("beta_thompson", db.worlds.Bernoulli([0.2, 0.6, 0.4]), "jeffreys"),  # runs may leave an arm out
]


@pytest.mark.parametrize(("policy", "world", "fitted"), CASES, ids=[case[0] for case in CASES])
def test_the_recipe(policy, world, fitted):
    simulated = db.simulate(policy, world, horizon=30, runs=3, seed=5, paths=True)
    for i in range(3):
        log = simulated.log(i)
        options = {"runs": 300, "seed": 3, "world": fitted, "interval": "none", "unseen": (0.5, 0.5)}
        result = db.debias(log, policy, control_variates=False, **options)
        expected = recipe(log, *runs_of(log, policy, 300, 3, fitted))
        np.testing.assert_allclose(result.quoted_bias, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(result.quoted, result.naive - result.quoted_bias)
        assert not np.allclose(result.quoted_bias, result.bias, rtol=1e-3)


@pytest.fixture(scope="module")
def log():
    return db.simulate(*CASES[0][:2], horizon=60, runs=1, seed=1, paths=True).log(0)


def test_both_values_are_shown_and_kept(log, tmp_path):
    result = db.debias(log, "ucb", runs=200)
    assert list(result.to_frame().columns).index("quoted") < list(result.to_frame().columns).index("corrected")
    assert str(result).index(" quoted ") < str(result).index(" corrected\n")
    result.to_json(tmp_path / "new.json")
    np.testing.assert_array_equal(db.Debiased.from_json(tmp_path / "new.json").quoted, result.quoted)
    document = json.loads((tmp_path / "new.json").read_text())
    for arm in document["arms"]:
        for key in ("quoted", "quoted_bias", "quoted_bias_se"):
            del arm[key]
    del document["metrics"]
    (tmp_path / "old.json").write_text(json.dumps(document | {"schema_version": 1}))
    old = db.Debiased.from_json(tmp_path / "old.json")
    assert np.isnan(old.quoted).all()
    np.testing.assert_array_equal(old.corrected, result.corrected)
    assert " quoted  " not in str(old)  # no such column
    assert "after correction" in str(old)
    (tmp_path / "odd.json").write_text(json.dumps(document | {"schema_version": 3}))
    with pytest.raises(db.errors.InputError, match="version 3"):
        db.Debiased.from_json(tmp_path / "odd.json")


def test_where_there_is_nothing_to_quote(log):
    unbiased = db.debias(log, "ucb", method="rao-blackwell", runs=200)
    assert np.isnan(unbiased.quoted).all()
    assert "quoted" not in str(unbiased)
    unseen = db.ExperimentLog(["a", "b", "a"], [1.0, 2.0, 3.0], labels=["a", "b", "c"])
    result = db.debias(unseen, "uniform", runs=200, unseen=(5.0, 1.0))
    assert np.isnan(result.quoted).tolist() == [False, False, True]


def test_runs_go_on_for_the_values_to_quote(log):
    """Until their errors are small, or to 8 times the runs that the corrected means need."""
    result = db.debias(log, "ucb", seed=4)
    errors = result.sd / np.sqrt(result.pulls)
    leads = np.arange(len(errors)) == np.nanargmax(result.naive)
    reached = (result.quoted_bias_se <= np.where(leads, 0.1, 0.21) * errors * 1.05).all()  # its world has another sd
    assert reached or "8 times the runs" in result.stopped_because


def test_differences_lift_and_the_winner_have_limits_in_short_logs(log, tmp_path):
    result = db.debias(log, "ucb", runs=200, control="1")
    found, best = result.differences, result.labels.index(result.winner.arm)
    others = np.array(result.labels) != "1"
    np.testing.assert_allclose(found.quoted[others], (result.quoted - result.quoted[0])[others])
    assert (found.low[others] < found.naive[others]).all()
    assert (found.naive[others] < found.high[others]).all()
    assert np.isnan([getattr(found, name)[0] for name in found._fields[1:]]).all()  # the control itself
    assert result.winner.low < result.low[best]  # more room below, because the highest mean is biased upward
    assert result.winner.high < result.high[best]
    assert "takes into account that the arm was selected" in result.details()
    result.to_json(tmp_path / "result.json")
    again = db.Debiased.from_json(tmp_path / "result.json")
    np.testing.assert_array_equal(again.differences.low, found.low)
    assert again.winner == result.winner
    positive = db.ExperimentLog(["a", "b"] * 20, np.tile([1.0, 2.0, 1.2, 2.6], 10))
    lift = db.debias(positive, "uniform", runs=200, control="a").differences
    np.testing.assert_allclose(lift.lift[1], 2.3 / 1.1 - 1, rtol=0.05)
    assert lift.lift_low[1] < 2.3 / 1.1 - 1 < lift.lift_high[1]


def test_long_logs_have_simulated_ones():
    runs = db.simulate("ucb", db.worlds.Normal([1.0, 1.2], [1, 1]), horizon=301, runs=1, seed=1, paths=True)
    found = db.debias(runs.log(0), "ucb", runs=200, control="1")
    sample = sample_of(runs.log(0))
    closed = pooled_t_difference(sample, [0, 0], 0.95)
    assert found.differences.low[1] < found.differences.naive[1] < found.differences.high[1]
    assert found.differences.low[1] != closed.low[0, 1]
    assert found.winner.low < found.winner.naive < found.winner.high
