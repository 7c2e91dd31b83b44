"""At every level the limits lie on their own side of the estimate, and get wider with it; at 95 % they are frozen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import debandit as db
from debandit.intervals import (
    ARM,
    WINNER,
    Limits,
    Sample,
    Sums,
    binary,
    compared,
    interval_of,
    mover_difference,
    mover_lift,
    pooled_t,
    pooled_t_difference,
    two_part,
    two_part_centre,
    two_part_difference,
    wald,
    wilson,
    wilson_difference,
)

FIRST = np.zeros(3, dtype=int)
levels = st.floats(0.5, 0.999)
amounts = st.one_of(st.just(0.0), st.floats(0.01, 1.0), st.sampled_from([1.0, 30.0, 1e6]))
starved = st.one_of(st.lists(st.integers(0, 2), min_size=2, max_size=25), st.just([0] * 12 + [1, 2]))


@st.composite
def experiments(draw, rewards):
    arms = draw(starved)
    return Sample(arms, draw(st.lists(rewards, min_size=len(arms), max_size=len(arms))), 3)


def difference(values):
    """The values minus that of the first arm, which is compared with nothing."""
    return np.where(np.arange(3) > 0, values - values[:, :1], np.nan)


def of_means(sample, level):
    """Limits that rewards of any sign have, each beside the estimate that must lie inside."""
    sums, apart = Sums(sample.pulls, sample.means, sample.squares), difference(sample.means)
    yield Limits(*pooled_t(sample, level)[:2]), sample.means
    yield Limits(*pooled_t(sample, level, WINNER)[:2]), sample.means
    yield Limits(*pooled_t(sums, level)[:2]), sample.means
    yield wald(sample.pulls, sample.means, sample.squares, level), sample.means
    yield pooled_t_difference(sample, FIRST, level), apart
    yield pooled_t_difference(sums, FIRST, level), apart


def of_amounts(sample, level):
    """Limits that rewards of 0 or more have besides."""
    centre, limits = two_part_centre(sample), two_part(sample, level)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = centre / centre[:, :1] - 1
    yield limits, sample.means
    yield limits, centre
    yield two_part_difference(sample, FIRST, level), difference(sample.means)
    yield mover_difference(centre, limits, FIRST), difference(centre)
    yield mover_lift(centre, limits, FIRST), ratio


def of_wins(sample, level):
    """Limits of 0/1 rewards; those at a z are asked for at a z that rises with the level."""
    n, wins, z = sample.pulls, sample.total(sample.rewards), 4 * level
    for below in (ARM, WINNER):
        limits = binary(n, wins, level, below)
        yield limits, sample.means
        yield mover_difference(sample.means, limits, FIRST), difference(sample.means)
    yield wilson(n, wins, z, z), sample.means
    yield wilson_difference(n, wins, FIRST, z, z), difference(sample.means)


@pytest.mark.parametrize(
    ("limits", "rewards"),
    [
        (of_means, st.floats(-1e6, 1e6, width=32)),
        (of_means, amounts.map(lambda x: -x)),
        (of_amounts, amounts),
        (of_wins, st.sampled_from([0.0, 1.0])),
    ],
)
def test_limits_are_on_their_side_and_wider_with_the_level(limits, rewards):
    @settings(max_examples=60)
    @given(experiments(rewards), levels, levels)
    def check(sample, one, other):
        lower, higher = sorted((one, other))
        room = 1e-12 * np.abs(sample.rewards).max()
        for (narrow, estimate), (wide, _) in zip(limits(sample, lower), limits(sample, higher), strict=True):
            known = ~np.isnan(narrow.low)
            np.testing.assert_array_equal(known, ~np.isnan(narrow.high))
            np.testing.assert_array_equal(known, ~np.isnan(wide.low))
            inside = known & np.isfinite(estimate)
            assert (narrow.low <= estimate + room)[inside].all()
            assert (narrow.high >= estimate - room)[inside].all()
            assert (wide.low <= narrow.low + room)[known].all()
            assert (wide.high >= narrow.high - room)[known].all()

    check()


def test_limits_got_narrower_when_the_shift_followed_the_level():
    """One reward of an arm beside very skewed ones: a = g/sqrt(1); shift a/6 (z^2 - 1) changes its sign at 68 %."""
    sample = Sample([0] * 40 + [1], [0.0, *np.arange(38) / 100, 50.0, 1.0], 2)
    found = [pooled_t(sample, level) for level in (0.5, 0.68)]
    assert (found[1].high >= found[0].high).all()
    g, t = found[0].skewness[0], np.array([1.3862, 1.9250])  # t quantiles of 15 % and 9.6 %, 2 degrees of freedom
    z = np.array([0.6745, 0.9945])
    shifts = np.clip(g / 6 * (z**2 - 1), -0.6 * t, 0)
    assert np.diff(t - shifts)[0] < 0  # as it was


LADDER = (0.5, 0.68, 0.8, 0.9, 0.95, 0.99, 0.999)
LAWS = {
    "pooled-t": lambda random, count: (
        (random.standard_t(3, count) + random.choice([0, 5])) * 10.0 ** random.integers(-3, 4)
    ),
    "wald": lambda random, count: random.exponential(size=count),
    "binary": lambda random, count: (random.random(count) < random.random()) * 1.0,
    "two-part": lambda random, count: random.exponential(size=count) * (random.random(count) < random.random()),
}


@pytest.mark.parametrize("name", LAWS)
def test_logs_have_sensible_limits_at_every_level(name):
    """Of arms, differences, lift and the winner; each contains what it is about, and contains that of lower levels."""
    random, known = np.random.default_rng(9), 0
    for _ in range(20):
        arms = random.integers(0, 3, random.integers(3, 60))
        log = db.ExperimentLog(arms, LAWS[name](random, len(arms)), labels=[0, 1, 2])
        controls = np.array([1, 0, 0])
        if name == "binary" and not log.binary:
            continue
        naive, apart = log.means, log.means - log.means[controls]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = log.means / log.means[controls] - 1
        before = None
        for level in LADDER:
            interval = interval_of(log, name, level)
            found = compared(log, interval.name, level, controls, None)
            limits = [Limits(interval.low, interval.high), found.difference, found.lift, found.winner]
            for (low, high), estimate in zip(limits, (naive, apart, ratio, naive), strict=True):
                inside = np.isfinite(low) & np.isfinite(estimate)
                room = 1e-9 * np.abs(estimate[inside])
                assert (low[inside] <= estimate[inside] + room).all()
                assert (high[inside] >= estimate[inside] - room).all()
                known += inside.sum()
            for wide, narrow in zip(limits, before or limits, strict=True):
                np.testing.assert_array_equal(np.isnan(wide.low), np.isnan(narrow.low))
                np.testing.assert_array_equal(np.isnan(wide.high), np.isnan(narrow.high))
                there = ~np.isnan(wide.low)
                room = 1e-9 * np.abs(np.where(np.isfinite(narrow.low), narrow.low, 0))[there]
                assert (wide.low[there] <= narrow.low[there] + room).all()
                assert (wide.high[there] >= narrow.high[there] - room).all()
            before = limits
    assert known > 250  # of 20 logs with three arms at seven levels


@pytest.mark.parametrize("level", [0, 0.3, 0.4999, 0.9991, 1, 95, -1, np.nan, "high", None])
def test_other_levels_are_refused(level):
    log = db.ExperimentLog(["a", "b"] * 5, np.arange(10.0))
    with pytest.raises(db.errors.InputError, match=r"a level lies between 0.5 and 0.999"):
        db.debias(log, "uniform", runs=100, level=level)


@pytest.mark.parametrize("level", [0.5, 0.999])
def test_the_ends_are_allowed_and_old_results_may_have_others(level, tmp_path):
    log = db.ExperimentLog(["a", "b"] * 5, np.arange(10.0))
    result = db.debias(log, "uniform", runs=100, level=level)
    assert f"{100 * level:g} % intervals" in result.details()
    result.to_json(tmp_path / "result.json")
    old = (tmp_path / "result.json").read_text().replace(f'"level": {level}', '"level": 0.3')
    (tmp_path / "old.json").write_text(old)
    assert db.Debiased.from_json(tmp_path / "old.json").settings.level == 0.3


FROZEN = {  # as computed before limits at other levels were mended
    "pooled-t": [
        [-4.205948816662922, -14.619950511021672, -40.98514570078909, -23.267135815000668],
        [22.945969830178893, 23.421320006295872, 54.46072364018574, 31.275702799935516],
    ],
    "pooled-t of sums": [
        [-3.741214841004026, -9.889288297390195, -31.2668405918915, -16.731081161422036],
        [19.321534892884234, 16.44632074991506, 54.46072364018574, 24.22590287975672],
    ],
    "two-part": [[0.0, 0.0, 0.0, 0.0], [27.945270396035284, 16.039042146571994, 38.234577521087544, np.inf]],
    "binary": [
        [0.26189092193723784, 0.13203780346110103, 0.05000000000000005, 0.0],
        [0.9567281317072583, 0.9915962413403874, 1.0, 0.841886116991581],
    ],
    "wald": [
        [-3.082768768212577, -0.6521029375920742, np.nan, np.nan],
        [15.66610210154591, 2.9854362709254074, np.nan, np.nan],
    ],
}


def test_95_percent_is_frozen():
    arms = [0] * 6 + [1] * 3 + [2] + [3] * 2
    rewards = [0.0, 2.5, 0.0, 1.25, 30.0, 4.0, 0.0, 3.0, 0.5, 2.0, 0.0, 0.0]
    sample = Sample(arms, rewards, 4)
    n, wins = sample.pulls, sample.total((sample.rewards > 0).astype(float))
    found = {
        "pooled-t": pooled_t(sample, 0.95)[:2],
        "pooled-t of sums": pooled_t(Sums(n, sample.means, sample.squares), 0.95)[:2],
        "two-part": two_part(sample, 0.95),
        "binary": binary(n, wins, 0.95),
        "wald": wald(n, sample.means, sample.squares, 0.95),
    }
    assert found.keys() == FROZEN.keys()
    for name, (low, high) in found.items():
        # another processor may round the last bits differently
        np.testing.assert_allclose([low.ravel(), high.ravel()], FROZEN[name], rtol=1e-14, atol=0, err_msg=name)
