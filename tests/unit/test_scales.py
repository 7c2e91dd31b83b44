"""Rewards in another unit: nothing changes but the scale, whether they are counted in atoms or in galaxies.

The unit is a power of two, so that every multiplication is exact and the same bits are wanted.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from units import BOUNDED, UNITS, WITHOUT, in_unit, parts, told

import debandit as db
from debandit.checks import LARGEST, SMALLEST
from debandit.describing import Description
from debandit.identification.identified import AS_GOOD
from debandit.policies import RULES
from debandit.policies.normal_draws import highest_draw

MOST = 200  # the unit is at most 2 to the power of this, and at least 1 over it

POLICIES = {
    "ucb": db.UCB(),
    "greedy": db.Greedy(initial_pulls=2),
    "epsilon": db.EpsilonGreedy(epsilon=0.2),
    "thompson": db.ThompsonSampling(0.5, 2.0, 0.7, 1),
    "thompson-sample": db.ThompsonSampling(initial_pulls=1, center="sample"),
    "top-two": db.TopTwoThompson(0.7),
    "gaussian": db.GaussianThompson(),
    "gaussian-prior": db.GaussianThompson(0.4, 0.1, initial_pulls=3),
    "softmax": db.Softmax(0.2),
    "inverse-gap": db.InverseGap(10.0),
    "elimination": db.SuccessiveElimination(0.5, 0.1),
    "exp3": db.Exp3(gamma=0.4, low=-9, high=9),
    "etc": db.ExploreThenCommit(pulls=10),
    "batched-ucb": db.Batched(db.UCB(), size=30),
    "batched-thompson": db.Batched(db.ThompsonSampling(), size=30),
    "floor": db.Floor(db.Batched(db.GaussianThompson(), size=30), 0.1),
    "tempered": db.Tempered(db.Batched(db.ThompsonSampling(), size=30)),
    "commits": db.CommitWhen(db.Batched(db.ThompsonSampling(), size=20), share=0.97),
    "stops": db.StopWhen(db.Batched(db.ThompsonSampling(), size=20), value_remaining=0.1, most=120),
    "delayed": db.Delayed(db.ThompsonSampling(), rounds=7),
    "late-batches": db.Delayed(db.Batched(db.ThompsonSampling(), size=10), batches=2),
    "quota": db.Quota(db.Batched(db.ThompsonSampling(), size=30)),
    "drop": db.Drop(db.Batched(db.ThompsonSampling(), size=30), below=0.02),
    "clip": db.Floor(db.ThompsonSampling(), 0.05, how="clip"),
    "gate": db.Gate(db.Batched(db.GaussianThompson(), size=10), pulls=8),
    "warm-up": db.WarmUp(db.UCB(), pulls=5),
    "draws": db.ThompsonSampling(draws=50),
    "power": db.Tempered(db.Softmax(0.2), how="power", power=0.5),
}
WORLDS = {
    "normal": lambda u: db.worlds.Normal(np.array([1.0, 1.5, 1.2]) * u, np.array([1.0, 0.5, 2.0]) * u),
    "uniform": lambda u: db.worlds.UniformRewards(np.array([1.0, 1.5, 1.2]) * u, np.array([1.0, 0.5, 2.0]) * u),
    "empirical": lambda u: db.worlds.Empirical([np.array(x) * u for x in ([0.3, 1, 2.5], [1, 2.0], [0.5, 1.75])]),
    "drifting": lambda u: db.worlds.Drifting(WORLDS["normal"](u), np.array([0.0, 0.5, -0.25, 1]) * u, 30),
}


def logged(policy, rounds=120, seed=5):
    """Arms and rewards of an experiment."""
    runs = db.simulate(policy, WORLDS["normal"](1.0), horizon=rounds, runs=1, seed=seed, paths=True)
    played = runs.path_arms[0] >= 0
    return runs.path_arms[0][played].astype(str), runs.path_rewards[0][played]


def same(what, power):
    """What is found in a unit must be the same but for the scale."""
    unit = 2.0**power
    found, wanted = parts(told(what(unit), 1.0)), parts(told(what(1.0), unit))
    assert [(key, value, wanted.get(key)) for key, value in found.items() if wanted.get(key) != value] == []
    assert len(found) == len(wanted)


def test_every_rule_says_what_is_in_the_unit_of_the_rewards():
    """A new rule must be in one of the lists."""
    assert set(RULES) == {*UNITS, *WITHOUT, *BOUNDED}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("power", [-MOST, MOST])
def test_results(name, power):
    policy = POLICIES[name]
    arms, rewards = logged(policy)

    def result(unit):
        log = db.ExperimentLog(arms, rewards * unit, labels=["0", "1", "2"], metrics={"m": rewards**2 * unit})
        return db.debias(log, in_unit(policy, unit), runs=130, control="0", force=True, threads=1).document()

    same(result, power)


@pytest.mark.parametrize("interval", ["simulated", "wald", "pooled-t"])
def test_intervals_and_worlds(interval):
    policy = POLICIES["thompson"]
    arms, rewards = logged(policy)
    for world in ("smoothed", "gaussian", "efron", "multiplier", "smoothed(sd=UNIT)"):
        for power in (-MOST, MOST):

            def result(unit, world=world):
                log, options = db.ExperimentLog(arms, rewards * unit, labels=["0", "1", "2"]), {"runs": 130}
                there = world.replace("UNIT", repr(0.75 * unit))
                return db.debias(log, in_unit(policy, unit), world=there, interval=interval, **options).document() | {
                    "settings": 0
                }

            same(result, power)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", ["ucb", "thompson", "softmax", "batched-thompson", "exp3"])
def test_simulations(world, name):
    for power in (-MOST, MOST):

        def runs(unit):
            found = db.simulate(in_unit(POLICIES[name], unit), WORLDS[world](unit), horizon=120, runs=9, seed=5)
            return {"means": found.means.ravel().tolist(), "pulls": found.pulls.ravel().tolist()}

        same(runs, power)


@pytest.mark.parametrize("power", [-MOST, MOST])
def test_summaries_and_batches(power):
    policy = POLICIES["batched-thompson"]
    arms, rewards = logged(policy)
    days = np.repeat(["a", "b", "c", "d"], 30)
    cells = [(day, arm) for day in "abcd" for arm in "012" if ((days == day) & (arms == arm)).any()]
    told_of = [rewards[(days == day) & (arms == arm)] for day, arm in cells]

    def batches(unit):
        log = db.ExperimentLog.from_batches(
            [day for day, _ in cells],
            [arm for _, arm in cells],
            [len(each) for each in told_of],
            [each.mean() * unit for each in told_of],
            [each.var() * unit**2 for each in told_of],
        )
        rule = db.Batched(in_unit(policy.policy, unit))
        return [
            db.debias(log, rule, runs=130, adjust="batches", control="0").document(),
            db.check(log, rule).document(),
            Description(log).document(),
        ]

    def summaries(unit):
        log = db.ExperimentLog.from_summaries(
            "012",
            [int((arms == arm).sum()) for arm in "012"],
            [rewards[arms == arm].mean() * unit for arm in "012"],
            [rewards[arms == arm].var() * unit**2 for arm in "012"],
        )
        return db.debias(log, in_unit(POLICIES["ucb"], unit), runs=130, unseen=(unit, unit), force=True).document()

    same(batches, power)
    same(summaries, power)


@pytest.mark.parametrize("name", ["ucb", "floor", "epsilon", "etc", "batched-ucb"])
@pytest.mark.parametrize("power", [-MOST, MOST])
def test_other_methods_and_checks(name, power):
    policy = POLICIES[name]
    arms, rewards = logged(policy, rounds=60)

    def found(unit):
        log = db.ExperimentLog(arms, rewards * unit, labels=["0", "1", "2"])
        rule, options = in_unit(policy, unit), {"runs": 130, "control": "0", "support": (-9 * unit, 9 * unit)}
        return [
            db.compare(log, rule, **options).document(),
            db.check(log, rule).document(),
            db.check(log, in_unit(db.UCB(c=1.5), unit)).document(),
        ]

    same(found, power)


def test_plans():
    def found(unit):
        return db.plan(
            in_unit(POLICIES["thompson"], unit), WORLDS["normal"](unit), horizon=60, experiments=5
        ).document()

    same(found, MOST)


@pytest.mark.parametrize("policy", [db.UCB(0.7), db.Softmax(0.3)], ids=str)
def test_identify(policy):
    """The numbers that are found are rounded, to other decimals in another unit; both explain the log as well."""
    arms, rewards = logged(policy)
    here, tiny, huge = (db.identify(db.ExperimentLog(arms, rewards * 2.0**power)) for power in (0, -MOST, MOST))
    for found, power in ((tiny, -MOST), (huge, MOST)):
        best = in_unit(found.policy, 2.0**-power)
        assert best.name == here.policy.name == policy.name
        assert abs(found.candidates[0].log_likelihood - here.candidates[0].log_likelihood) < AS_GOOD
        for name in UNITS[policy.name]:
            assert getattr(best, name) == pytest.approx(getattr(here.policy, name), rel=0.2)


@given(st.integers(-MOST, MOST), st.sampled_from(["ucb", "thompson"]))
@settings(max_examples=20)
def test_any_unit(power, name):
    policy = POLICIES[name]
    arms, rewards = logged(policy, rounds=40)

    def result(unit):
        return db.debias(db.ExperimentLog(arms, rewards * unit), in_unit(policy, unit), runs=70, threads=1).document()

    same(result, power)


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 30)), min_size=2, max_size=6),
    st.integers(20, 50),
    st.integers(-MOST, MOST),
)
@settings(max_examples=60)
def test_chances_know_no_origin_and_no_unit(arms, far, power):
    """Draws that are all moved by the same amount have the same highest one, also where the amount is 10^15 widths."""
    location, width = np.array(arms, dtype=np.float64).T
    chances, unit = highest_draw(location, width), 2.0**power
    np.testing.assert_allclose(highest_draw(location + 2.0**far, width), chances, rtol=0, atol=1e-10)
    np.testing.assert_allclose(highest_draw(location * unit, width * unit), chances, rtol=0, atol=1e-13)
    assert chances.sum() == pytest.approx(1, abs=1e-10)


@given(st.lists(st.tuples(st.floats(-1e60, 1e60), st.floats(-60, 60)), min_size=3, max_size=5))
@settings(max_examples=60)
def test_chances_of_any_arms_add_up(arms):
    location, decades = np.array(arms).T
    assert highest_draw(location, 10**decades).sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("size", [2 * LARGEST, SMALLEST / 2, 1e77, 1e-80, 1e300, 5e-324])
def test_beyond_the_range_numbers_are_refused(size):
    """Fourth powers of larger ones overflow, in the Monte-Carlo errors first."""
    match = "too large" if size > 1 else "too small"
    with pytest.raises(db.InputError, match=match):
        db.ExperimentLog(["A", "B"], [0.0, size])
    with pytest.raises(db.InputError, match=match):
        db.ExperimentLog(["A", "B"], [0.0, 1.0], metrics={"m": [0.0, -size]})
    with pytest.raises(db.InputError, match=match):
        db.ExperimentLog.from_summaries("AB", [2, 2], [0.0, size], [0.0, 0.0])
    if 1e-150 < size < 1e150:  # else there is no such variance
        with pytest.raises(db.InputError, match=match):
            db.ExperimentLog.from_summaries("AB", [2, 2], [0.0, 1.0], [0.0, size**2])
    with pytest.raises(db.InputError, match=r"must be numbers from|too small"):
        db.worlds.Normal([0.0, size], [0.0, 0.0])
    with pytest.raises(db.InputError):
        db.worlds.Empirical([[0.0], [size]])
