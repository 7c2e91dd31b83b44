"""Decisions worked out by hand, and parameters that make no sense."""

import numpy as np
import pytest
from catalogue import OTHERS, RULES, replayed
from scipy import stats

import debandit as db
from debandit.policies import as_policy


def choices(policy, rewards, horizon):
    """The arms pulled when arm k always pays rewards[k]."""
    world = db.worlds.Normal(rewards, np.zeros(len(rewards)))
    return db.simulate(policy, world, horizon=horizon, runs=1, paths=True).path_arms[0].tolist()


def test_etc_by_hand():
    assert choices(db.ExploreThenCommit(pulls=2), [0.0, 1.0, 0.5], 9) == [0, 0, 1, 1, 2, 2, 1, 1, 1]
    assert choices(db.ExploreThenCommit(pulls=1), [1.0, 1.0], 4) == [0, 1, 0, 0]  # a tie goes to the first
    assert choices(db.ExploreThenCommit(2, order="turns"), [0.0, 1.0, 0.5], 9) == [0, 1, 2, 0, 1, 2, 1, 1, 1]


def test_etc_in_turns_within_wrappers():
    """Warm-up pulls are the first of the turns. After uniform rounds what is lacking comes arm by arm. In batches the
    arms go on taking turns until the rule has heard of the initial pulls."""
    turns = db.ExploreThenCommit(2, order="turns")
    assert choices(db.WarmUp(turns, pulls=1), [0.0, 1.0, 0.5], 8) == [0, 1, 2, 0, 1, 2, 1, 1]
    assert choices(db.WarmUp(turns, pulls=3), [0.0, 1.0, 0.5], 11) == [0, 1, 2] * 3 + [1, 1]
    assert choices(db.Batched(turns, size=4), [0.0, 1.0, 0.5], 10) == [0, 1, 2, 0, 1, 2, 0, 1, 1, 1]
    first, *others = choices(db.WarmUp(turns, rounds=1), [0.0, 1.0, 0.5], 8)
    lacking = [0, 0, 1, 1, 2, 2]
    lacking.remove(first)
    assert others == [*lacking, 1, 1]


def test_ucb_by_hand():
    """Arms pay 0 and 1. Round 3: 0 + sqrt(ln 3) = 1.05 < 1 + 1.05. Round 4: 1.18 < 1 + sqrt(ln 4 / 2) = 1.83. Round 5:
    1.27 < 1 + sqrt(ln 5 / 3) = 1.73 and so on; in round 10, 1.517 < 1 + sqrt(ln 10 / 8) = 1.536; in round 11 at last
    sqrt(ln 11) = 1.5485 > 1 + sqrt(ln 11 / 9) = 1.5162."""
    assert choices(db.UCB(c=1.0), [0.0, 1.0], 12) == [0, 1, *[1] * 8, 0, 1]
    assert choices(db.UCB(c=0.0), [1.0, 1.0, 2.0], 6) == [0, 1, 2, 2, 2, 2]


def test_ties_go_to_the_lowest_index():
    assert choices(db.UCB(), [1.0, 1.0], 6) == [0, 1, 0, 1, 0, 1]
    assert choices(db.EpsilonGreedy(epsilon=0.0), [1.0, 1.0, 1.0], 6) == [0, 1, 2, 0, 0, 0]


def test_thompson_with_a_sharp_posterior_is_greedy():
    sharp = db.ThompsonSampling(noise_sd=1e-9, prior_sd=1.0, initial_pulls=2)
    assert choices(sharp, [0.0, 1.0, 0.5], 9) == [0, 0, 1, 1, 2, 2, 1, 1, 1]


def test_thompson_trusts_its_prior():
    """A prior worth 10^6 pulls at 0 outweighs any reward: both arms stay alike."""
    stubborn = db.ThompsonSampling(prior_mean=0.0, prior_sd=1e-3, noise_sd=1.0)
    runs = db.simulate(stubborn, db.worlds.Normal([0.0, 1.0], [0, 0]), horizon=100, runs=2000, seed=3)
    share = runs.pulls[:, 1].mean() / 100
    assert abs(share - 0.5) < 0.05  # posterior means differ by 1e-4 of 1e-3 at most: P(arm 2) < 0.53
    loose = db.simulate(db.ThompsonSampling(), db.worlds.Normal([0.0, 1.0], [0, 0]), horizon=100, runs=2000, seed=3)
    assert loose.pulls[:, 1].mean() / 100 > 0.8


def test_greedy_by_hand():
    assert choices(db.Greedy(initial_pulls=2), [0.0, 1.0, 0.5], 9) == [0, 0, 1, 1, 2, 2, 1, 1, 1]


def test_decaying_epsilon_by_hand():
    np.testing.assert_allclose(db.DecayingEpsilonGreedy(scale=3).rule(2, 5).explore(np.arange(5)), [1, 1, 1, 0.75, 0.6])
    np.testing.assert_allclose(
        db.DecayingEpsilonGreedy(scale=1, power=0.5).rule(2, 4).explore(np.arange(4)), [1, 0.5**0.5, 3**-0.5, 0.5]
    )


def test_softmax_by_hand():
    """Means 1 and 1 + tau ln 3: three to one."""
    rule = db.Softmax(temperature=0.2)
    np.testing.assert_allclose(rule.probabilities(9, [4, 5], [4.0, 5 * (1 + 0.2 * np.log(3))], 10), [0.25, 0.75])


def test_inverse_gap_by_hand():
    """Means 0.5, 0.8, 0.7 and gamma 20: 1 / (3 + 6), 1 / (3 + 2), and 31/45 for the leader. With floor 1/2 nobody has
    less than 1/6, and with floor 1 all are alike. Of equals the first leads."""
    n, s = [10, 10, 10], [5.0, 8.0, 7.0]
    np.testing.assert_allclose(db.InverseGap(20).probabilities(30, n, s, 40), [1 / 9, 31 / 45, 1 / 5])
    np.testing.assert_allclose(db.InverseGap(20, 0.5).probabilities(30, n, s, 40), [1 / 6, 19 / 30, 1 / 5])
    np.testing.assert_allclose(db.InverseGap(20, 1.0).probabilities(30, n, s, 40), [1 / 3] * 3)
    tied = db.InverseGap(20).probabilities(30, n, [7.0, 5.0, 7.0], 40)
    np.testing.assert_allclose(tied, [1 - 1 / 7 - 1 / 3, 1 / 7, 1 / 3])


def test_leader_challenger_by_hand():
    """Means 0.5, 0.6, 0.4 and 0.1. Bounds of the others: 0.5 + 1.96 / 20 = 0.598, 0.4 + 1.96 sqrt(0.24 / 10) = 0.704
    and 0.1 + 1.96 sqrt(0.09 / 10) = 0.286. With z = 0.5 they are 0.525, 0.477 and 0.147."""
    n, s = [100, 20, 10, 10], [50, 12, 4, 1]
    np.testing.assert_allclose(db.LeaderChallenger().probabilities(140, n, s, 200), [0.05, 0.45, 0.45, 0.05])
    np.testing.assert_allclose(db.LeaderChallenger(z=0.5).probabilities(140, n, s, 200), [0.45, 0.45, 0.05, 0.05])
    np.testing.assert_allclose(db.LeaderChallenger(share=1).probabilities(140, n, s, 200), [0, 0.5, 0.5, 0])


def test_leader_challenger_knows_no_standard_error_of_0_and_1():
    """Three wins of three lead, and of two arms without a win the first challenges, however few pulls the other had;
    a single win of 50 outweighs them: 0.02 + 1.96 sqrt(0.0196 / 50) = 0.059."""
    rule = db.LeaderChallenger(share=0.6)
    np.testing.assert_allclose(rule.probabilities(7, [3, 3, 1], [3, 0, 0], 9), [0.4 / 3 + 0.3, 0.4 / 3 + 0.3, 0.4 / 3])
    chances = rule.probabilities(60, [3, 3, 50], [3, 0, 1], 70)
    np.testing.assert_allclose(chances, [0.4 / 3 + 0.3, 0.4 / 3, 0.4 / 3 + 0.3])
    np.testing.assert_allclose(rule.probabilities(7, [3, 4], [3, 1], 9), [0.5, 0.5])


def test_ucb_tuned_by_hand():
    """Arms pay 0 and 0.3 and never vary, so that V is sqrt(2 ln t / N) >= 1/4 here, and the bonus sqrt(ln t / N) / 2.
    Round 5: 0.634 < 0.3 + sqrt(ln 5 / 3) / 2 = 0.666.
    Round 6: sqrt(ln 6) / 2 = 0.669 > 0.3 + sqrt(ln 6 / 4) / 2 = 0.635."""
    assert choices(db.UCBTuned(), [0.0, 0.3], 7) == [0, 1, 1, 1, 1, 0, 1]


def test_kl_ucb_by_hand():
    """kl(0, q) = -ln(1 - q), so q = 1 - t^(-1/N). kl(1/2, q) = -ln(4 q (1 - q)) / 2; with t = 4 and N = 1 it is ln 4
    for 4 q (1 - q) = 1/16."""
    assert db.KLUCB.score(0.0, 2.0, 9.0, 0.0) == pytest.approx(2 / 3, abs=1e-14)
    assert db.KLUCB.score(0.5, 1.0, 4.0, 0.0) == pytest.approx((1 + np.sqrt(15 / 16)) / 2, abs=1e-12)
    assert db.KLUCB.score(1.0, 1.0, 4.0, 0.0) == 1.0


def test_successive_elimination_by_hand():
    """sd 0.05, delta 1/2, three arms: the margin after n turns is 0.1 sqrt(2 ln(24 n^2) / n). After one turn
    0.25: arm 1, a whole 1 below the best, goes. Arm 3 is 0.1 below: n = 17 gives 0.1020, n = 18 gives 0.0998."""
    rule = db.SuccessiveElimination(delta=0.5, sd=0.05)
    assert choices(rule, [0.0, 1.0, 0.9], 41) == [0, 1, 2, *[1, 2] * 17, *[1] * 4]


def test_gaussian_thompson_without_variance_is_greedy():
    assert choices(db.GaussianThompson(), [0.0, 1.0, 0.5], 9) == [0, 0, 1, 1, 2, 2, 1, 1, 1]
    assert as_policy("thompson_variance(0.1)") == db.GaussianThompson(least_sd=0.1)  # its old name


def test_gaussian_thompson_by_hand():
    """Rewards 1, 3 and 0, 1, 2, 3: means 2 and 1.5, variances 2 and 5/3, of the means 1 and 5/12. So arm 1 is higher
    with Phi(0.5 / sqrt(17/12)). With the prior N(1, 1) its mean is 1.5 with variance 1/2, and that of arm 2 is
    (1.5 * 12/5 + 1) / (12/5 + 1) = 23/17 with variance 5/17."""
    arms, rewards = np.array([0, 0, 1, 1, 1, 1, 0]), np.array([1.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.0])
    known = 6, [2, 4], [4.0, 6.0], 9, [2.0, 5.0]
    for rule, z in (
        (db.GaussianThompson(), 0.5 / np.sqrt(17 / 12)),
        (db.GaussianThompson(prior_mean=1, prior_sd=1), (1.5 - 23 / 17) / np.sqrt(1 / 2 + 5 / 17)),
    ):
        expected = [stats.norm.cdf(z), stats.norm.cdf(-z)]
        np.testing.assert_allclose(rule.probabilities(*known), expected, rtol=1e-12)
        np.testing.assert_allclose(replayed(rule, arms, rewards, 2)[-1], expected, rtol=1e-12)
    with pytest.raises(db.InputError, match="goes by how much rewards vary"):
        db.GaussianThompson().probabilities(*known[:-1])


def test_top_two_by_hand():
    """With a sharp posterior the leader is sure; without a share for it the second best is pulled."""
    sharp = {"noise_sd": 1e-9, "initial_pulls": 1}
    assert choices(db.TopTwoThompson(leader=0.0, **sharp), [0.0, 1.0, 0.5], 7) == [0, 1, 2, 2, 2, 2, 2]
    assert choices(db.TopTwoThompson(leader=1.0, **sharp), [0.0, 1.0, 0.5], 7) == [0, 1, 2, 1, 1, 1, 1]


def test_play_the_winner_by_hand():
    """One ball each. A success of arm 1 makes it 2 of 3; then a failure of arm 2 makes it 3 of 4. Three arms: a
    failure of arm 1 gives half a ball to each of the others."""
    rule = db.PlayTheWinner()
    np.testing.assert_allclose(rule.probabilities(1, [1, 0], [1, 0], 5), [2 / 3, 1 / 3])
    np.testing.assert_allclose(rule.probabilities(2, [1, 1], [1, 0], 5), [3 / 4, 1 / 4])
    np.testing.assert_allclose(rule.probabilities(1, [1, 0, 0], [0, 0, 0], 5), [1 / 4, 1.5 / 4, 1.5 / 4])


def test_postdiff_lies_between_thompson_and_uniform():
    n, s = [7, 9], [2, 6]
    thompson = db.BetaThompson().probabilities(16, n, s, 20)
    np.testing.assert_allclose(db.TSPostDiff(c=0.0).probabilities(16, n, s, 20), thompson, atol=1e-12)
    np.testing.assert_allclose(db.TSPostDiff(c=1.0).probabilities(16, n, s, 20), [0.5, 0.5], atol=1e-12)
    # before any reward both rates are uniform: P(|p1 - p2| < c) = 1 - (1 - c)^2
    from debandit.policies.beta_draws import closer_than

    assert closer_than(0.3, np.ones((1, 2)), np.ones((1, 2)))[0] == pytest.approx(1 - 0.7**2, abs=1e-12)
    with pytest.raises(db.InputError, match="two arms"):
        db.simulate(db.TSPostDiff(), db.worlds.Bernoulli([0.1, 0.2, 0.3]), horizon=5, runs=2)


def test_exp3_by_hand():
    """gamma 1/2, two arms: first 1/2 each; a reward of 1 multiplies the weight by exp(1/2 / (2 * 1/2))."""
    chances = replayed(db.Exp3(gamma=0.5), np.array([0, 0]), np.array([1.0, 0.0]), 2)
    weight = np.exp(0.5)
    np.testing.assert_allclose(chances, [[0.5, 0.5], [0.5 * weight / (weight + 1) + 0.25, 0.5 / (weight + 1) + 0.25]])
    # in a batch both rewards are divided by 1/2, the probability with which their arms were drawn
    batched = replayed(db.Batched(db.Exp3(gamma=0.5), size=2), np.array([0, 0, 0]), np.array([1.0, 1.0, 0.0]), 2)
    np.testing.assert_allclose(batched[:2], 0.5)
    np.testing.assert_allclose(batched[2, 0], 0.5 * weight**2 / (weight**2 + 1) + 0.25)


def test_fixed_weights_by_hand():
    rule = db.FixedWeights([3, 1, 0])
    np.testing.assert_allclose(rule.probabilities(0, [0, 0, 0], [0, 0, 0], 5), [0.75, 0.25, 0.0])
    assert db.simulate(rule, db.worlds.Normal([0, 0, 0], [1, 1, 1]), horizon=50, runs=200).pulls[:, 2].sum() == 0
    with pytest.raises(db.InputError, match="3 weights for 2 arms"):
        db.simulate(rule, db.worlds.Bernoulli([0.1, 0.2]), horizon=5, runs=2)


def test_numbers_of_numpy_are_numbers():
    assert str(db.ExploreThenCommit(np.int64(5))) == "etc(pulls=5)"
    assert str(db.UCB(np.float32(0.5))) == "ucb(c=0.5)"


def test_beta_thompson_with_a_weak_prior_is_fair_at_first():
    """Beta(0.05, 0.05) piles up at 0 and 1; its draws must not tie there. First pulls of two arms: 1/2 each."""
    world = db.worlds.Bernoulli([0.5, 0.5])
    runs = db.simulate(db.BetaThompson(0.05, 0.05), world, horizon=1, runs=200_000, seed=1)
    assert abs(runs.pulls[:, 0].mean() - 0.5) < 4.5 * 0.5 / np.sqrt(200_000)


def test_rules_round_trip_through_their_text():
    for policy, *_ in (*RULES.values(), *OTHERS.values()):
        assert as_policy(str(policy)) == policy
    odd = db.ThompsonSampling(prior_mean=-1.5, noise_sd=2, initial_pulls=3, center="sample")
    assert as_policy(str(odd)) == odd
    assert as_policy("thompson(center=sample, initial_pulls=1)").center == "sample"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.ExploreThenCommit(pulls=0), "pulls must be a whole number from 1 to 100,000,000"),
        (lambda: db.ExploreThenCommit(pulls=2.5), "whole"),
        (lambda: db.UCB(c=-1), "c must be a number from 0 to"),
        (lambda: db.UCB(c=float("nan")), "nan"),
        (lambda: db.UCB(c=float("inf")), "inf"),
        (lambda: db.UCB(c="much"), "much"),
        (lambda: db.UCB(c=True), "True"),
        (lambda: db.UCB(c=10**400), "c must be a number"),
        (lambda: db.EpsilonGreedy(epsilon=1.5), "from 0 to 1"),
        (lambda: db.ThompsonSampling(prior_sd=0), "prior_sd must be a number from 1e-70"),
        (lambda: db.ThompsonSampling(center="sample"), "initial_pulls >= 1"),
        (lambda: db.ThompsonSampling(center="median"), "center must be posterior or sample"),
        (lambda: db.BetaThompson(alpha=0.01), "from 0.05"),
        (lambda: db.FixedWeights([1]), "one for each arm"),
        (lambda: db.FixedWeights("ab"), "weights must be numbers"),
        (lambda: db.FixedWeights("12"), "weights must be numbers"),  # not 1 and 2
        (lambda: db.FixedWeights([1, 10**400]), "weights must be numbers"),
        (lambda: db.Exp3(low=1, high=1), "low must be less than high"),
        (lambda: db.Softmax(temperature=0), "temperature must be a number from 1e-70"),
        (lambda: db.InverseGap(floor=1.1), "floor must be a number from 0 to 1"),
        (lambda: db.InverseGap(initial_pulls=0), "initial_pulls must be a whole number from 1"),
        (lambda: db.LeaderChallenger(share=1.2), "share must be a number from 0 to 1"),
        (lambda: db.GaussianThompson(prior_sd=0), "prior_sd must be a number from 1e-70"),
        (lambda: db.GaussianThompson(initial_pulls=1), "initial_pulls must be a whole number from 2"),
    ],
)
def test_senseless_parameters_are_refused(make, message):
    with pytest.raises(db.InputError, match=message):
        make()


def test_from_which_number_rounds_are_counted():
    """After 3 and 1 pulls the bonuses differ by sqrt(ln t) (1 - 1/sqrt 3): 0.536 with t = 5, and 0.498 with t = 4."""
    pulls, sums = np.array([3, 1]), np.array([3 * 0.51, 0.0])
    for first_t, chances in ((1, [0, 1]), (0, [1, 0])):
        assert db.UCB(first_t=first_t).probabilities(4, pulls, sums, 10).tolist() == chances
    for first_t, epsilon in ((1, 2 / 5), (0, 2 / 4), (2, 2 / 6)):
        rule = db.DecayingEpsilonGreedy(scale=2, first_t=first_t)
        np.testing.assert_allclose(rule.probabilities(4, pulls, sums, 10), [1 - epsilon / 2, epsilon / 2])
    assert (str(db.UCB()), str(db.UCB(first_t=0))) == ("ucb(c=1.0)", "ucb(c=1.0, first_t=0)")


def test_initial_pulls_in_turns_also_where_chances_are_drawn():
    """Three pulls of each arm in turn, in batches of four, in rounds that are drawn and in the counts of the check."""
    policy = as_policy("quota(batched(etc(3, order=turns), 4))")
    runs = db.simulate(policy, "bernoulli([0.3, 0.6])", horizon=40, runs=3, seed=1, paths=True)
    assert runs.path_arms[:, :6].tolist() == [[0, 1, 0, 1, 0, 1]] * 3
    assert all(db.check(runs.log(i), policy).fits for i in range(3))
    blocks = db.simulate("quota(batched(etc(3), 4))", "bernoulli([0.3, 0.6])", horizon=40, runs=1, seed=1, paths=True)
    assert blocks.path_arms[0, :6].tolist() == [0, 0, 0, 1, 1, 1]  # control
