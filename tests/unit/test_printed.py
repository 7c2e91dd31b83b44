"""What `debias` says, as methods of a study: for small logs it is what the closed forms give."""

import dataclasses

import numpy as np
import pytest

import debandit as db
from debandit.policies import as_policy
from debandit.study.cell import Cell, Chunk, run_chunk
from debandit.study.comparisons import Asked, closed_limits, measure_adjusted, measure_comparison
from debandit.study.coverage import coverage_study
from debandit.study.methods import measure_interval
from debandit.study.printed import is_printed, measure_printed, printed_methods

WORLD = db.worlds.Normal([0.0, 0.3, 0.6], [1.0, 1.0, 1.0])
CELL = Cell("one", db.UCB(), WORLD, 60, ("arm: auto",), 25, 100)


@pytest.fixture(scope="module")
def experiments():
    return db.simulate("ucb", WORLD, horizon=60, runs=25, seed=4, paths=True)


def coverage(method, experiments, level=0.95):
    return measure_printed(str(Asked(method, "auto", level)), experiments, CELL, 3, 1)


def test_names():
    methods = printed_methods("simulated", "binary", 0.9)
    assert "lift: simulated, 90 %" in methods
    assert not any("lift" in method for method in printed_methods("auto", "normal"))  # means may be negative
    assert all(map(is_printed, methods))
    assert not any(map(is_printed, ("auto", "quoted", "binary", "difference: pooled-t, 80 %")))


@pytest.mark.parametrize("kind", ["difference", "winner"])
def test_small_logs_have_the_closed_forms(experiments, kind):
    """The widths are the same, too; at another level they are not."""
    found = coverage(kind, experiments)
    closed = measure_comparison(f"{kind}: pooled-t", experiments)
    np.testing.assert_array_equal(found["coverage"], closed["coverage"])
    np.testing.assert_allclose(found["width"], found["plain_width"], rtol=1e-9)
    narrow = closed_limits(Asked(kind, "pooled-t", 0.8), experiments)
    assert np.nanmax((narrow.high - narrow.low) / np.nanmax(found["width"])) < 1  # control


def test_arms_of_small_logs(experiments):
    found, closed = coverage("arm", experiments), measure_interval("pooled-t", experiments)
    np.testing.assert_array_equal(found["coverage"], closed["coverage"])
    np.testing.assert_allclose(found["width"], closed["width"], rtol=1e-9)


def test_values_inside_the_interval(experiments):
    """Each arm of each experiment is the leader or among the others."""
    parts = [coverage(f"quoted, {place}", experiments)["coverage"] for place in ("leader", "others")]
    known = [~np.isnan(part) for part in parts]
    np.testing.assert_array_equal(known[0].sum(axis=1), 1)
    np.testing.assert_array_equal(known[0], ~known[1])
    leads = experiments.means.argmax(axis=1)
    np.testing.assert_array_equal(known[0].argmax(axis=1), leads)


def test_p_values_find_what_is_there():
    """Arm 2 equals the first, arm 3 is three standard deviations better."""
    world = db.worlds.Normal([0.0, 0.0, 3.0], [1.0, 1.0, 1.0])
    found = db.simulate("epsilon_greedy(epsilon=0.5)", world, horizon=60, runs=12, seed=1, paths=True)
    cell = dataclasses.replace(CELL, methods=("p-value: auto",))
    measured = measure_printed("p-value: auto", found, cell, 3, 1)
    assert np.nanmean(measured["power"]) == 1.0
    assert np.nanmean(measured["type_1"]) < 0.5


def test_a_study_of_all_that_is_said():
    """Two settings, one with 0/1 rewards; the same bits again."""
    study = coverage_study(settings=1, experiments=4, runs=20, seed=3, scale="equal", interval="simulated")
    cells = study.cells[::6]
    found = dataclasses.replace(study, cells=cells).run(progress="none")
    assert len(found.plot().to_dict()["vconcat"]) == 2  # a block for each kind of rewards
    for cell in cells:
        first, again = (run_chunk(Chunk(cell, 3, 0, 4), threads) for threads in (1, 2))
        assert repr(first) == repr(again)
        assert {"type_1", "power"} <= set(first.series["p-value: simulated"])
        assert all(arm.n == 4 for arm in first.series["difference: simulated"]["coverage"][1:])


def test_of_large_batches_only_counts_are_looked_at():
    """Only the last arm is compared, nothing is simulated that no method asks for, and threads change no bit."""
    world, policy = db.worlds.Bernoulli([0.3, 0.4, 0.5]), as_policy("batched(beta_thompson, size=200)")
    kinds = ("arm", "difference", "lift", "winner")
    cell = Cell("web", policy, world, 1000, printed_methods("simulated", "binary", kinds=kinds), 3, 20)
    assert cell.counts_only
    assert not dataclasses.replace(cell, methods=("naive",)).counts_only
    assert not CELL.counts_only
    first, again = (run_chunk(Chunk(cell, 3, 0, 3), threads) for threads in (1, 2))
    assert repr(first) == repr(again)
    assert [arm.n for arm in first.series["arm: simulated"]["coverage"]] == [3, 3, 3]
    assert [arm.n for arm in first.series["difference: simulated"]["coverage"]] == [0, 0, 3]
    experiments = db.simulate(policy, world, horizon=1000, runs=3, seed=cell.seed(3, 0))
    tests = dataclasses.replace(cell, methods=("p-value: simulated",))
    rejected = measure_printed("p-value: simulated", experiments, tests, 3, 1)["power"]
    np.testing.assert_array_equal(np.isnan(rejected), [[True, True, False]] * 3)


def test_limits_of_period_weighted_means_are_those_of_debias():
    """Of means and of differences, judged by the means over all days, at any level."""
    world = db.worlds.Drifting(db.worlds.Bernoulli([0.3, 0.4]), [0.0, 0.5], 50)
    policy = as_policy("floor(batched(beta_thompson, size=50), probability=0.2)")
    experiments = db.simulate(policy, world, horizon=200, runs=20, seed=1, paths=True)
    logs = [experiments.log(i) for i in range(20)]
    results = db.debias_all(logs, policy, runs=2, interval="none", control="1", adjust="batches", level=0.8, force=True)
    said = [result.adjusted for result in results]
    arm, pair = (measure_adjusted(f"{kind}: period-weighted, 80 %", experiments) for kind in ("arm", "difference"))
    truth = world.means
    covered = [(each.low <= truth) & (truth <= each.high) for each in said]
    np.testing.assert_array_equal(arm["coverage"], covered)
    np.testing.assert_allclose(arm["width"], [each.high - each.low for each in said])
    apart = truth[1] - truth[0]
    covered = [each.difference_low[1] <= apart <= each.difference_high[1] for each in said]
    np.testing.assert_array_equal(pair["coverage"][:, 1], covered)
    assert np.isnan(pair["coverage"][:, 0]).all()
    assert 0 < np.mean(covered) < 1  # or the comparison would say nothing


def test_period_weighted_limits_in_a_study_of_coverage():
    """They are made where days move the arms, nowhere else; threads change no bit."""
    drifts, steady = (coverage_study(settings=1, experiments=2, seed=3, scale=name) for name in ("web-drift", "web"))
    assert {"arm: period-weighted", "difference: period-weighted"} <= set(drifts.cells[0].methods)
    assert not any("period" in method for method in steady.cells[0].methods)
    first, again = (drifts.run(threads=threads, progress="none") for threads in (1, 2))
    assert repr(first.rows) == repr(again.rows)
    assert "period-weighted" in [row["intervals"] for row in first.in_short().rows]
    assert {row["method"] for row in first.averages()} == {"in closed form", "period-weighted", "the textbook's"}
