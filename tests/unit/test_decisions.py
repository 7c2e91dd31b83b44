"""commit_when and stop_when: what decides, what a log must look like, and what is refused."""

import batch_tables
import numpy as np
import oracle
import pytest

import debandit as db
from debandit.engine.decisions import UNDECIDED, Decision, Known, Logged
from debandit.policies import as_policy, beta_draws
from debandit.policies.normal_draws import leads_within

STOPPING = "stop_when(batched(beta_thompson, 50), probability=0.9, most=1000)"


@pytest.fixture(scope="module")
def stopped():
    """A log that has stopped by itself after several batches, but long before its planned end."""
    runs = db.simulate(STOPPING, "bernoulli([0.3, 0.4])", horizon=1000, runs=40, seed=1, paths=True)
    return next(runs.log(i) for i in range(40) if 200 <= runs.pulls[i].sum() <= 500)


def cut(log, rounds):
    arms, rewards = log.rounds.arms, log.rounds.rewards
    more = max(rounds - log.horizon, 0)
    arms, rewards = np.append(arms, np.zeros(more, int)), np.append(rewards, np.zeros(more))
    return db.ExperimentLog(arms[:rounds] + 1, rewards[:rounds], labels=log.labels)


def table_of(log, sizes):
    return batch_tables.table_of(log.rounds.arms, log.rounds.rewards, sizes, 2, binary=True)


def known(pulls, sums, own=None, chances=None):
    own = own if own is None else np.array([own])
    return Known(np.array([pulls]), np.array([sums], float), own, own if chances is None else np.array([chances]))


@pytest.mark.parametrize(
    ("decision", "state", "arm"),
    [
        (Decision("share", 0.9), known([5, 5], [1, 4], [0.02, 0.98], [0.11, 0.89]), UNDECIDED),
        (Decision("share", 0.9), known([5, 5], [1, 4], [0.02, 0.98], [0.1, 0.9]), 1),  # reached, not only exceeded
        (Decision("probability", 0.9), known([5, 5], [1, 4], [0.02, 0.98], [0.11, 0.89]), 1),
        (Decision("probability", 0.99), known([5, 5], [1, 4], [0.02, 0.98], [0.11, 0.89]), UNDECIDED),
        (Decision("failures", 4), known([5, 5], [2, 3]), UNDECIDED),
        (Decision("failures", 4), known([5, 5], [1, 3]), 1),
        (Decision("failures", 4), known([9, 5, 4], [5, 0, 3]), 2),  # the others have failed four times and more
        (Decision("failures", 4), known([9, 5], [5, 0]), 0),  # both have: the higher mean
    ],
)
def test_what_decides(decision, state, arm):
    assert decision.favoured(as_policy("beta_thompson"), state).tolist() == [arm]


def test_the_value_that_remains():
    """Beta draws against a grid; two arms that are the same to 0.1 % need not be told apart."""
    pulls, sums = np.array([[40, 900], [4000, 4000]]), np.array([[12.0, 300.0], [2000.0, 1999.0]])
    rule, leaders = as_policy("beta_thompson"), np.array([1, 0])
    for share in (0.01, 0.3):
        found = rule.leads_within(share, leaders, pulls, sums)
        grid = [oracle.leads_within(share, *each) for each in zip(leaders, pulls, sums, strict=True)]
        np.testing.assert_allclose(found, grid, atol=1e-3)  # the grid has 2,000 points
    decided = Decision("value_remaining", 0.1).favoured(rule, Known(pulls, sums, *[np.array([[0.3, 0.7]] * 2)] * 2))
    assert decided.tolist() == [UNDECIDED, 1]  # the leader is the arm with the higher chance


def test_the_value_that_remains_of_normal_draws():
    """P(X2 <= 1.1 X1) for X1 ~ N(1, 0.1^2), X2 ~ N(0.9, 0.2^2) is Phi(0.2 / sqrt(0.11^2 + 0.2^2)) = 0.8095."""
    location, width = np.array([[1.0, 0.9]]), np.array([[0.1, 0.2]])
    assert leads_within(0.1, np.array([0]), location, width)[0] == pytest.approx(0.8095, abs=5e-5)
    assert leads_within(0.1, np.array([0]), -location, width)[0] == 0.0  # no share of a loss


@pytest.mark.parametrize("name", ["beta_thompson", "thompson"])
@pytest.mark.parametrize("arm_count", [3, 5])
def test_what_is_surely_below_a_threshold_is_not_worked_out(name, arm_count, monkeypatch):
    """The bound decides as the exact value does; if it promised too much, it would not."""
    rng = np.random.default_rng(12)
    pulls = np.exp(rng.uniform(1, 8, (4000, arm_count))).astype(np.int64)
    sums = rng.binomial(pulls, np.clip(rng.normal(0.3, 0.05, pulls.shape), 0.01, 0.99)).astype(float)
    rule, leaders = as_policy(name), np.argmax(sums / pulls, axis=1)
    exact = rule.leads_within(0.05, leaders, pulls, sums)

    def same(above):
        quick = rule.leads_within(0.05, leaders, pulls, sums, above)
        assert np.all(quick >= exact - 1e-12), "a bound"
        np.testing.assert_allclose(quick[exact >= above], exact[exact >= above], rtol=1e-12)
        assert np.mean(quick != exact) > 0.05, "some were not worked out"

    for above in (0.8, 0.95):
        same(above)
    if name == "beta_thompson":
        monkeypatch.setattr(beta_draws, "NOT_NORMAL", -0.5)
        with pytest.raises(AssertionError, match="a bound"):
            same(0.8)


def test_shares_of_draws_may_be_off():
    """With 100 draws 0.88 may have been 0.95, so whatever the log did is believed; 0.5 was not 0.95."""

    def held(reached, taken, draws):
        chances = np.array([[1 - reached, reached]] * 2)
        state = Known(np.full((2, 2), 50), np.full((2, 2), 20.0), chances, chances)
        moments = Logged(state, np.ones(2, bool), np.array([taken, UNDECIDED]), draws)
        return moments.course(Decision("probability", 0.95), None, as_policy("beta_thompson"))[0].tolist()

    assert held(0.88, 1, 100) == [1, 1]
    assert held(0.88, UNDECIDED, 100) == [UNDECIDED, UNDECIDED]
    assert held(0.97, UNDECIDED, 100) == [UNDECIDED, UNDECIDED]
    assert held(0.5, 1, 100) == [UNDECIDED, UNDECIDED]
    assert held(0.88, 1, 0) == [UNDECIDED, UNDECIDED]  # control: known exactly
    failed = Logged(known([5, 5], [1, 3]), np.ones(1, bool), np.array([UNDECIDED]), draws=100)
    assert failed.course(Decision("failures", 4), None, as_policy("beta_thompson"))[0].tolist() == [
        1
    ]  # they are counted


def test_a_log_that_stopped_fits_and_is_corrected(stopped):
    assert db.check(stopped, STOPPING).fits
    result = db.debias(stopped, STOPPING, runs=2000, interval="none", seed=1)
    leader = int(np.argmax(result.naive))
    assert result.bias[leader] > 4.5 * result.bias_se[leader]  # it stops when the leader looks better than it is
    fixed = db.debias(stopped, "batched(beta_thompson, 50)", runs=2000, interval="none", seed=1)
    assert fixed.bias[leader] < 4.5 * fixed.bias_se[leader]  # control: as many rounds in every run


def test_a_log_that_was_stopped_by_hand_is_refused(stopped):
    for rounds, why in ((stopped.horizon - 50, "is 0."), (stopped.horizon - 7, "nothing is decided within a batch")):
        with pytest.raises(db.Refused, match="Was it stopped by hand") as error:
            db.debias(cut(stopped, rounds), STOPPING)
        assert why in str(error.value)
        assert "it never stops where the log stops" in str(error.value)
        assert f"the log ends after {rounds:,} rounds, but 1,000 were planned" in str(error.value)
    assert db.debias(cut(stopped, 100), STOPPING, force=True, runs=300).warnings


def test_a_log_that_went_on_is_refused(stopped):
    with pytest.raises(db.Refused, match="the experiment was decided before that"):
        db.debias(cut(stopped, stopped.horizon + 50), STOPPING)


def test_tables_of_batches_are_judged_like_rounds(stopped):
    text = "stop_when(batched(beta_thompson), probability=0.9, most=1000)"
    sizes = [50] * (stopped.horizon // 50)
    table = table_of(stopped, sizes)
    assert db.check(table, text).fits
    assert as_policy(text).in_log(table).policy.size == (50,) * 20  # the log's batches, and as many again as it takes
    short = table_of(cut(stopped, stopped.horizon - 50), sizes[:-1])
    assert "Was it stopped by hand" in db.check(short, text).first_mismatch
    long = table_of(cut(stopped, stopped.horizon + 50), [*sizes, 50])
    assert "should have ended" in db.check(long, text).first_mismatch
    rounds, counts = (
        db.debias(log, STOPPING if log is stopped else text, runs=500, seed=2) for log in (stopped, table)
    )
    np.testing.assert_allclose(rounds.bias, counts.bias)


def test_a_log_that_committed_must_keep_to_its_arm():
    text = "commit_when(batched(beta_thompson, 50), share=0.9)"
    runs = db.simulate(text, "bernoulli([0.3, 0.5])", horizon=600, runs=1, seed=2, paths=True)
    log = runs.log(0)
    assert db.check(log, text).fits
    best, other = log.rounds.arms[-1], 1 - log.rounds.arms[-1]
    assert (log.rounds.arms[-200:] == best).all()
    arms = np.append(log.rounds.arms[:-1], other)
    strayed = db.ExperimentLog(arms + 1, log.rounds.rewards, labels=log.labels)
    assert db.check(strayed, text).verdict == "impossible"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stop_when(batched(ucb, 5), share=0.9)", "ucb has no randomness"),
        ("stop_when(batched(exp3, 5), share=0.9)", "those of exp3 do not"),
        ("stop_when(batched(softmax, 5), probability=0.9)", "softmax does not draw the arms' means"),
        ("stop_when(thompson, share=0.9, failures=3)", "give either share or failures"),
        ("commit_when(thompson, share=0.4)", "share must be a number from 0.5 to 1"),
        ("commit_when(commit_when(thompson))", "commit_when can be around a rule only once"),
    ],
)
def test_what_makes_no_sense_is_refused(text, message):
    with pytest.raises(db.InputError, match=message):
        as_policy(text)


def test_what_cannot_be_played_is_refused(stopped):
    with pytest.raises(db.InputError, match="how long could the experiment have lasted"):
        db.debias(stopped, "stop_when(batched(beta_thompson, 50), probability=0.9)")
    with pytest.raises(db.InputError, match="at most 100 were planned"):
        db.debias(stopped, "stop_when(batched(beta_thompson, 50), probability=0.9, most=100)")
    with pytest.raises(db.InputError, match="the rule must run in batches"):
        db.simulate("stop_when(thompson, probability=0.9)", "normal(means=[0, 1], sds=[1, 1])", horizon=20, runs=2)
    runs = db.simulate(STOPPING, "bernoulli([0.3, 0.4])", horizon=1000, runs=3, seed=1, paths=True)
    with pytest.raises(db.InputError, match="different numbers of rounds"):
        runs.paths()
    with pytest.raises(db.Refused, match="commit or stop early"):
        db.debias(cut(stopped, 60), "stop_when(ucb, failures=60, most=99)", method="rao-blackwell", force=True)


def test_without_batches_a_share_is_judged_after_every_round():
    runs = db.simulate(
        "stop_when(thompson, share=0.9)", "normal(means=[0, 2], sds=[1, 1])", horizon=60, runs=30, seed=1, paths=True
    )
    rounds = runs.pulls.sum(axis=1)
    assert rounds.min() < 20
    log = runs.log(int(np.argmax(np.where(rounds < 60, rounds, 0))))
    assert db.check(log, "stop_when(thompson, share=0.9, most=60)").fits
    assert not db.check(log, "stop_when(thompson, share=0.6, most=60)").fits
