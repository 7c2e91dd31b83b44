"""Algorithm 1 and its record."""

import dataclasses
import inspect
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from catalogue import Z, z_scores

import debandit as db
from debandit.cli.logs import debias as command
from debandit.debiasing.running import AUTO_CAP, AUTO_FIRST
from debandit.settings import OPTIONS
from debandit.simulation import tally


@pytest.fixture(scope="module")
def log():
    world = db.worlds.Normal([1, 1.5], [1, 1])
    return db.simulate(db.UCB(), world, horizon=100, runs=5, seed=8, paths=True).log(2)


def test_the_bias_is_that_of_the_rule_in_the_log_s_own_world(log):
    """Steps 2 to 9 of Algorithm 1, done by hand with `simulate`."""
    result = db.debias(log, db.UCB(), world="gaussian", runs=40_000, seed=1, control_variates=False)
    samples = log.samples()
    world = db.worlds.Normal([s.mean() for s in samples], [s.std() for s in samples])
    runs = db.simulate(db.UCB(), world, horizon=100, runs=40_000, seed=99)
    assert np.abs(z_scores(result.bias - runs.bias(), result.bias_se, runs.bias_se())).max() < Z
    # the variance of a sample variance is (kurtosis - 1)/n of it squared; 12 is more than these means' kurtosis
    np.testing.assert_allclose(result.bias_se, runs.bias_se(), rtol=Z * np.sqrt(2 * (12 - 1) / 40_000) / 2)
    np.testing.assert_array_equal(result.naive, log.means)
    np.testing.assert_array_equal(result.corrected, result.naive - result.bias)
    fitted = db.debias(log, db.UCB(), world="gaussian", runs=40_000, seed=2)  # by default with control variates
    assert np.abs(z_scores(fitted.bias - runs.bias(), fitted.bias_se, runs.bias_se())).max() < Z
    assert (fitted.bias_se < result.bias_se).all()


def test_etc_is_the_closed_form(log):
    """eq:MB-bias: for two arms and ETC the bootstrap world's bias is known exactly."""
    world = db.worlds.Normal([1, 1.5], [1, 1])
    policy = db.ExploreThenCommit(pulls=10)
    one = db.simulate(policy, world, horizon=100, runs=1, seed=8, paths=True).log(0)
    result = db.debias(one, policy, world="gaussian", runs=200_000, seed=1)
    m, horizon, total = 10, 100, one.variances.sum()
    exact = -(horizon - 2 * m) / (horizon - m) * one.variances / np.sqrt(2 * np.pi * total * m)
    exact = exact * np.exp(-m / (2 * total) * (one.means[0] - one.means[1]) ** 2)
    assert np.abs(z_scores(result.bias - exact, result.bias_se)).max() < Z
    other = db.ExploreThenCommit(pulls=5)
    wrong = db.debias(one, other, world="gaussian", runs=200_000, seed=1, force=True)  # control
    assert np.abs(z_scores(wrong.bias - exact, wrong.bias_se)).max() > 2 * Z


def test_simulate_and_debias_share_no_stream(log):
    bootstrap = db.worlds.Normal(log.means, np.sqrt(log.variances))
    one = tally(db.UCB(), bootstrap, horizon=100, runs=1024).bias[0]
    assert (one != db.debias(log, db.UCB(), world="gaussian", runs=1024).bias).all()


def test_auto_stops_when_the_error_is_small_enough(log):
    result = db.debias(log, db.UCB(), seed=3)
    target = 0.1 * np.sqrt(db.worlds.as_bootstrap("smoothed").fit(log).variances / log.pulls)
    assert (result.bias_se < target).all()
    assert result.runs >= AUTO_FIRST
    assert "10 %" in result.stopped_because
    fixed = db.debias(log, db.UCB(), runs=result.runs, seed=3)
    np.testing.assert_array_equal(fixed.bias, result.bias)
    np.testing.assert_array_equal(fixed.bias_se, result.bias_se)
    assert fixed.stopped_because == "as many as asked for"


def test_auto_stops_at_the_limit():
    """One arm's mean is known so well that its target cannot be reached: 2,500 pulls in the log, one in each run."""
    quiet = np.tile([-1e-3, 1e-3], 1250)  # the target is 0.1 * 1e-3 / sqrt(2500) = 2e-6; one pull in each of 200,000
    log = db.ExperimentLog(["a"] * 2500 + ["b"] * 3, [*quiet, 4.9, 5.0, 5.1])  # runs gives 1e-3 / sqrt(200000) = 2.2e-6
    result = db.debias(log, db.EpsilonGreedy(epsilon=0.0), world="gaussian", seed=1, force=True, control_variates=False)
    assert result.runs == AUTO_CAP
    assert "limit of 200,000" in result.stopped_because
    # what is pulled once in every run has no bias, which the control variates say of the first runs already
    quick = db.debias(log, db.EpsilonGreedy(epsilon=0.0), world="gaussian", runs=AUTO_FIRST, seed=1, force=True)
    assert abs(quick.bias[0]) < 2e-6


def test_many_logs_in_one_call(log):
    other = db.ExperimentLog(["a", "b", "c"] * 20, np.arange(60.0) % 7)
    together = db.debias([log, other, log], db.UCB(), seed=4, force=True)
    alone = db.debias(log, db.UCB(), seed=4)
    np.testing.assert_array_equal(together[0].bias, alone.bias)
    assert together[1].labels == ("a", "b", "c")
    assert (together[0].bias != together[2].bias).all()  # the same log in another place has streams of its own
    assert db.debias([], db.UCB()) == []
    again = db.debias(log, together[2].settings.policy, seed=4, log_index=together[2].settings.log_index)
    np.testing.assert_array_equal(again.bias, together[2].bias)


@pytest.mark.parametrize("world", ["auto", "smoothed(sd=1.0)", "gaussian", "efron", "multiplier(weights=rademacher)"])
def test_every_world(log, world):
    result = db.debias(log, "ucb", world=world, runs=4000)
    assert (result.bias / result.bias_se).min() < -2 * Z  # UCB biases downward
    again = db.debias(log, result.settings.policy, world=result.settings.world, runs=4000, threads=1)
    np.testing.assert_array_equal(result.bias, again.bias)


def test_unseen_arms_are_refused_or_given_a_world():
    log = db.ExperimentLog(["a", "b"] * 10, np.arange(20.0), labels=["a", "b", "c", "d"])
    with pytest.raises(db.Refused, match=r"c, d(.|\n)*--unseen"):
        db.debias(log, db.ThompsonSampling())
    for world in ("auto", "gaussian", "efron", "multiplier"):
        result = db.debias(log, db.ThompsonSampling(), world=world, unseen=(1.0, 2.0), runs=500)
        assert np.isnan(result.naive[2:]).all()
        assert np.isnan(result.corrected[2:]).all()
        assert np.isnan(result.bias[2:]).all()
        assert np.isfinite(result.corrected[:2]).all()
        assert any("c, d: no reward" in warning for warning in result.warnings)
    for bad in ((1.0, -2.0), "ab", 1.0, (1, 2, 3), (np.nan, 1)):
        with pytest.raises(db.InputError, match="unseen"):
            db.debias(log, db.ThompsonSampling(), unseen=bad)
    binary = db.ExperimentLog(["a", "b"] * 10, [0, 1, 1, 0] * 5, labels=["a", "b", "c"])
    result = db.debias(binary, db.BetaThompson(), world="efron", unseen=(0.3, 0.458), runs=500)
    assert np.isfinite(result.corrected[:2]).all()


def test_warnings_say_what_is_wrong():
    log = db.ExperimentLog(["a"] * 9 + ["b"], [*range(9), 2.5])
    once = db.debias(log, db.UCB(), world="gaussian", runs=500, force=True)
    assert any(warning.startswith("b: pulled once") for warning in once.warnings)
    binary = db.ExperimentLog(["a", "b"] * 30, [1, 1] * 29 + [0, 0])
    outside = db.debias(binary, db.EpsilonGreedy(), runs=3000)
    assert outside.corrected.max() > 1
    assert any("outside [0, 1]" in warning for warning in outside.warnings)
    fair = db.debias(binary, db.Uniform(), runs=500)
    assert any("smaller than twice its Monte-Carlo error" in warning for warning in fair.warnings)
    assert not any("outside" in warning for warning in fair.warnings)


def test_arms_that_are_quoted_above_the_leader_are_named():
    runs = db.simulate("beta_thompson", "bernoulli(means=[.2, .2, .2, .2])", horizon=300, runs=12, seed=2, paths=True)
    found = []
    for result in db.debias_all([runs.log(i) for i in range(12)], "beta_thompson", runs=500):
        leader = np.nanargmax(result.naive)
        above = [
            label for label, quoted in zip(result.labels, result.quoted, strict=True) if quoted > result.quoted[leader]
        ]
        said = [warning for warning in result.warnings if "which leads" in warning]
        expected = [f"{', '.join(above)}: quoted higher than {result.labels[leader]}, which leads"] if above else []
        assert [each.partition(";")[0].replace(" and ", ", ") for each in said] == expected
        found.append(bool(above))
    assert 0 < sum(found) < 12


def test_arms_that_hardly_any_run_pulls_are_named():
    """With a prior far below all rewards a run stays with the arm that it happens to pull first."""
    log = db.ExperimentLog([*range(40), *range(40)], np.linspace(9, 11, 80))
    result = db.debias(log, db.ThompsonSampling(prior_mean=-50.0, prior_sd=1.0, noise_sd=0.001), runs=20, force=True)
    assert any("and" in warning and "fewer than two runs" in warning for warning in result.warnings)
    assert (result.never_pulled > 0.5).all()
    np.testing.assert_array_equal(np.isnan(result.bias), result.never_pulled == 1)
    np.testing.assert_array_equal(np.isnan(result.bias_se), result.never_pulled >= 0.95)


def test_no_variation_at_all():
    result = db.debias(db.ExperimentLog(["a", "b"] * 10, [1.0, 2.0] * 10), db.UCB(), force=True)
    np.testing.assert_array_equal(result.bias, [0, 0])
    np.testing.assert_array_equal(result.corrected, [1, 2])
    assert (result.runs, result.stopped_because) == (AUTO_FIRST, "stopped at once because no arm's rewards vary")


def test_what_does_not_fit_is_refused(log):
    with pytest.raises(db.InputError, match="0/1 rewards, but the log"):
        db.debias(log, db.BetaThompson())
    binary = db.ExperimentLog(["a", "b"] * 10, [0, 1] * 10)
    with pytest.raises(db.InputError, match="jeffreys"):
        db.debias(binary, db.BetaThompson(), world="gaussian")
    for world in ("auto", "efron"):
        assert db.debias(binary, db.BetaThompson(), world=world, runs=100).runs == 100
    for other in ("trial.csv", [log, 5]):
        with pytest.raises(db.InputError, match=r"no such file|is not a log"):
            db.debias(other, db.UCB())
    with pytest.raises(db.InputError, match="200 initial pulls"):
        db.debias(log, db.ExploreThenCommit(pulls=100))
    for bad in (1, 0, -5, 2.5, "many", True):
        with pytest.raises(db.InputError, match="runs must be"):
            db.debias(log, db.UCB(), runs=bad)


def test_options_are_declared_once(log):
    """Signature, documentation, command line and messages are made from the declarations."""
    for function, first in ((db.debias, "log"), (db.debias_all, "logs")):
        parameters = inspect.signature(function).parameters
        assert list(parameters) == [first, "policy", *OPTIONS]
        assert {name: parameters[name].default for name in OPTIONS} == {n: f.default for n, f in OPTIONS.items()}
        said = " ".join(inspect.getdoc(function).split())
        for name, field in OPTIONS.items():
            assert re.search(rf"\b{name} : [^:]*?default \S+ {re.escape(field.metadata['text'])}", said), name
    flags = {option.name: option for option in command.params}
    for name in set(OPTIONS) - {"log_index", "executor"}:
        assert flags[name].default == OPTIONS[name].default
        assert flags[name].help == OPTIONS[name].metadata["text"]
    with pytest.raises(db.InputError, match=r"no option 'sed'(.|\n)*Did you mean seed"):
        db.debias(log, db.UCB(), sed=1)
    with pytest.raises(db.InputError, match=r"no option 'horizon'(.|\n)*options are world, runs"):
        db.debias_all([log], db.UCB(), horizon=100)  # a setting of the result, but not an option
    for bad in ({"control_variates": "maybe"}, {"force": 2}, {"threads": 0}, {"log_index": -1}, {"seed": 1.5}):
        with pytest.raises(db.InputError, match=f"{next(iter(bad))} must be"):
            db.debias(log, db.UCB(), **bad)


def test_slow_packages_are_imported_when_they_are_needed():
    """Half a second of every start: scipy is for intervals and p-values, numba for what is compiled or loaded."""
    slow = "{'numba', 'scipy', 'pandas', 'altair', 'pyarrow'} & set(sys.modules)"
    code = f"import sys, debandit.debiasing, debandit.readers, debandit.executors; print({slow})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
    other = f"import sys, numba; print(sorted({slow}))"  # control
    assert "numba" in subprocess.run([sys.executable, "-c", other], capture_output=True, text=True).stdout


def test_debias_all(log):
    """A list whatever it is given; `debias` gives one result for one log."""
    several = db.debias_all((each for each in [log, log]), db.UCB(), runs=200, seed=4)
    assert [result.settings.log_index for result in several] == [0, 1]
    np.testing.assert_array_equal(several[0].bias, db.debias(log, db.UCB(), runs=200, seed=4).bias)
    assert db.debias_all([], db.UCB()) == []
    assert len(db.debias_all(log, db.UCB(), runs=200)) == 1
    for bad in (None, 5, "trial.csv"):
        with pytest.raises(db.InputError, match=r"no such file|is not a log"):
            db.debias_all(bad, db.UCB())


def test_the_policy_is_checked_before_worlds_and_intervals():
    """A log that the policy cannot have made is refused for that, whatever else does not suit it."""
    log = db.ExperimentLog(["a", "a", "b", "b"], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(db.Refused, match="cannot have made this log"):
        db.debias(log, db.UCB(), interval="binary", control="c", world="jeffreys")
    with pytest.raises(db.InputError, match="jeffreys"):
        db.debias(log, db.UCB(), interval="binary", control="c", world="jeffreys", force=True)


def test_json_round_trip(log, tmp_path):
    result = db.debias(log, db.UCB(), seed=np.uint64(5), runs=np.int32(300), unseen=(np.float32(0), np.int8(1)))
    path = tmp_path / "result.json"
    result.to_json(path)
    back = db.Debiased.from_json(path)
    assert str(back) == str(result)
    assert back.settings == result.settings
    for field in dataclasses.fields(result):
        one, two = getattr(result, field.name), getattr(back, field.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(back.path.means, result.path.means)
    back.to_json(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    document = json.loads(path.read_text())
    assert document["schema_version"] == 2
    assert document["settings"]["log_sha256"] == log.sha256
    for k, arm in enumerate(document["arms"]):
        assert sum(arm["histogram"]["counts"]) == 300
        assert arm["histogram"]["low"] < result.naive[k] < arm["histogram"]["high"]
    assert document["path"]["rounds"][-1] == 100
    assert [pulls[-1] for pulls in document["path"]["pulls"]] == log.pulls.tolist()
    assert document["path"]["means"][1][0] is None  # arm 2 had no reward after round 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not a JSON file"),
        ("[]", "not a result"),
        ("{}", "not a result"),
        ('{"schema": "debandit.result", "schema_version": 99}', "version 99"),
        ('{"schema": "debandit.result", "schema_version": 1, "arms": 5}', "not a result"),
        (
            '{"schema": "debandit.result", "schema_version": 1, "arms": [], "path": null, "settings": {}}',
            "not a result",
        ),
        (
            '{"schema": "debandit.result", "schema_version": 1, "arms": [{}], "path": null, "settings": {"policy": "",'
            ' "horizon": 9, "log_sha256": "", "runs_asked": "auto", "seed": "x"}}',
            "not a result",
        ),
    ],
)
def test_foreign_json_is_refused(tmp_path, content, message):
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(db.InputError, match=message):
        db.Debiased.from_json(path)
    with pytest.raises(db.InputError, match="cannot read"):
        db.Debiased.from_json(tmp_path / "none.json")


def test_a_failed_write_leaves_the_old_file(log, tmp_path, monkeypatch):
    result = db.debias(log, db.UCB(), runs=100)
    path = tmp_path / "result.json"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("debandit.files.os.fsync", full)
    with pytest.raises(db.InputError, match="No space left"):
        result.to_json(path)
    assert [p.name for p in tmp_path.iterdir()] == ["result.json"]
    assert path.read_text() == "old"


def test_the_frame_has_the_rows(log):
    result = db.debias(log, db.UCB(), runs=100)
    frame = result.to_frame()
    assert frame.astype(object).where(frame.notna(), None).to_dict("records") == result.rows()
    np.testing.assert_array_equal(frame["corrected"], result.corrected)
