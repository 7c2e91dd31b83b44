"""All methods side by side: each says what its estimator says, or why it cannot."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from test_plots import SCRIPT, marks

import debandit as db
from debandit import estimators
from debandit.comparing import METHODS
from debandit.comparing.advice import GROUNDS

FLOOR = "floor(epsilon_greedy(epsilon=0.2), probability=0.2)"


TRIAL = db.read_log(Path(db.__file__).parent / "data" / "two_drugs.csv", arm="drug", reward="response")
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _short_walks(monkeypatch):
    """Rao-Blackwell takes seconds to be exact, and is tested elsewhere."""
    monkeypatch.setattr("debandit.reordering._MOST_STEPS", 128)


def simulated(policy, world="normal(means=[1, 1.5], sds=[1, 1])", horizon=60, seed=1, **more):
    return db.simulate(policy, world, horizon=horizon, runs=1, seed=seed, paths=True, **more).log(0)


LOG = simulated(FLOOR)
FOUND = db.compare(LOG, FLOOR, runs=100, seed=3, support=(-9, 9), control="1")


def values(found, method, *keys, quantity="mean"):
    """The method's values, one row per key."""
    rows = [row for row in found.rows() if row["method"] == method and row["quantity"] == quantity]
    return np.array([[row[key] for row in rows] for key in keys], dtype=float)


def refused(found):
    return {answer.method.name: answer.refused for answer in found.answers if answer.refused}


# --- the figures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("naive", estimators.naive(LOG)),
        ("ipw", estimators.ipw(LOG, FLOOR)),
        ("aipw", estimators.aipw(LOG, FLOOR)),
        ("aw_aipw", estimators.aw_aipw(LOG, FLOOR)),
        ("aw_aipw_two_point", estimators.aw_aipw(LOG, FLOOR, weights="two-point")),
        ("w_decorrelation", estimators.w_decorrelation(LOG, FLOOR, seed=3)),
    ],
)
def test_estimates_are_those_of_the_estimators(method, expected):
    estimate, se, low, high = values(FOUND, method, "estimate", "se", "low", "high")
    np.testing.assert_allclose([estimate, se], expected, rtol=1e-12)
    np.testing.assert_allclose((low + high) / 2, estimate)
    if method != "naive":
        np.testing.assert_allclose((high - low) / 2, 1.959964 * se, rtol=1e-6)
    else:
        assert ((high - low) / 2 > 1.97 * se).all()  # Student's t


def test_ours_are_those_of_debias():
    result = db.debias(LOG, FLOOR, runs=100, seed=3, control="1")
    best = result.labels.index(result.winner.arm)
    for method in ("quoted", "corrected"):
        estimate, low, high = values(FOUND, method, "estimate", "low", "high")
        np.testing.assert_array_equal(estimate, getattr(result, method))
        assert (low[best], high[best]) == (result.winner.low, result.winner.high)
        assert (low[1 - best], high[1 - best]) == (result.low[1 - best], result.high[1 - best])
        assert values(FOUND, method, "estimate", quantity="difference") == getattr(result.differences, method)[1]
    paper = db.debias(LOG, FLOOR, world="gaussian", runs=100, seed=3).corrected
    np.testing.assert_array_equal(values(FOUND, "gaussian", "estimate")[0], paper)
    sequence = estimators.confidence_sequence(LOG, support=(-9, 9))
    np.testing.assert_allclose(values(FOUND, "confidence_sequence", "estimate", "low", "high"), sequence)


def test_rao_blackwell_of_a_rule_without_randomness():
    found = db.compare(TRIAL, "ucb(c=1)", runs=100, seed=1, threads=1)
    expected = estimators.rao_blackwell(TRIAL, "ucb(c=1)", seed=1).value
    np.testing.assert_array_equal(values(found, "rao_blackwell", "estimate")[0], expected)
    assert np.isnan(values(found, "rao_blackwell", "se", "low")).all()  # its Monte-Carlo error is no standard error
    reasons = refused(found)
    weighting = ("ipw", "aipw", "aw_aipw", "aw_aipw_two_point")
    assert {name for name, reason in reasons.items() if "is deterministic" in reason} == set(weighting)
    assert reasons["confidence_sequence"] == "a confidence sequence needs to know how far rewards can lie apart"
    assert "no control was named" in reasons["batched_ols"]
    text = re.sub(r"\s+", " ", str(found))
    assert "IPW; AIPW; AW-AIPW, constant; AW-AIPW, two-point: ucb(c=1) is deterministic" in text


BATCHES = np.repeat(["mon", "tue"], 30)
BATCHED = db.ExperimentLog(["C", *"AB" * 14, "A", *"AB" * 15], np.sin(np.arange(60)), batches=BATCHES)


def test_batchwise_methods_and_an_arm_that_they_know_nothing_of():
    found = db.compare(BATCHED, "batched(uniform)", runs=100, control="A", force=True)
    expected = estimators.batch_weighted(BATCHED)
    np.testing.assert_array_equal(values(found, "batch_weighted", "estimate", "se", "low", "high"), expected)
    expected = estimators.batched_ols(BATCHED, control="A")
    ours = values(found, "batched_ols", "estimate", "se", "low", "high", quantity="difference")
    np.testing.assert_array_equal(ours, np.array(expected[:4])[:, [0, 2]])  # the arms are C, A, B
    assert np.isnan(ours[:, 0]).all()
    assert np.isfinite(ours[:, 1]).all()
    assert refused(found).keys() == {"rao_blackwell", "confidence_sequence"}
    assert "Nothing is recommended: --force" in str(found)


def test_an_arm_that_no_free_choice_pulled():
    """IPW would say 0 of it."""
    log = db.ExperimentLog(["A", "B", "A", "A"], [1.0, 5.0, 6.0, 7.0])
    assert estimators.ipw(log, "epsilon_greedy(epsilon=0.5)").value[1] == 0
    found = db.compare(log, "epsilon_greedy(epsilon=0.5)", runs=100)
    assert np.isnan(values(found, "ipw", "estimate")[0]).tolist() == [False, True]
    (row,) = [row for row in found.rows() if row["method"] == "ipw" and row["arm"] == "B"]
    assert row["refused"] == "no round with a free choice pulled it"


def test_recorded_propensities_are_used_where_they_are_enough():
    arms, rewards = LOG.rounds.arms, LOG.rounds.rewards
    log = db.ExperimentLog(arms + 1, rewards, labels=["1", "2"], propensities=np.full(60, 0.5))
    found = db.compare(log, FLOOR, runs=100)
    np.testing.assert_array_equal(values(found, "ipw", "estimate")[0], estimators.ipw(log).value)
    np.testing.assert_array_equal(values(found, "aw_aipw", "estimate"), values(FOUND, "aw_aipw", "estimate"))


def test_same_seed_same_answer():
    again = db.compare(LOG, FLOOR, runs=100, seed=3, support=(-9, 9), control="1", threads=1)
    assert again.rows() == FOUND.rows()
    assert db.compare(LOG, FLOOR, runs=100, seed=4, support=(-9, 9), control="1").rows() != FOUND.rows()


def test_counts_are_enough_for_some():
    log = db.ExperimentLog.from_summaries(["A", "B"], [50, 30], [0.4, 0.2], binary=True)
    found = db.compare(log, "beta_thompson", runs=100)
    assert set(refused(found)) == {
        "gaussian",
        "rao_blackwell",
        "ipw",
        "aipw",
        "aw_aipw",
        "aw_aipw_two_point",
        "w_decorrelation",
        "batch_weighted",
        "batched_ols",
    }
    assert all(len(reason) > 20 for reason in refused(found).values())


# --- what is recommended ----------------------------------------------------------------------------------------------


def recommended(found):
    rows = found.rows()
    estimates = {row["arm"]: row["method"] for row in rows if row["recommended"]}
    return estimates, {row["method"] for row in rows if row["recommended_interval"]}


def test_where_it_was_measured_the_quoted_mean_is_recommended():
    found = db.compare(TRIAL, "ucb(c=1)", runs=100)
    assert recommended(found) == ({"A": "quoted", "B": "quoted"}, {"quoted"})
    text = re.sub(r"\s+", " ", str(found))
    assert "the best-looking arm was 0.12 with quoted, 0.31 with naive, 0.96 with corrected means" in text
    for options in ({"interval": "wald"}, {"level": 0.9}):  # known to fail, not measured
        assert recommended(db.compare(TRIAL, "ucb(c=1)", runs=100, **options))[1] == set()


def test_an_arm_of_which_the_naive_mean_is_better():
    """docs/quoted.md, where it is weak: the second-best arm has more than 10 pulls."""
    log = simulated("ucb", horizon=100)
    assert log.pulls.min() > 10
    found = db.compare(log, "ucb", runs=100)
    best = log.labels[int(np.argmax(log.means))]
    assert recommended(found)[0] == {arm: "quoted" if arm == best else "naive" for arm in log.labels}
    binary = simulated("ucb", "bernoulli(means=[0.3, 0.5])", horizon=100)
    assert set(recommended(db.compare(binary, "ucb", runs=100))[0].values()) == {"quoted"}


@pytest.mark.parametrize(
    ("policy", "horizon"), [("ucb", 301), ("ucb", 59), ("greedy", 100), ("floor(ucb, probability=0.1)", 100)]
)
def test_elsewhere_nothing_is_recommended(policy, horizon):
    found = db.compare(simulated(policy, "bernoulli(means=[0.3, 0.5])", horizon), policy, runs=50)
    assert recommended(found) == ({}, set())
    assert "Nothing is recommended, because no experiments like this one were measured" in found.advice.because[0]


def test_large_experiments_have_a_recommended_mean_but_no_closed_interval():
    policy, world = "batched(beta_thompson, size=2000)", "bernoulli(means=[0.04, 0.05])"
    runs = db.simulate(policy, world, horizon=20_000, runs=1, seed=1, paths=True)
    batches = np.repeat(np.arange(10), 2000)
    log = db.ExperimentLog(runs.path_arms[0] + 1, runs.path_rewards[0], labels=["1", "2"], batches=batches)
    found = db.compare(log, "batched(beta_thompson)", runs=50, interval="binary")
    assert recommended(found) == ({"1": "quoted", "2": "quoted"}, set())
    assert any("No interval is recommended" in line for line in found.advice.because)
    floor = db.compare(log, "batched(floor(beta_thompson, probability=0.001))", runs=50)
    assert recommended(floor) == ({}, set())  # another rule


def test_under_drift_only_batchwise_means_are_recommended():
    policy, batches = "batched(uniform, size=50)", np.repeat(np.arange(4), 50)
    rng = np.random.default_rng(1)
    arms, rewards = rng.integers(0, 2, 200), batches + rng.normal(size=200)
    found = db.compare(db.ExperimentLog(arms, rewards, batches=batches), "batched(uniform)", runs=50)
    assert recommended(found) == ({"0": "batch_weighted", "1": "batch_weighted"}, set())
    found = db.compare(db.ExperimentLog(arms, rewards), policy, runs=50)  # whose batches the rule knows
    assert recommended(found) == ({"0": "batch_weighted", "1": "batch_weighted"}, set())
    found = db.compare(db.ExperimentLog(arms, rewards), "uniform", runs=50)
    assert recommended(found) == ({}, set())
    assert "drift" in found.advice.because[0]


@pytest.mark.parametrize(("own", "recommended_arms"), [(False, "ABC"), (True, "AB")])
def test_under_drift_empty_cells_are_said(own, recommended_arms):
    """C has pulls on the first day only: what is filled in needs a drift that all arms share."""
    arms = np.array(["A", "B", "C"] * 100 + ["A", "B"] * 450)
    days, rng = np.repeat(np.arange(4), 300), np.random.default_rng(2)
    moved = days * np.where(arms == "A", 1.0, -1.0 if own else 1.0)
    log = db.ExperimentLog(arms, moved + rng.normal(size=1200), batches=days)
    found = db.compare(log, "batched(uniform)", runs=50).advice
    assert [arm for arm, method in zip("ABC", found.estimates, strict=True) if method] == list(recommended_arms)
    assert "unbiased" not in " ".join(found.because)
    assert any(text.startswith("C: no pulls in some batches") for text in found.because)


def test_the_grounds_are_those_of_the_docs():
    """The first two stand in docs/quoted.md, the third in docs/compare.md, in the rows of the best-looking arm."""
    docs = ROOT / "docs"
    lines = [
        *re.findall(r"^\| best-looking arm \|.*", (docs / "quoted.md").read_text(), re.MULTILINE),
        *re.findall(r"^\| best-looking arm \|.*", (docs / "compare.md").read_text(), re.MULTILINE),
    ]
    figures = [[float(re.search(r"\d*\.\d+", cell)[0]) for cell in line.split("|")[2:5]] for line in lines]
    errors = [[ground.errors[name] for name in ("naive", "corrected", "quoted")] for ground in GROUNDS]
    np.testing.assert_allclose(figures, errors, atol=0.1)  # under whichever seed they were measured last


# --- rows, files and text ---------------------------------------------------------------------------------------------


def test_rows_feed_frame_and_file(tmp_path):
    rows, frame = FOUND.rows(), FOUND.to_frame()
    assert len(rows) == 2 * 12 + 5  # all but batched OLS, and five for the one difference
    assert list(frame) == list(rows[0])
    assert {row["method"] for row in rows} == {method.name for method in METHODS}
    FOUND.to_json(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["rows"] == rows
    assert document["schema"] == "debandit.comparison"
    assert document["settings"]["log_sha256"] == LOG.sha256
    assert document["settings"]["control"] == "1"


def test_the_text_fits_the_page_and_every_method_is_there():
    for found in (FOUND, db.compare(BATCHED, "batched(uniform)", runs=50, force=True)):
        text = str(found)
        assert max(map(len, text.splitlines())) <= 100
        for method in METHODS:
            assert method.title in text
            assert method.assumes in re.sub(r"\s+", " ", text) or method.name in refused(found)


def test_an_arm_without_an_upper_limit():
    log = db.ExperimentLog([*"AB" * 10, *"A" * 40], [*[0.0, 0.0] * 10, *np.arange(40.0)])
    found = db.compare(log, "uniform", runs=50)
    (row,) = [row for row in found.rows() if row["method"] == "quoted" and row["arm"] == "B"]
    assert (row["low"], row["high"]) == (0, None)
    assert "no upper limit" in str(found)
    found.plot().to_dict()


@pytest.fixture(scope="module")
def hostile():
    log = db.ExperimentLog([*[SCRIPT, "\x1b[31mred\x00"] * 30], np.sin(np.arange(60)))
    return db.compare(log, "uniform", runs=50, control=SCRIPT)


def test_labels_are_shown_as_text(hostile, tmp_path):
    assert "\x1b" not in str(hostile)
    assert SCRIPT in str(hostile)
    hostile.save_plot(tmp_path / "c.svg")
    svg = (tmp_path / "c.svg").read_text()
    assert "<script" not in svg
    assert "&lt;script&gt;alert(1)" in svg
    hostile.to_json(tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text())["rows"] == hostile.rows()


def test_the_picture_shows_the_rows(tmp_path):
    found = db.compare(TRIAL, "ucb(c=1)", runs=100)
    spec = found.plot().to_dict()
    dots = marks(spec, "point", "title", "estimate", "dot")
    assert list(dots) == ["A, 91 pulls", "B, 9 pulls"]
    for title, drawn in dots.items():
        rows = [row for row in found.rows() if title.startswith(f"{row['arm']},") and row["estimate"] is not None]
        told = [(r["title"], r["estimate"], "recommended here" if r["recommended"] else "other") for r in rows]
        assert drawn == told
    bars = marks(spec, "rule", "title", "low", "high")
    rows = [r for r in found.rows() if r["arm"] == "A" and r["low"] is not None]
    inside = [r for r in rows if r["method"] != "w_decorrelation"]  # whose bar is cut
    assert {(r["title"], r["low"], r["high"]) for r in inside} < {bar for bar in bars["A, 91 pulls"] if bar[0]}
    lengths = {bar[0]: bar[2] - bar[1] for bar in bars["A, 91 pulls"] if bar[0]}
    (row,) = [r for r in rows if r["method"] == "w_decorrelation"]
    assert lengths["W-decorrelation"] <= row["high"] - row["low"]
    found.save_plot(tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap"}, "no option 'method'"),
        ({"wrold": "auto"}, "Did you mean world"),
        ({"control": "C"}, "there is no arm 'C'"),
        ({"support": (1, 0)}, "support needs the lowest and the highest possible reward"),
        ({"level": 2}, "a level lies between 0.5 and 0.999"),
        ({"runs": 1}, "runs must be"),
    ],
)
def test_mistakes_are_explained(options, message):
    with pytest.raises(db.InputError, match=message):
        db.compare(LOG, FLOOR, **options)


def test_a_log_that_the_rule_cannot_have_made_is_refused():
    with pytest.raises(db.Refused, match="ucb"):
        db.compare(LOG, "ucb")
    with pytest.raises(db.InputError, match="one log"):
        db.compare([LOG, LOG], FLOOR)
    with pytest.raises(db.InputError, match=r"not the name of a picture(.|\n)*\.svg, \.png, \.pdf"):
        FOUND.save_plot("c.txt")


def test_a_support_that_rewards_leave_is_a_reason():
    found = db.compare(LOG, FLOOR, runs=50, support=(0, 1))
    assert re.match(r"the reward .* in round \d+ is not between 0 and 1", refused(found)["confidence_sequence"])
    assert math.isnan(values(found, "confidence_sequence", "low")[0, 0])
