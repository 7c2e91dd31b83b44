"""The random population: what its worlds are, and that its studies depend on the seed alone."""

import numpy as np
import pytest

import debandit as db
from debandit.periods import cells_of_paths
from debandit.study.coverage import coverage_study
from debandit.study.population import CONTINUOUS, EQUAL, FAMILIES, LONG, RULES, WEB, family_of, population, web


def settings(count=6, seed=2):
    return [(family_of(str(setting.world)), setting) for setting in population(FAMILIES, count, seed)]


def test_the_laws_are_standardised():
    """Whatever table stands for the law: the truths are equally spaced, with a spread of the population."""
    for family, setting in settings():
        means = setting.world.means
        steps = np.diff(means)
        np.testing.assert_allclose(steps, steps[0], rtol=1e-9)
        if family in (*CONTINUOUS, "shifted zero-inflated"):
            assert means[0] == pytest.approx(0, abs=1e-12)
            assert means[-1] == pytest.approx(min((0.2, 0.6, 1.2), key=lambda s: abs(s - means[-1])))


def test_worlds_are_written_as_their_law():
    assert {family for family, _ in settings(1)} == set(FAMILIES)
    for family, setting in settings():
        if family not in ("normal", "binary"):
            sds = ", ".join(f"{sd:.4g}" for sd in np.sqrt(setting.world.variances))
            assert f"sds=[{sds}" in str(setting.world).replace(".0,", ",").replace(".0]", "]")


def test_zeros_stay_zeros_unless_they_are_shifted():
    for family, setting in settings():
        zeros = (setting.world.data().pool == 0).mean() if family.endswith("zero-inflated") else 0
        assert (zeros >= 0.2) == (family == "zero-inflated")


def test_rules_take_turns_and_binary_thompson_is_what_is_asked_for():
    for family, setting in settings(4):
        assert setting.policy.name in (("beta_thompson", *RULES) if family == "binary" else RULES)
    assert [setting.policy.name for _, setting in settings(5)][:5] == [*RULES, RULES[0]]
    given = population(("binary",), 4, 0, binary_thompson=db.ThompsonSampling(initial_pulls=1))
    assert [setting.policy.name for setting in given] == list(RULES)


def test_coverage_depends_on_the_seed_alone():
    one, two = (coverage_study(settings=1, experiments=20, seed=5).run(threads=n, progress="none") for n in (1, 2))
    assert repr(one.rows) == repr(two.rows)
    assert str(coverage_study(settings=1, experiments=20, seed=6).run(progress="none")) != str(one)


def test_other_scales():
    """Long runs include arms that are equal; in the scale `equal` all are. The small population is as it was."""
    long = list(population(CONTINUOUS, 12, 3, scale=LONG))
    assert {setting.horizon for setting in long} == set(LONG.rounds)
    assert {setting.world.arm_count for setting in long} == set(LONG.arms)
    assert {round(float(np.ptp(setting.world.means)), 9) for setting in long} == set(LONG.spreads)
    for setting in population(("lognormal", "zero-inflated", "binary"), 4, 3, scale=EQUAL):
        np.testing.assert_allclose(setting.world.means, setting.world.means[0], atol=1e-12)


def test_web_experiments():
    settings = list(web(24, 5))
    assert [setting.world.arm_count for setting in settings[:4]] == [2, 3, 5, 2]
    lifts = [setting.world.means[-1] / setting.world.means[0] - 1 for setting in settings]
    assert sum(abs(lift) < 1e-12 for lift in lifts) == 6  # of 24
    np.testing.assert_allclose(lifts[3:12:3], [0.05, 0.1, 0.2])
    for setting in settings:
        assert 0.01 <= setting.world.means.min() <= setting.world.means.max() <= 0.1 + 1e-12
        assert 20_000 - 50 < setting.horizon <= 100_000
        assert setting.horizon % setting.policy.size == 0  # whole batches
        assert 10 <= setting.horizon // setting.policy.size <= 50
    assert [str(setting.world) for setting in web(3, 5)] == [str(setting.world) for setting in settings[:3]]


def test_other_web_experiments():
    """Without a difference, and under UCB; numbers of users and batches are drawn in the same way."""
    equal, ucb = (list(web(4, 5, WEB[name])) for name in ("web-equal", "web-ucb"))
    for setting in equal:
        np.testing.assert_allclose(setting.world.means, setting.world.means[0])
        assert setting.policy.core == db.BetaThompson()
    assert all(setting.policy.core == db.UCB() for setting in ucb)
    assert [setting.label for setting in ucb] == [setting.label for setting in web(4, 5)]


def test_web_experiments_that_drift():
    """Whole weeks of days that move all arms, and pulls of every arm on each of them."""
    settings = list(web(12, 5, WEB["web-drift"]))
    for setting in settings:
        days, size = setting.horizon // setting.policy.policy.size, setting.world.size
        assert days in (14, 28, 42)
        assert setting.horizon == days * size
        assert len(setting.world.effects) == 7
        assert 0.02 <= setting.policy.probability <= 0.1
        runs = db.simulate(setting.policy, setting.world, horizon=setting.horizon, runs=1, seed=1, paths=True)
        (cells,) = cells_of_paths(*runs.paths(), [size] * days, setting.world.arm_count)
        assert cells.pulls.all()
    assert {family_of(str(setting.world)) for setting in settings} == {"binary"}
    lifts = [setting.world.world.means[-1] / setting.world.world.means[0] - 1 for setting in settings]
    np.testing.assert_allclose(lifts[::3], [0, 0.05, 0.1, 0.2], atol=1e-12)
    assert abs(np.std([setting.world.effects for setting in settings]) - 0.3) < 4.5 * 0.3 / np.sqrt(2 * 84)
