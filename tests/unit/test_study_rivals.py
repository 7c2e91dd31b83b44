"""The methods of `compare` in studies: the same figures, for many experiments at once."""

import dataclasses

import numpy as np
import pytest
from test_plots import marks

import debandit as db
from debandit.comparing import METHODS
from debandit.estimators import w_decorrelation
from debandit.study import Cell
from debandit.study.methods import check_method
from debandit.study.rivals import FOUND, RIVALS, Task, measured

NORMAL, BERNOULLI = db.worlds.Normal([1, 1.5], [1, 1]), db.worlds.Bernoulli([0.3, 0.6])
UNIFORM = db.worlds.UniformRewards([1, 1.5], [1, 2])
BATCHED = "batched(epsilon_greedy(epsilon=0.4), size=20)"
CELL = Cell("some", db.policies.as_policy(BATCHED), NORMAL, 60, ("naive", "quoted"), experiments=30, runs=100)
WITHOUT_WORLDS = ("naive", "ipw", "aipw", "aw_aipw", "aw_aipw_two_point", "batch_weighted", "confidence_sequence")


def task(cell, seed=4, runs=12):
    experiments = db.simulate(cell.policy, cell.world, horizon=cell.horizon, runs=runs, seed=seed, paths=True)
    return Task(experiments, cell, seed, 1)


def compared_rows(logs, method, quantity):
    """What compare says of logs, as arrays (estimate, se, low and high; logs; arms)."""
    rows = [[row for row in log if (row["method"], row["quantity"]) == (method, quantity)] for log in logs]
    keys = ("estimate", "se", "low", "high")
    return np.array([[[row[key] for row in log] for log in rows] for key in keys], dtype=float)


@pytest.mark.parametrize("world", [NORMAL, BERNOULLI, UNIFORM], ids=["normal", "bernoulli", "uniform"])
def test_figures_are_those_of_compare(world):
    given = task(dataclasses.replace(CELL, world=world))
    logs = [given.experiments.log(i) for i in range(12)]
    compared = [db.compare(log, BATCHED, runs=50, support=world.support).rows() for log in logs]
    for method in WITHOUT_WORLDS[: -1 if world is NORMAL else None]:
        theirs = compared_rows(compared, method, "mean")
        known = np.isfinite(theirs[0])  # compare says nothing of arms that no free choice has pulled
        assert known.any()
        np.testing.assert_allclose(np.array(FOUND[method](given))[:, known], theirs[:, known], rtol=1e-9)


DIFFERENCES = {
    "naive_difference": "naive",
    "batched_ols": "batched_ols",
    "batch_weighted_difference": "batch_weighted",
}


def test_differences_are_those_of_compare():
    given = task(CELL, seed=6)
    compared = [db.compare(given.experiments.log(i), BATCHED, runs=50, control="1", seed=6).rows() for i in range(12)]
    for method, name in DIFFERENCES.items():
        ours, theirs = np.array(FOUND[method](given)), compared_rows(compared, name, "difference")
        assert np.isnan(ours[0, :, 0]).all()  # the control itself
        parts = [0, 2, 3] if name == "naive" else [0, 1, 2, 3]  # the study leaves out the se of Welch's
        known = np.isfinite(theirs[0, :, -1])
        assert known.sum() >= 3  # some batches have too few pulls for batched OLS
        np.testing.assert_allclose(ours[parts][:, known, 1], theirs[parts][:, known, -1], rtol=1e-9)


def test_chunks_without_any_limits_have_the_same_quantities():
    """Where every batch belongs to one arm, batched OLS refuses all; such chunks must be added up with others."""
    given = task(dataclasses.replace(CELL, policy=db.Batched(db.UCB(), size=20)), runs=3)
    found = measured("batched_ols", given)
    assert list(found) == list(measured("naive", given))
    assert all(np.isnan(values).all() for values in found.values())


def test_a_difference_is_judged_by_the_difference():
    cell = dataclasses.replace(CELL, methods=("naive", "naive_difference"), experiments=400)
    rows = db.Study("differences", (cell,), seed=5).run().rows
    by = {(row["method"], row["quantity"], row["arm"]): row for row in rows}
    assert (by["naive", "bias", 2]["truth"], by["naive_difference", "bias", 2]["truth"]) == (1.5, 0.5)
    apart = by["naive", "bias", 2]["value"] - by["naive", "bias", 1]["value"]
    assert by["naive_difference", "bias", 2]["value"] == pytest.approx(apart)
    assert by["naive_difference", "mean", 2]["value"] == pytest.approx(apart + 0.5)
    assert by["naive_difference", "bias", 1]["n"] == 0
    assert by["naive_difference", "coverage", 2]["value"] > 0.8
    assert ("naive_difference", "coverage", 1) not in by


def test_intervals_of_quoted_means_are_those_of_debias():
    for world in (NORMAL, BERNOULLI, db.worlds.Empirical([[0.0, 0.0, 1.0, 5.0], [0.0, 2.0, 3.0]])):
        given = task(dataclasses.replace(CELL, policy=db.UCB(), world=world))
        found = FOUND["quoted"](given)
        logs = [given.experiments.log(i) for i in range(12)]
        results = db.debias_all(logs, "ucb", runs=100, seed=4, control_variates=False)
        np.testing.assert_allclose(found.estimate, [result.quoted for result in results], rtol=1e-9)
        for i, result in enumerate(results):
            best = result.labels.index(result.winner.arm)
            for ours, arm, leader in zip(found[2:], (result.low, result.high), result.winner[5:], strict=True):
                np.testing.assert_allclose(ours[i], np.where(np.arange(2) == best, leader, arm))


def test_quoted_means_of_long_experiments_are_those_of_debias():
    """Limits of the best-looking arm are simulated there; the other arms have pooled-t."""
    cell = dataclasses.replace(CELL, policy=db.UCB(), world=UNIFORM, horizon=320)
    given = task(cell, runs=2)
    found, logs = FOUND["quoted"](given), [given.experiments.log(i) for i in range(2)]
    for i, result in enumerate(db.debias_all(logs, "ucb", runs=100, seed=4)):
        best = result.labels.index(result.winner.arm)
        np.testing.assert_array_equal(found.estimate[i], result.quoted)
        low, high = result.low.copy(), result.high.copy()
        low[best], high[best] = result.winner.low, result.winner.high
        np.testing.assert_array_equal((found.low[i], found.high[i]), (low, high))
        assert low[best] != result.low[best]


def test_decorrelation_is_that_of_the_estimator():
    """Where the arms take turns, lambda is 30 / ln 60 in every world."""
    given = task(dataclasses.replace(CELL, policy=db.WarmUp(db.UCB(), pulls=30)))
    found = FOUND["w_decorrelation"](given)
    logs = [given.experiments.log(i) for i in range(12)]
    np.testing.assert_allclose(found[:2], w_decorrelation(logs, lambda_=30 / np.log(60)), rtol=1e-9)
    flat = task(dataclasses.replace(CELL, policy=db.Uniform(), runs=4000), runs=2)
    # under a uniform rule the quantile does not depend on the world; 4,000 runs of each find nearly the same
    again = w_decorrelation([flat.experiments.log(i) for i in range(2)], "uniform", runs=4000, seed=1)
    np.testing.assert_allclose(FOUND["w_decorrelation"](flat)[:2], again, rtol=0.05)


def test_rao_blackwell_is_that_of_each_log():
    given = task(dataclasses.replace(CELL, policy=db.UCB(), runs=1024), runs=3)
    alone = [
        db.estimators.rao_blackwell(given.experiments.log(i), "ucb", runs=1024, seed=4, log_index=i).value
        for i in range(3)
    ]
    np.testing.assert_array_equal(FOUND["rao_blackwell"](given).estimate, alone)


def test_covered_says_whether_the_truth_lies_within():
    given = task(CELL, runs=200)
    found = FOUND["naive"](given)
    values = measured("naive", given)
    inside = (found.low <= NORMAL.means) & (NORMAL.means <= found.high)
    np.testing.assert_array_equal(values["covered"], inside.astype(float))
    assert 0 < values["covered"].mean() < 1
    np.testing.assert_allclose(values["limits_width"], found.high - found.low)


def test_rows_have_coverage_and_rmse():
    rows = db.Study("some", (CELL,), seed=5).run().rows
    by = {(row["method"], row["quantity"], row["arm"]): row for row in rows}
    for method in ("naive", "quoted"):
        for arm in (1, 2):
            assert 0 <= by[method, "coverage", arm]["value"] <= 1
            assert by[method, "coverage", arm]["se"] > 0
            assert by[method, "width", arm]["value"] > 0
            rmse, mse = by[method, "rmse", arm], by[method, "mse", arm]
            assert rmse["value"] == pytest.approx(mse["value"] ** 0.5)
            assert rmse["se"] == pytest.approx(mse["se"] / 2 / rmse["value"])  # the delta method
    assert by["naive", "bias", 1]["runs"] is None
    assert by["quoted", "bias", 1]["runs"] == 100
    plain = db.Study("some", (dataclasses.replace(CELL, methods=("naive", "ipw")),), seed=5).run().rows
    assert not [row for row in plain if row["quantity"] in ("coverage", "width")]  # nobody asked for intervals
    kept = {(row["quantity"], row["arm"]): row["value"] for row in plain if row["method"] == "naive"}
    assert all(by["naive", *key]["value"] == value for key, value in kept.items())


def test_names_are_those_of_compare():
    """All but those that are worlds of a study; a difference of means that `compare` has too has its own name."""
    own = {method for method, name in DIFFERENCES.items() if method != name}
    assert set(FOUND) - own == {method.name for method in METHODS} - {"corrected", "gaussian"}
    assert check_method("corrected", CELL, "") == "auto"
    assert {"quoted", "rao_blackwell"} < set(RIVALS)


@pytest.mark.parametrize(
    ("method", "change", "message"),
    [
        ("aw_aipw", {"policy": db.UCB()}, "needs a rule with randomness"),
        ("rao_blackwell", {}, "without randomness"),
        ("batch_weighted", {"policy": db.UCB()}, "needs a rule with batches"),
        ("batched_ols", {"policy": db.UCB()}, "needs a rule with batches"),
        ("batch_weighted_difference", {"policy": db.UCB()}, "needs a rule with batches"),
        ("confidence_sequence", {}, "0/1 or uniform rewards"),
        ("quotd", {}, "no bootstrap world"),
    ],
)
def test_methods_that_make_no_sense_are_refused(method, change, message):
    with pytest.raises(db.InputError, match=message):
        check_method(method, dataclasses.replace(CELL, **change), "methods")


def test_an_arm_without_a_pull_needs_a_world():
    cell = dataclasses.replace(CELL, policy=db.ThompsonSampling(), horizon=3, methods=("w_decorrelation",))
    with pytest.raises(db.Refused, match="no reward was logged for arm"):
        db.Study("short", (cell,)).run()


# --- the figure -------------------------------------------------------------------------------------------------------

FILE = """
figure = "methods"
x = "{x}"
horizon = 20
experiments = 8
runs = 5
methods = ["naive", "quoted", "aw_aipw"]
[[cell]]
label = "{label}"
policy = "epsilon_greedy(epsilon={{epsilon}})"
world = "normal(means=[1, {{better}}], sds=[1, 1])"
grid.epsilon = [0.2, 0.5]
grid.better = [1, 2]
"""


def study(tmp_path, x="epsilon", label="greedy {epsilon}"):
    (tmp_path / "my.toml").write_text(FILE.format(x=x, label=label))
    return db.Study.from_toml(tmp_path / "my.toml")


def test_methods_are_drawn_over_a_variable_of_the_grid(tmp_path):
    found = study(tmp_path).run()
    assert {cell.curve for cell in found.study.cells} == {"greedy …, better=1", "greedy …, better=2"}
    spec = found.plot().to_dict()
    points = marks(spec, "point", "legend", "value")
    assert set(points) == {"Bias", "RMSE, logarithmic", "Coverage of 95 % intervals"}
    drawn = {round(value, 12) for _, value in points["Bias"]}
    assert drawn == {round(row["value"], 12) for row in found.rows if row["quantity"] == "bias"}
    text = str(spec)
    assert "greedy …, better=2, arm 1" in text
    assert "'title': 'epsilon'" in text
    over_horizons = db.Study("other", found.study.cells, figure="methods")
    assert "'title': 'horizon'" in str(over_horizons.run().plot().to_dict())


def test_a_variable_may_be_words(tmp_path):
    (tmp_path / "my.toml").write_text(
        'x = "rule"\nfigure = "methods"\nhorizon = 20\nexperiments = 5\nruns = 5\nmethods = ["naive"]\n'
        '[[cell]]\npolicy = "{rule}"\nworld = "normal(means=[1, 2], sds=[1, 1])"\n'
        'grid.rule = ["ucb", "epsilon_greedy(epsilon=0.25)"]\n'
    )
    found = db.Study.from_toml(tmp_path / "my.toml").run()
    text = str(found.plot().to_dict())
    assert '["ucb", "epsilon_greedy(epsi\\u2026"][datum.value]' in text.replace("\\\\", "\\")
    assert {cell.curve for cell in found.study.cells} == {"… in normal(means=[1, 2], sds=[1, 1])"}


def test_rows_of_another_file_are_not_drawn(tmp_path):
    found = study(tmp_path).run()
    other = dataclasses.replace(found, study=study(tmp_path, label="changed {epsilon}"))
    with pytest.raises(db.InputError, match=r"greedy(.|\n)*Run the study again"):
        other.plot()


@pytest.mark.parametrize("x", ["epsilo", "rule"])
def test_a_variable_that_is_in_no_grid(tmp_path, x):
    with pytest.raises(db.InputError, match=rf"line 3, x: there is no '{x}'(.|\n)*horizon or epsilon or better"):
        study(tmp_path, x=x)


def test_the_shipped_study_runs_and_is_drawn(tmp_path):
    found = db.Study.shipped("rivals").with_settings(experiments=4, runs=5).run(tmp_path)
    assert {row["quantity"] for row in found.rows} >= {"bias", "rmse", "coverage", "width"}
    assert {row["method"] for row in found.rows} >= {"naive", "quoted", "auto", "aw_aipw", "batch_weighted"}
    svg, png, _ = found.draw(tmp_path)
    assert "Coverage of 95 % intervals" in svg.read_text()
    assert png.read_bytes().startswith(b"\x89PNG")


def test_the_setting_of_hadad_runs_and_is_drawn(tmp_path):
    study = db.Study.shipped("hadad").with_settings(experiments=2, runs=4)
    assert [cell.world.means.tolist() for cell in study.cells] == [[0, 0, 0], [0.9, 1, 1.1], [0.5, 1, 1.5]]
    assert {cell.horizon for cell in study.cells} == {1000}
    around = study.cells[0].policy.conditions(3, 1000)
    assert around.ends.tolist() == list(range(100, 1001, 100))
    found = study.run(tmp_path)
    left_out = {"rao_blackwell", "batch_weighted_difference"}
    assert {row["method"] for row in found.rows} == {"auto", "gaussian", *FOUND} - left_out
    svg, *_ = found.draw(tmp_path)
    text = svg.read_text()
    assert all(words in text for words in ("AW-AIPW, two-point", "Means [0.9, 1, 1.1]", "label: 95 %", "arm 3"))
    points = marks(found.plot().to_dict(), "point", "place", "legend", "value")
    drawn = {round(value, 12) for part in points.values() for *_, value in part}
    shown = [row for row in found.rows if row["quantity"] in ("bias", "rmse", "coverage")]
    assert drawn == {round(row["value"], 12) for row in shown if row["value"] == row["value"]}


def test_the_weekends_run_and_are_drawn():
    """The truth is the mean over the week, worked out by hand; quoted and corrected means, which take long, apart."""
    study = db.Study.shipped("weekends")
    assert {cell.methods for cell in study.cells} == {
        ("naive", "quoted", "auto", "batch_weighted", "naive_difference", "batch_weighted_difference")
    }
    cells = [dataclasses.replace(cell, methods=("naive", *cell.methods[3:]), experiments=2) for cell in study.cells]
    odds = np.array([0.05 / 0.95, 0.06 / 0.94])
    for cell in cells:
        weekend = odds * np.exp(cell.point["effect"])
        np.testing.assert_allclose(cell.world.means, (5 * odds / (1 + odds) + 2 * weekend / (1 + weekend)) / 7)
        assert cell.policy.batch_sizes(2, cell.horizon) == (1000,) * 28
    rounds = 28_000 * (10 + 2 * 50)  # only the experiments drift, not the runs in the worlds of the two that have some
    assert study.cells[0].chunk_size == 50_000_000 // rounds
    found = dataclasses.replace(study, cells=tuple(cells[2::3])).run(progress="none")
    by = {(row["setting"], row["method"], row["quantity"], row["arm"]): row["value"] for row in found.rows}
    arms = [by["Without a floor, effect=0.8", "batch_weighted", "bias", arm] for arm in (1, 2)]
    assert by["Without a floor, effect=0.8", "batch_weighted_difference", "bias", 2] == pytest.approx(arms[1] - arms[0])
    assert "With a floor of 10 %, arm 1" in str(found.plot().to_dict())
