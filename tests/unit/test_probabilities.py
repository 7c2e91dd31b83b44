"""How likely each arm is to be chosen: by hand, against the oracle, by other quadrature, and in the engine's runs."""

import itertools
import math

import numpy as np
import pytest
from catalogue import RULES, Z, replayed
from peeking import Peeking
from scipy import integrate, special, stats

import debandit as db
from debandit.policies import RULES as BUILT_IN
from debandit.policies.beta_draws import highest_beta, second_higher
from debandit.policies.history import History
from debandit.policies.normal_draws import highest_normal


def test_forced_rounds_are_certain():
    policy = db.ExploreThenCommit(pulls=2)
    for t, arm in enumerate([0, 0, 1, 1, 2, 2]):
        np.testing.assert_array_equal(policy.probabilities(t, [0, 0, 0], [0, 0, 0], 9), np.eye(3)[arm])


def test_index_rules_by_hand():
    pulls, sums = [3, 2, 1], [1.5, 1.4, 0.7]  # means 0.5, 0.7, 0.7: the first of the highest
    third = 0.05 / 3
    greedy = db.EpsilonGreedy(0.05).probabilities(6, pulls, sums, 10)
    np.testing.assert_allclose(greedy, [third, third + 0.95, third], rtol=1e-14)
    np.testing.assert_array_equal(db.UCB(c=0.0).probabilities(6, pulls, sums, 10), [0, 1, 0])
    np.testing.assert_array_equal(db.UCB().probabilities(6, pulls, sums, 10), [0, 0, 1])  # the widest bonus
    np.testing.assert_allclose(db.Uniform().probabilities(0, [0, 0, 0], [0, 0, 0], 10), [1 / 3] * 3, rtol=1e-14)


def test_explore_then_commit_stays():
    """In round 7 of two arms with 3 initial pulls arm 1 has 4 pulls: it is the one, whatever its mean has become."""
    policy = db.ExploreThenCommit(pulls=3)
    np.testing.assert_array_equal(policy.probabilities(6, [3, 3], [2, 2], 9), [1, 0])  # a tie
    np.testing.assert_array_equal(policy.probabilities(6, [3, 3], [1, 2], 9), [0, 1])
    np.testing.assert_array_equal(policy.probabilities(7, [4, 3], [2, 2], 9), [1, 0])


def test_thompson_by_hand():
    """Posteriors N(0.5, 1/2) and N(0, 1): Phi(0.5 / sqrt(1.5))."""
    first = 0.5 * (1 + math.erf(0.5 / math.sqrt(1.5) / math.sqrt(2)))
    chances = db.ThompsonSampling().probabilities(1, [1, 0], [1.0, 0.0], 5)
    np.testing.assert_allclose(chances, [first, 1 - first], rtol=1e-14)
    beta = db.BetaThompson().probabilities(1, [1, 0], [1.0, 0.0], 5)  # Beta(2, 1) against a uniform: its mean
    np.testing.assert_allclose(beta, [2 / 3, 1 / 3], rtol=1e-12)


def random_states(rng, arm_count, count, horizon, opening):
    """Totals that a run of 0/1 rewards could have, each arm past its opening."""
    t = rng.integers(opening * arm_count, horizon, count)
    extra = np.array([rng.multinomial(n - opening * arm_count, np.ones(arm_count) / arm_count) for n in t])
    pulls = extra + opening
    return t, pulls, rng.binomial(pulls, rng.random((count, arm_count)))


@pytest.mark.parametrize("rule", RULES)
def test_two_arms_against_the_oracle(rule):
    policy, judge = RULES[rule]
    t, pulls, sums = random_states(np.random.default_rng(61), 2, 400, 60, max(judge.opening, 1))
    if rule.startswith("etc"):  # after the opening only one arm goes on
        pulls[:, 0], pulls[:, 1] = t - judge.opening, judge.opening
        sums = np.minimum(sums, pulls)
    expected = [
        float(judge.probability(tt, *np.array([n[0], s[0], n[1], s[1]], float)[:, None])[0])
        for tt, n, s in zip(t, pulls, sums, strict=True)
    ]
    chances = policy.probabilities(t, pulls, sums, 60)
    np.testing.assert_allclose(chances[:, 1], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(chances.sum(axis=-1), 1, atol=1e-12)
    one_by_one = [policy.probabilities(int(tt), n, s, 60) for tt, n, s in zip(t, pulls, sums, strict=True)]
    np.testing.assert_allclose(one_by_one, chances, rtol=0, atol=1e-12)


def test_the_oracle_tells_rules_apart():
    """Control: another rule's probabilities are far off on the same states."""
    t, pulls, sums = random_states(np.random.default_rng(61), 2, 400, 60, 1)
    one, two = (RULES[name][0].probabilities(t, pulls, sums, 60) for name in ("thompson", "thompson-prior"))
    assert np.abs(one - two).max() > 0.1


def by_quad(density, cdfs, low, high, points):
    total, edges = 0.0, sorted({low, high, *(p for p in points if low < p < high)})
    for a, b in itertools.pairwise(edges):

        def integrand(x):
            return density(x) * math.prod(cdf(x) for cdf in cdfs)

        total += integrate.quad(integrand, a, b, epsabs=1e-13, epsrel=1e-12, limit=400)[0]
    return total


def normal_law(mean, sd):
    """Density and distribution function, of single numbers, at which scipy's own laws are slow."""

    def density(x):
        return math.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))

    def cdf(x):
        return math.erfc((mean - x) / (sd * math.sqrt(2))) / 2

    return density, cdf


@pytest.mark.parametrize("arm_count", [3, 5])
def test_normal_draws_against_adaptive_quadrature(arm_count):
    rng = np.random.default_rng(62)
    location, width = rng.normal(size=(4, arm_count)), 1 / np.sqrt(rng.integers(1, 200, (4, arm_count)))
    chances = highest_normal(location, width)
    for m, s, chance in zip(location, width, chances, strict=True):
        points = np.concatenate([mm + ss * np.arange(-8, 9, 2) for mm, ss in zip(m, s, strict=True)])
        for k in range(arm_count):
            density, _ = normal_law(m[k], s[k])
            cdfs = [normal_law(m[j], s[j])[1] for j in range(arm_count) if j != k]
            assert abs(by_quad(density, cdfs, m[k] - 9 * s[k], m[k] + 9 * s[k], points) - chance[k]) < 1e-10


@pytest.mark.parametrize("arm_count", [2, 3, 10, 40])
def test_normal_draws_of_any_width(arm_count):
    """Equal arms are equally likely, the sum is 1, and two arms have the closed form."""
    rng = np.random.default_rng(63)
    equal = highest_normal(np.full((1, arm_count), 0.3), np.full((1, arm_count), 0.1))
    np.testing.assert_allclose(equal, 1 / arm_count, rtol=0, atol=1e-10)
    location, width = rng.normal(size=(50, arm_count)), 10.0 ** rng.uniform(-5, 3, (50, arm_count))
    chances = highest_normal(location, width)
    np.testing.assert_allclose(chances.sum(axis=-1), 1, rtol=0, atol=1e-10)
    if arm_count == 2:
        gap = (location[:, 1] - location[:, 0]) / np.hypot(*width.T)
        np.testing.assert_allclose(chances[:, 1], special.ndtr(gap), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.05, 0.05), (0.3, 2.0)])
@pytest.mark.parametrize("most", [3, 40, 5000, 10**6])
def test_beta_draws_sum_to_one(alpha, beta, most):
    rng = np.random.default_rng(64)
    for arm_count in (2, 3, 4):
        pulls = rng.integers(0, most, (12, arm_count))
        wins = rng.binomial(pulls, rng.random((12, arm_count)))
        chances = highest_beta(alpha + wins, beta + pulls - wins)
        np.testing.assert_allclose(chances.sum(axis=-1), 1, rtol=0, atol=1e-10)
    equal = highest_beta(np.full((1, 5), alpha + most), np.full((1, 5), beta))
    np.testing.assert_allclose(equal, 0.2, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("a", "c"),
    [
        ((2, 5, 3), (4, 1, 3)),
        ((800, 830, 3), (1200, 1190, 4)),
        ((1.5, 0.7, 1), (1, 2, 3)),
        ((30_000, 30_100, 3), (60_000, 60_400, 7)),
        ((310, 335, 12, 290), (9_700, 9_900, 400, 9_600)),
    ],
)
def test_beta_draws_against_adaptive_quadrature(a, c):
    chances = highest_beta(np.array([a], float), np.array([c], float))[0]
    laws = [stats.beta(*pair) for pair in zip(a, c, strict=True)]
    points = [law.ppf(q) for law in laws for q in (1e-12, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-6)]
    for k, law in enumerate(laws):
        others = [other.cdf for j, other in enumerate(laws) if j != k]
        assert abs(by_quad(law.pdf, others, 0.0, 1.0, points) - chances[k]) < 1e-10


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.05, 0.3), (2.0, 3.0)])
def test_beta_tables_are_the_quadrature(alpha, beta):
    """Also the smallest entries, relatively."""
    for n1, n2 in ((0, 0), (0, 3), (4, 0), (5, 7), (30, 12)):
        s1, s2 = (wins.ravel() for wins in np.mgrid[: n1 + 1, : n2 + 1])
        a, c = np.stack([s1, s2], -1) + alpha, np.stack([n1 - s1, n2 - s2], -1) + beta
        table = second_higher(alpha, beta, n1, n2, 60)
        np.testing.assert_allclose(table.ravel(), highest_beta(a, c, fine=True)[:, 1], rtol=1e-10)


def test_long_and_short_horizons_agree():
    """Above 1000 rounds there are no tables for two arms."""
    t, pulls, sums = random_states(np.random.default_rng(65), 2, 100, 60, 1)
    policy = db.BetaThompson()
    short, long = (policy.probabilities(t, pulls, sums, horizon) for horizon in (60, 2000))
    np.testing.assert_allclose(short, long, rtol=0, atol=1e-12)


def residuals(played, declared, horizon, runs):
    """(arm was chosen) - (its declared probability), of expectation 0, and that probability, in runs of three arms."""
    world = db.worlds.Bernoulli([0.3, 0.6, 0.5])
    made = db.simulate(RULES[played][0], world, horizon=horizon, runs=runs, seed=66, paths=True)
    seen = History(made.path_arms, made.path_rewards, 3)
    chances = RULES[declared][0].probabilities(np.arange(horizon), seen.pulls, seen.sums, horizon)
    return (made.path_arms[..., None] == np.arange(3)) - chances, chances


def choice_z(played, declared):
    """Of each arm's residuals, added up over the rounds, alone and times the probability."""
    residual, chances = residuals(played, declared, horizon=12, runs=4000)
    per_run = np.concatenate([residual.sum(axis=1), (residual * chances).sum(axis=1)], axis=-1)
    return per_run.mean(axis=0) / (per_run.std(axis=0) / np.sqrt(len(per_run)))


@pytest.mark.parametrize(
    "rule", [name for name, (policy, _) in RULES.items() if policy.randomised and name != "uniform"]
)
def test_three_arms_against_the_engine(rule):
    assert np.abs(choice_z(rule, rule)).max() < Z


@pytest.mark.parametrize(
    ("played", "declared"),
    [("thompson", "thompson-prior"), ("epsilon", "epsilon-wide"), ("beta", "thompson"), ("uniform", "beta")],
)
def test_the_engine_tells_rules_apart(played, declared):
    """Control."""
    assert np.abs(choice_z(played, declared)).max() > 2 * Z


@pytest.mark.parametrize("rule", ["etc-short", "ucb", "greedy"])
def test_deterministic_rules_choose_what_the_engine_chose(rule):
    residual, _ = residuals(rule, rule, horizon=30, runs=3000)
    assert not residual.any()
    other, _ = residuals(rule, "ucb-wide", horizon=30, runs=3000)
    assert other.any()  # control: another rule


def test_every_rule_says_whether_it_is_random():
    assert {name for name, rule in BUILT_IN.items() if not rule.randomised} == {
        "etc",
        "greedy",
        "ucb",
        "ucb_tuned",
        "kl_ucb",
        "successive_elimination",
    }


def test_a_rule_with_code_of_its_own_must_say_its_probabilities():
    with pytest.raises(db.InputError, match="method probabilities"):
        Peeking().probabilities(0, [0, 0], [0, 0], 5)


@pytest.mark.parametrize("rule", ["kl_ucb(ties=random)", "ucb_tuned(ties=random)"])
def test_prescribed_rounds_have_no_scores_to_tie(rule):
    """Their choice is certain, and no warning of a division by 0 comes up (warnings are errors here)."""
    arms, rewards = np.array([0, 1, 0, 1]), np.array([1.0, 1.0, 0.0, 0.0])
    chances = replayed(db.policies.as_policy(rule), arms, rewards, 2)
    np.testing.assert_array_equal(chances[:3], [[1, 0], [0, 1], [0.5, 0.5]])
    np.testing.assert_array_equal(chances[3], [0, 1])  # pulled once and won, against one win of two
