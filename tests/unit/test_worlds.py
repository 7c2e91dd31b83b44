"""Worlds built from a log: their recipes by hand, which one is chosen, and data that leave little to build from."""

import dataclasses
import json

import numpy as np
import pytest
from catalogue import Z, z_scores
from commands import flat

import debandit as db
from debandit.debiasing import estimated_biases
from debandit.engine.data import BERNOULLI
from debandit.worlds import FITTED, as_bootstrap
from debandit.worlds.fitted import moderated_variances


def log_of(*samples):
    """One arm after another: a, b, ..."""
    arms = [label for label, sample in zip("abcdefgh", samples, strict=False) for _ in sample]
    return db.ExperimentLog(arms, [float(x) for sample in samples for x in sample])


def debiased(log, policy="epsilon_greedy", **options):
    return db.debias(log, policy, **{"world": "auto", "runs": 2000, "seed": 1, "force": True, **options})


SKEWED = log_of([0.0, 0.1, 0.3, 4.0, 0.2, 0.1, 0.5, 2.0], [1.0, 3.0], [2.5], [1.0, 1.0, 1.0])


def test_the_moderated_variance_by_hand():
    """Arms with 8, 2, 1 and 3 pulls have sums of squares SS; c = 5 (of 7), 1, 0, 2."""
    ss = np.array([sum((x - s.mean()) ** 2 for x in s) for s in SKEWED.samples()])
    s0 = (5 * ss[0] / 7 + 1 * ss[1] / 1 + 2 * ss[3] / 2) / (5 + 1 + 2)
    expected = [(s0 + ss[0]) / 8, (s0 + ss[1]) / 2, s0, s0 / 3]
    np.testing.assert_allclose(moderated_variances(SKEWED.pulls, SKEWED.variances), expected)
    np.testing.assert_allclose(as_bootstrap("smoothed").fit(SKEWED).variances, expected)
    given = [(4 + ss[0]) / 8, (4 + ss[1]) / 2, 4, 4 / 3]
    np.testing.assert_allclose(as_bootstrap("smoothed(sd=2)").fit(SKEWED).variances, given)


def test_the_smoothed_world_by_hand():
    """x = mean + sqrt(v) (sqrt(1 - h^2) e + h z), h^2 = 1/n, and h = 1 for the arms whose rewards do not vary."""
    world = as_bootstrap("smoothed").fit(SKEWED)
    v, samples, written = world.variances, SKEWED.samples(), world.options()["samples"]
    np.testing.assert_allclose(world.means, SKEWED.means)
    np.testing.assert_allclose(world.sds, np.sqrt(v * [1 / 8, 1 / 2, 1, 1]))
    for k, share in ((0, 1 / 8), (1, 1 / 2)):
        e = (samples[k] - samples[k].mean()) / samples[k].std()
        np.testing.assert_allclose(written[k], samples[k].mean() + np.sqrt(v[k] * (1 - share)) * e)
    assert (written[2], written[3]) == ([2.5], [1.0, 1.0, 1.0])


def test_the_jeffreys_world_by_hand():
    log = log_of([0] * 9, [1], [1, 0, 1, 1])
    world = as_bootstrap("jeffreys").fit(log)
    np.testing.assert_array_equal(world.means, [0.5 / 10, 1.5 / 2, 3.5 / 5])
    assert world.data().kind == BERNOULLI  # so explore-then-commit and large batches keep their shortcuts
    counts = db.ExperimentLog.from_summaries("abc", [9, 1, 4], [0, 1, 0.75], binary=True)
    np.testing.assert_array_equal(as_bootstrap("jeffreys").fit(counts).means, world.means)
    with pytest.raises(db.InputError, match=r"0/1 rewards, but the log has others(.|\n)*smoothed"):
        as_bootstrap("jeffreys").fit(SKEWED)


@pytest.mark.parametrize("name", ["smoothed", "smoothed(sd=0.5)", "jeffreys", "auto"])
@pytest.mark.parametrize("binary", [True, False])
def test_a_stack_has_the_world_of_each_log(name, binary):
    if name == "jeffreys" and not binary:
        return
    place = db.worlds.Bernoulli([0.3, 0.6, 0.2]) if binary else db.worlds.Normal([1.0, 1.5, 0.0], [1.0, 0.2, 1.0])
    runs = db.simulate(db.UCB(), place, horizon=12, runs=40, seed=3, paths=True)
    stack = as_bootstrap(name).fit(runs)
    for i in range(40):
        alone = as_bootstrap(name).fit(runs.log(i))
        np.testing.assert_allclose(stack.means[i], alone.means, rtol=1e-12)
        np.testing.assert_allclose(stack.variances[i], alone.variances, rtol=1e-12)
    biases = estimated_biases(runs, world=name, runs=50, seed=2)
    results = db.debias([runs.log(i) for i in range(40)], db.UCB(), world=name, runs=50, seed=2, threads=1)
    np.testing.assert_allclose(biases, [result.bias for result in results], atol=1e-12)


def test_auto_chooses_by_the_rewards_and_says_why(tmp_path):
    summaries = db.ExperimentLog.from_summaries("ab", [20, 10], [1.0, 1.5], [1.0, 1.0])
    counts = db.ExperimentLog.from_summaries("ab", [20, 10], [0.5, 0.3], binary=True)
    binary = log_of([0, 1, 1, 0, 1], [1, 0, 1])
    for log, world, because in (
        (SKEWED, "smoothed", "not just 0 and 1"),
        (binary, "jeffreys", "all rewards are 0 or 1"),
        (counts, "jeffreys", "all rewards are 0 or 1"),
        (summaries, "gaussian", "only means and variances are known"),
    ):
        result = debiased(log, runs=100)
        assert result.settings.world == world
        assert because in result.settings.world_because
        assert f"world {world} (auto: {result.settings.world_because})" in flat(result.details())
        explicit = debiased(log, runs=100, world=world)
        np.testing.assert_array_equal(result.bias, explicit.bias)
        assert explicit.settings.world_because == ""
        assert explicit.details().splitlines()[0].endswith(f"world {world}.")
        result.to_json(tmp_path / "r.json")
        assert db.Debiased.from_json(tmp_path / "r.json").settings == result.settings
    with pytest.raises(db.InputError, match=r"summaries only(.|\n)*gaussian"):
        debiased(summaries, world="smoothed")


def test_logs_of_different_kinds_in_one_call():
    logs = [SKEWED, log_of([0, 1, 1], [1, 0], [1], [0, 0])]
    both = debiased(logs, "uniform", runs=100)
    assert [each.settings.world for each in both] == ["smoothed", "jeffreys"]
    for i, log in enumerate(logs):
        np.testing.assert_array_equal(both[i].bias, debiased(log, "uniform", runs=100, log_index=i).bias)


def test_names_and_options():
    assert next(iter(FITTED)) == "auto"
    for text in ("auto", "smoothed", "smoothed(sd=2.0)", "jeffreys"):
        assert str(as_bootstrap(text)) == text
    assert str(as_bootstrap("smoothed(sd=None)")) == "smoothed"
    assert str(db.worlds.SmoothedBootstrap(sd=np.float32(2))) == "smoothed(sd=2.0)"
    for bad in ("0", "-1", "nan", "[1, 2]", "True", "1e101"):
        with pytest.raises(db.InputError, match="sd must be a number from 1e-70"):
            as_bootstrap(f"smoothed(sd={bad})")
    with pytest.raises(db.InputError, match="one value for each list"):
        db.worlds.Smoothed([[1.0], [2.0]], sds=[1.0, 1.0, 1.0])
    world = db.worlds.as_world("smoothed(samples=[[1, 2], [3]], sds=[0.5, 0])")
    assert str(world) == "smoothed(samples=[[1.0, 2.0], [3.0]], sds=[0.5, 0.0])"
    np.testing.assert_allclose(world.variances, [0.25 + 0.25, 0])


def test_uniform_rewards():
    world = db.worlds.as_world("uniform(means=[0.5, 1], half_widths=[1, 3])")
    assert str(world) == "uniform(means=[0.5, 1.0], half_widths=[1.0, 3.0])"
    np.testing.assert_allclose(world.variances, [1 / 3, 3])
    assert world.support == (-2, 4)
    with pytest.raises(db.InputError, match="means and half_widths differ in length"):
        db.worlds.UniformRewards([0.5, 1], [1, 1, 1])
    with pytest.raises(db.InputError, match="half_widths must be numbers from 0"):
        db.worlds.UniformRewards([0.5, 1], [1, -1])


def test_unseen_arms():
    log = db.ExperimentLog(["a", "b"] * 10, np.arange(20.0), labels=["a", "b", "c"])
    world = as_bootstrap("smoothed").fit(log, db.worlds.Unseen(1.0, 2.0))
    seen = as_bootstrap("smoothed").fit(db.ExperimentLog(["a", "b"] * 10, np.arange(20.0)))
    np.testing.assert_allclose(world.means, [*seen.means, 1.0])
    np.testing.assert_allclose(world.variances, [*seen.variances, 4.0])
    assert world.sds[2] == 2.0  # all of it normal
    binary = db.ExperimentLog(["a", "b"] * 10, [0, 1, 1, 0] * 5, labels=["a", "b", "c"])
    assert as_bootstrap("jeffreys").fit(binary, db.worlds.Unseen(0.3, 0.0)).means[2] == 0.3
    result = debiased(binary, "beta_thompson", unseen=(0.3, 0.0))
    assert np.isnan(result.corrected[2])
    assert np.isfinite(result.corrected[:2]).all()
    with pytest.raises(db.InputError, match=r"unseen(.|\n)*between 0 and 1"):
        debiased(binary, "beta_thompson", unseen=(1.3, 0.0))


# --- data that leave little to build from ----------------------------------------------------------------------------


def test_all_rewards_equal():
    """No world can show a bias then, and the result says so; as 0/1 rewards they may still have come out otherwise."""
    result = debiased(log_of([3.7] * 10, [3.7] * 5), runs="auto")
    np.testing.assert_allclose(result.corrected, 3.7)
    np.testing.assert_allclose(result.bias, 0, atol=1e-14)
    assert result.stopped_because == "stopped at once because no arm's rewards vary"
    assert any("no variance and shows no bias" in warning for warning in result.warnings)
    ones = debiased(log_of([1] * 10, [1] * 5), runs="auto")
    assert ones.settings.world == "jeffreys"
    assert (ones.bias < -Z * ones.bias_se).all()
    assert any("outside [0, 1]" in warning for warning in ones.warnings)


@pytest.mark.parametrize(("sample", "reason"), [([2.5], "pulled once"), ([2.5, 2.5], "all its rewards are the same")])
def test_an_arm_without_a_variance_of_its_own_borrows_one(sample, reason):
    """In the paper's worlds it shows no bias; here one about as large as that of an arm with the others' variance."""
    log = log_of(np.linspace(0, 4, 20), [3.0, 4.0, 2.0, 3.5], sample)
    result = debiased(log, runs="auto")
    assert result.bias[2] < -Z * result.bias_se[2]
    assert any(f"c: {reason}, so its spread is borrowed from the other arms" in each for each in result.warnings)
    assert not any("no variance" in warning for warning in result.warnings)
    assert result.bias_se[2] < 0.1 * np.sqrt(as_bootstrap("smoothed").fit(log).variances[2] / len(sample))
    for old in ("gaussian", "efron"):
        blind = debiased(log, world=old)
        assert abs(blind.bias[2]) < 1e-12
        assert any(f"c: {reason}" in warning and "no variance" in warning for warning in blind.warnings)


def test_two_pulls():
    """v = (s0 + SS) / 2, half of it from the two residuals and half normal."""
    log = log_of(np.linspace(0, 4, 20), [1.0, 2.0])
    world = as_bootstrap("smoothed").fit(log)
    s0 = (5 * np.linspace(0, 4, 20).var(ddof=1) + 1 * 0.5) / 6
    assert world.variances[1] == pytest.approx((s0 + 0.5) / 2)
    assert world.sds[1] ** 2 == pytest.approx(world.variances[1] / 2)
    assert not any("borrowed" in warning for warning in debiased(log).warnings)


def test_all_zeros_in_a_binary_arm():
    """Its world wins with 1/2 in n + 1, so the arm has a bias, and the corrected mean is above 0: it was unlucky."""
    log = log_of([0] * 6, [1, 1, 0, 1] * 10)
    result = debiased(log, runs=20_000)
    assert result.corrected[0] > Z * result.bias_se[0]
    assert not any("no variance" in warning or "borrowed" in warning for warning in result.warnings)
    assert abs(debiased(log, world="efron").corrected[0]) < 1e-12  # control
    guessed = debiased(log_of([0], [1, 1, 0, 1])).warnings
    assert any("a: pulled once, so its bootstrap world is half a guess" in each for each in guessed)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_unit_of_measurement_does_not_matter(scale):
    result, scaled = debiased(SKEWED), debiased(log_of(*(scale * sample for sample in SKEWED.samples())))
    np.testing.assert_allclose(scaled.bias, scale * result.bias, rtol=1e-6)
    np.testing.assert_allclose(scaled.corrected, scale * result.corrected, rtol=1e-6)
    assert "nan" not in str(scaled)
    shifted = debiased(log_of(*(1e6 + sample for sample in SKEWED.samples())))
    np.testing.assert_allclose(shifted.bias, result.bias, atol=1e-8)


def test_a_hundred_arms():
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 4, 100)
    arms = np.repeat(np.arange(100), sizes)
    result = debiased(db.ExperimentLog(arms, rng.normal(arms / 50, 1.0)), runs=500)
    assert np.isfinite(result.corrected).all()
    assert result.bias.mean() < 0
    assert sum("borrowed" in warning for warning in result.warnings) == 1


def test_only_one_arm_with_more_than_one_pull():
    """Its variance is everybody's."""
    log = log_of([0.0, 1.0, 5.0], [2.0], [3.0])
    variance = np.var([0.0, 1.0, 5.0], ddof=1)
    np.testing.assert_allclose(as_bootstrap("smoothed").fit(log).variances, variance)
    assert np.isfinite(debiased(log).corrected).all()


def test_no_arm_with_more_than_one_pull():
    log = log_of([0.3], [2.0], [3.0])
    with pytest.raises(db.Refused, match=r"no arm was pulled more than once(.|\n)*smoothed\(sd=\.\.\.\)"):
        debiased(log)
    result = debiased(log, world="smoothed(sd=2.0)")
    np.testing.assert_allclose(as_bootstrap("smoothed(sd=2.0)").fit(log).variances, 4.0)
    assert np.isfinite(result.corrected).all()
    assert result.settings.world == "smoothed(sd=2.0)"
    assert np.isfinite(debiased(log_of([0], [1], [1])).corrected).all()  # 0/1 rewards need no scale


def test_a_result_of_before_can_be_read(tmp_path):
    """world_because came later."""
    result = debiased(SKEWED, runs=10)
    result.to_json(tmp_path / "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    del document["settings"]["world_because"]
    (tmp_path / "r.json").write_text(json.dumps(document))
    back = db.Debiased.from_json(tmp_path / "r.json")
    assert back.settings == dataclasses.replace(result.settings, world_because="")


def test_the_runs_stop_by_the_variance_of_the_world():
    log = log_of(np.linspace(0, 4, 20), [3.0], [2.0, 2.0])
    result = debiased(log, runs="auto")
    target = 0.1 * np.sqrt(as_bootstrap("smoothed").fit(log).variances / log.pulls)
    assert (result.bias_se < target).all()
    assert np.abs(z_scores(result.bias - debiased(log, runs=50_000, seed=9).bias, result.bias_se)).max() < 2 * Z
