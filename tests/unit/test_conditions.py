"""What is prescribed, and when: `Conditions` against rounds that are played one by one."""

import numpy as np
import pytest

from debandit.engine.changes import Least
from debandit.engine.conditions import FREE, LACKING, UNIFORM, Conditions, Threshold


def random_conditions(rng, horizon):
    arms, kind = int(rng.integers(2, 5)), rng.integers(3)
    ends = np.unique(np.append(rng.integers(1, horizon, rng.integers(1, 8)), horizon))
    late, batched = rng.integers(4), rng.random() < 0.6
    return arms, Conditions(
        late=int(rng.integers(9)) if late == 0 else 0,
        late_batches=int(rng.integers(3)) if late == 1 and batched else 0,  # else refused
        opening=int(rng.integers(4)),
        turns=int(rng.integers(3 * arms)) if kind == 1 else 0,
        uniform=int(rng.integers(12)) if kind == 2 else 0,
        ends=ends if batched else np.empty(0, np.int64),
        gate=Threshold(int(rng.integers(6)), int(rng.integers(3)), horizon) if rng.random() < 0.3 else None,
    )


def played(conditions, arms, horizon, rng):
    """One run by the words of the docstring: what was prescribed, what was pulled, the totals made and heard of."""
    pulls, starts, before = [0] * arms, [0, *conditions.ends.tolist()], []
    starts = starts if len(starts) > 1 else list(range(horizon + 1))
    rounds = []
    for t in range(horizon):
        before.append(list(pulls))
        batch = sum(start <= t for start in starts) - 1
        heard = before[max(starts[max(batch - conditions.late_batches, 0)] - conditions.late, 0)]
        lacking = [k for k in range(arms) if pulls[k] < conditions.opening]
        prescribed = FREE
        if t < conditions.turns:
            prescribed = t % arms
        elif t < conditions.uniform or (
            conditions.gate and (min(heard) < conditions.gate.pulls or min(heard) * 0.5 < conditions.gate.successes)
        ):
            prescribed = UNIFORM
        elif lacking:
            prescribed = lacking[0]
        elif min(heard) < conditions.opening:
            prescribed = t % arms
        rounds.append((prescribed, list(pulls), heard, sum(heard)))
        pulls[prescribed if prescribed >= 0 else rng.integers(arms)] += 1
    return (np.array(column) for column in zip(*rounds, strict=True))


@pytest.mark.parametrize("seed", range(200))
def test_prescribed_rounds_are_those_of_a_run(seed):
    rng, horizon = np.random.default_rng(seed), 60
    arms, conditions = random_conditions(rng, horizon)
    expected, pulls, heard, known = played(conditions, arms, horizon, rng)
    rounds, settled = np.arange(horizon), conditions.settled(arms)
    np.testing.assert_array_equal(conditions.known(horizon), known)
    np.testing.assert_array_equal(conditions.prescribed(rounds, pulls, heard, heard * 0.5), expected)
    assert (expected[settled:] == FREE).all()
    fixed = conditions.fixed(arms)
    assert len(fixed) == settled
    sure = fixed[:horizon] != LACKING
    np.testing.assert_array_equal(fixed[:horizon][sure], expected[:settled][sure])
    assert conditions.gate or (conditions.uniform and conditions.opening) or sure.all()
    np.testing.assert_array_equal(conditions.fixed(arms, 7), fixed[:7])


def test_what_depends_on_the_run_is_lacking():
    """Control: after a uniform warm-up two runs lack different arms."""
    conditions = Conditions(opening=2, uniform=3)
    assert conditions.fixed(2).tolist() == [UNIFORM] * 3 + [LACKING] * 4
    pulls = np.array([[0, 3], [2, 1], [2, 2]])
    assert conditions.prescribed(np.full(3, 4), pulls, pulls, pulls * 0.5).tolist() == [0, 1, FREE]


def test_a_rule_without_wrappers_begins_with_its_initial_pulls():
    plain = Conditions(opening=2)
    assert plain.fixed(3).tolist() == [0, 0, 1, 1, 2, 2]
    assert not plain.wrapped
    huge = Conditions(opening=10**8)
    assert huge.fixed(1000, 5).tolist() == [0] * 5


def test_of_how_much_the_rule_has_heard_after_each_batch():
    """Of everything in the end, when nobody asks any more; one that hears of each round at once has no batches."""
    batches = Conditions(ends=np.array([3, 10, 12]))
    late, later = batches._replace(late=2), batches._replace(late_batches=1)
    cases = ((batches, [3, 10, 12]), (late, [1, 8, 12]), (later, [0, 3, 12]))
    for conditions, heard in cases:
        assert [each.tolist() for each in conditions.told(12)] == [[3, 10, 12], heard]
    assert [each.tolist() for each in Conditions(late=2).told(4)] == [[1, 2, 3, 4], [0, 0, 1, 4]]
    assert [len(each) for each in Conditions(opening=2).told(12)] == [0, 0]


def test_sums_below_zero_do_not_close_a_gate():
    heard, sums = np.array([5, 5]), np.array([-3.0, 2.0])
    assert not Threshold(5, 0, 60).closed(heard, sums)
    assert Threshold(5, 1, 60).closed(heard, sums)  # control


def test_chances_are_mixed_where_the_choice_is_free():
    chances, prescribed = np.array([[1.0, 0.0]] * 3), np.array([FREE, UNIFORM, 1])
    planned = Conditions(changes=(Least((0.2, 0.2)),)).planned(chances, prescribed, 0)
    np.testing.assert_allclose(planned, [[0.8, 0.2], [0.5, 0.5], [0.0, 1.0]], rtol=1e-15)
