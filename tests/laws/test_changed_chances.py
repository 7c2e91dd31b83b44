"""Wrappers that go by chances, in all ways of playing: the oracle, exact values and laws, with controls."""

import functools

import numpy as np
import oracle
import pytest
from catalogue import RULES, WORLDS, Z, replayed, z_scores

import debandit as db
from debandit.checking.batch_counts import compare_batches, judge_batches
from debandit.engine import experiment
from debandit.policies import as_policy
from debandit.theory.dynamic import exact_two_arms

TRUTH = {2: (0.35, 0.6), 3: (0.35, 0.6, 0.5)}
HORIZON, SIZE = 45, 9

# around softmax with three arms, and around the others with two: (text, what the oracle makes of chances)
CHANGES = {
    "clip": ("floor({}, 0.25, how=clip)", lambda k: [oracle.clipping([0.25] * k)]),
    "mix-falls": ("floor({}, decay=0.5)", lambda k: [oracle.mixing([1 / k] * k, 0.5)]),
    "clip-falls": ("floor({}, decay=0.2, how=clip)", lambda k: [oracle.clipping([1 / k] * k, 0.2)]),
    "control": ("floor({}, shares={control})", lambda k: [oracle.mixing([0.5] + [0.0] * (k - 1))]),
    "power": ("tempered({}, power=0.3)", lambda k: [oracle.tempering(0.3)]),
    "drop": ("drop({}, below=0.29)", lambda k: [oracle.dropping(0.29)]),
    "quota": ("quota({})", lambda k: []),
    "tempered-quota": ("quota(tempered({}, power=0.3))", lambda k: [oracle.tempering(0.3)]),
    "gate": ("gate({}, 7)", lambda k: []),
    "gate-successes": ("gate({}, pulls=0, successes=4)", lambda k: []),
    "gate-quota": ("gate(quota({}), pulls=6, successes=3)", lambda k: []),
    "late": ("delayed({}, 13)", lambda k: []),
    "late-batches": ("delayed({}, batches=2)", lambda k: []),
    "late-batches-falls-quota": (
        "delayed(quota(floor({}, decay=0.3, how=clip)), batches=2)",
        lambda k: [oracle.clipping([1 / k] * k, 0.3)],
    ),
    "several": (
        "floor(tempered(drop({}, below=0.15), power=2), 0.1)",
        lambda k: [oracle.dropping(0.15), oracle.tempering(2.0), oracle.mixing([0.1] * k)],
    ),
}
CASES = [
    *(("softmax(0.3)", oracle.softmax(0.3), 3, change) for change in CHANGES),
    ("softmax(0.3)", oracle.softmax(0.3), 3, "exploration"),
    ("thompson", oracle.thompson(), 2, "clip"),
    ("beta_thompson", oracle.beta_thompson(), 2, "drop"),
    ("thompson(draws=5)", oracle.thompson(), 2, "power"),
    ("beta_thompson(draws=5)", oracle.beta_thompson(), 2, "tempered-quota"),
    ("epsilon_greedy(0.4)", oracle.epsilon_greedy(0.4), 2, "power"),
    ("ucb", oracle.ucb(), 2, "clip-falls"),
    ("inverse_gap(10)", oracle.inverse_gap(10.0), 3, "late-batches"),
    ("leader_challenger", oracle.leader_challenger(), 3, "gate"),
    ("gaussian_thompson", oracle.gaussian_thompson(), 2, "clip"),
    ("gaussian_thompson(draws=5)", oracle.gaussian_thompson(), 2, "tempered-quota"),
    ("greedy", oracle.greedy(), 2, "gate"),
    ("greedy", oracle.greedy(), 2, "late"),
    ("greedy(3)", oracle.greedy(3), 2, "late-batches"),
    ("greedy(2)", oracle.greedy(2), 2, "gate-quota"),
]
CHANGES["exploration"] = ("tempered({})", lambda k: [oracle.tempering()])  # with two arms it is uniform


def wrapped(rule, change, arms, size=SIZE):
    control = str([0.5] + [0] * (arms - 1))
    return as_policy(CHANGES[change][0].format(f"batched({rule}, {size})" if size else rule, control=control))


def moments(pulls, sums):
    values = np.concatenate([pulls, sums, pulls**2, pulls * sums], axis=1)
    return values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values)) + 1e-12


def worst(one, two):
    return np.abs(z_scores(one[0] - two[0], one[1], two[1])).max()


@functools.cache
def slow(case):
    rule, judge, arms, change = CASES[case]
    rng, found = np.random.default_rng(7), []
    around = oracle.Wrapping(
        size=SIZE,
        late=13 if change == "late" else 0,
        late_batches=2 if "late-batches" in change else 0,
        gate={"gate": (7, 0), "gate-successes": (0, 4), "gate-quota": (6, 3)}.get(change, ()),
        changes=tuple(CHANGES[change][1](arms)),
        quota="quota" in change,
        draws=5 if "draws=5" in rule else 0,
    )
    for _ in range(150):
        path, rewards, _ = oracle.play(
            judge, around, arms, HORIZON, lambda _, arm: float(rng.random() < TRUTH[arms][arm]), rng
        )
        found.append([np.bincount(path, minlength=arms), np.bincount(path, rewards, arms)])
    return moments(*np.array(found).swapaxes(0, 1))


@functools.cache
def fast(rule, change, arms, paths, runs):
    policy = wrapped(rule, change, arms) if change else as_policy(f"batched({rule}, {SIZE})")
    found = db.simulate(policy, db.worlds.Bernoulli(TRUTH[arms]), horizon=HORIZON, runs=runs, seed=3, paths=paths)
    return moments(found.pulls, found.sums)


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda i: f"{CASES[i][0]}-{CASES[i][3]}")
def test_against_the_oracle(case, monkeypatch):
    """Whole batches in single steps, and round by round."""
    monkeypatch.setattr(experiment, "WORTH_A_STEP", 1)
    rule, _, arms, change = CASES[case]
    steps, rounds = (fast(rule, change, arms, paths, 4000) for paths in (False, True))
    assert worst(steps, slow(case)) < Z
    assert worst(rounds, slow(case)) < Z
    assert worst(steps, rounds) < Z
    if change != "quota":  # which has its control below
        # control: the rule with its own chances, in more runs, because some changes are small (softmax-several)
        many, own = (fast(rule, each, arms, False, 16_000) for each in (change, ""))
        assert worst(many, own) > Z


@pytest.mark.parametrize("change", ["clip", "clip-falls", "power", "drop", "several"])
@pytest.mark.parametrize("rule", ["epsilon-wide", "beta"])
def test_exact_values_without_batches(rule, change):
    policy, judge = RULES[rule]
    changes = CHANGES[change][1](2)

    def probability(t, n1, s1, n2, s2):
        second = np.atleast_1d(judge.probability(t, n1, s1, n2, s2))
        return np.array([_after(changes, [1 - p, p], t + 1)[1] for p in second.tolist()])

    exact = oracle.enumerate_two_arms(judge._replace(probability=probability), 0.4, 0.55, 12)
    ours = exact_two_arms(wrapped(str(policy), change, 2, size=0), 0.4, 0.55, 12)
    np.testing.assert_allclose(ours.bias, exact.bias, rtol=0, atol=1e-9)
    assert np.abs(exact_two_arms(policy, 0.4, 0.55, 12).bias - exact.bias).max() > 1e-4  # control


def _after(changes, chances, t):
    for change in changes:
        chances = change(chances, t)
    return chances


def test_drawn_rounds_without_batches():
    """Round by round in numpy against the exact values."""
    policy = as_policy("drop(epsilon_greedy(0.4), below=0.25)")
    exact = exact_two_arms(policy, 0.4, 0.55, 20).bias
    runs = db.simulate(policy, db.worlds.Bernoulli([0.4, 0.55]), horizon=20, runs=30_000, seed=2)
    assert np.abs(z_scores(runs.bias() - exact, runs.bias_se())).max() < Z
    plain = exact_two_arms(policy.core, 0.4, 0.55, 20).bias
    assert np.abs(z_scores(runs.bias() - plain, runs.bias_se())).max() > 2 * Z  # control


@pytest.mark.parametrize("change", CHANGES)
def test_choices_are_as_likely_as_the_wrapped_rule_says(change):
    """The sum over rounds of 1{arm pulled} - P(arm | past) is a martingale; so is that of its products with P."""
    policy = wrapped("softmax(0.3)", change, 3)
    runs = db.simulate(policy, db.worlds.Bernoulli(TRUTH[3]), horizon=HORIZON, runs=3000, seed=5, paths=True)

    def unlikely(declared):
        chances = replayed(declared, runs.path_arms, runs.path_rewards, 3)
        surprise = (runs.path_arms[..., None] == np.arange(3)) - chances
        sums = np.concatenate([surprise.sum(axis=1), (surprise * chances).sum(axis=1)], axis=1)
        return np.abs(z_scores(sums.mean(axis=0), sums.std(axis=0) / np.sqrt(len(sums)) + 1e-12)).max()

    assert unlikely(policy) < Z
    other = "softmax(0.5)" if change == "quota" else "uniform" if change.startswith(("gate", "late")) else policy.core
    assert unlikely(as_policy(f"batched({other}, {SIZE})")) > 2 * Z  # control


@pytest.mark.parametrize(
    ("change", "world"),
    [*(("several", world) for world in WORLDS), *((c, "normal") for c in ("clip-falls", "control", "gate", "late"))],
)
def test_sums_are_fair(change, world):
    """E[S - mu N] = 0 in every world, and a world that lies by 0.1 is caught."""
    place = WORLDS[world]
    runs = db.simulate(wrapped("softmax(0.3)", change, 3), place, horizon=HORIZON, runs=6000, seed=11)

    def z(truth):
        residual = runs.sums - truth * runs.pulls
        return z_scores(residual.mean(axis=0), residual.std(axis=0, ddof=1) / np.sqrt(len(residual)))

    assert np.abs(z(place.means)).max() < Z
    assert np.abs(z(place.means + 0.1)).max() > 2 * Z


@pytest.mark.parametrize("change", ["power", "late"])
def test_rules_that_go_by_squares(change):
    """Rewards on a scale: drawn in steps, whose squares are chi-squared, and in rounds; replayed with their chances."""
    text, place = CHANGES[change][0], WORLDS["normal"]
    rules = "gaussian_thompson(initial_pulls=4)", "thompson(initial_pulls=4, noise_sd=4)"
    policy, other = (as_policy(text.format(f"batched({rule}, 20)")) for rule in rules)
    steps = db.simulate(policy, place, horizon=120, runs=4000, seed=5)
    rounds, control = (db.simulate(each, place, horizon=120, runs=4000, seed=6, paths=True) for each in (policy, other))
    assert worst(moments(steps.pulls, steps.sums), moments(rounds.pulls, rounds.sums)) < Z
    assert worst(moments(steps.pulls, steps.sums), moments(control.pulls, control.sums)) > 2 * Z

    def surprise(declared):
        arms, rewards = rounds.path_arms[:1000], rounds.path_rewards[:1000]
        chances = replayed(declared, arms, rewards, 3)
        beyond = ((arms[..., None] == np.arange(3)) - chances)[:, 20:]
        sums = np.concatenate([beyond.sum(axis=1), (beyond * chances[:, 20:]).sum(axis=1)], axis=1)
        return np.abs(z_scores(sums.mean(axis=0), sums.std(axis=0) / np.sqrt(len(sums)))).max()

    assert surprise(policy) < Z
    assert surprise(other) > 2 * Z


@pytest.mark.parametrize("paths", [False, True])
def test_repeatable_whatever_the_threads_and_the_number_of_runs(paths):
    policy, place = wrapped("softmax(0.3)", "several", 3), db.worlds.Bernoulli(TRUTH[3])
    one, two = (db.simulate(policy, place, horizon=HORIZON, runs=600, seed=8, threads=n, paths=paths) for n in (1, 2))
    few = db.simulate(policy, place, horizon=HORIZON, runs=100, seed=8, paths=paths)
    np.testing.assert_array_equal(one.sums, two.sums)
    np.testing.assert_array_equal(one.pulls[:100], few.pulls)
    assert (one.pulls != db.simulate(policy, place, horizon=HORIZON, runs=600, seed=9, paths=paths).pulls).any()


def test_the_check_tells_changes_apart():
    """Of batches of 200, by their counts; of small ones by their rounds."""
    place = db.worlds.Bernoulli(TRUTH[3])
    for size, horizon in ((200, 2000), (20, 400)):
        policy, other = wrapped("softmax(0.3)", "clip", 3, size), wrapped("softmax(0.3)", "power", 3, size)
        log = db.simulate(policy, place, horizon=horizon, runs=1, seed=4, paths=True).log(0)
        assert db.check(log, policy).fits
        assert not db.check(log, other).fits


def test_quotas_keep_counts_close_to_their_shares():
    """Dealt in quotas, the counts of a batch lie within K - 1 of n p, and are n p on average; drawn they do not."""
    weights, size = np.array([0.513, 0.287, 0.2]), 100
    for text, within in (("quota(batched(fixed_weights({}), 100))", True), ("batched(fixed_weights({}), 100)", False)):
        policy = as_policy(text.format(weights.tolist()))
        for paths in (False, True):
            runs = db.simulate(policy, WORLDS["bernoulli"], horizon=size, runs=500, seed=1, paths=paths)
            gap = runs.pulls - size * weights
            assert (np.abs(gap).max() < 3) == within
            assert np.abs(z_scores(gap.mean(axis=0), gap.std(axis=0) / np.sqrt(500) + 1e-12)).max() < Z


def test_the_check_knows_quotas():
    """Counts that are drawn user by user are impossible under quotas, and those of quotas too close to be drawn."""
    place = db.worlds.Bernoulli(TRUTH[3])
    drawn, quota = "batched(softmax(0.3), 200)", "quota(batched(softmax(0.3), 200))"
    logs = [db.simulate(each, place, horizon=4000, runs=1, seed=6, paths=True).log(0) for each in (drawn, quota)]
    assert db.check(logs[0], drawn).fits
    assert db.check(logs[1], quota).fits
    wrong = db.check(logs[0], quota)
    assert wrong.verdict == "impossible"
    assert "the rule's quotas give it at least" in str(wrong)
    assert "closer to the expected counts than chance allows" in " ".join(str(db.check(logs[1], drawn)).split())


def test_quotas_without_batches_make_no_sense():
    with pytest.raises(db.InputError, match="quotas are for rules in batches"):
        db.simulate("quota(uniform)", WORLDS["bernoulli"], horizon=10, runs=2)


def test_shares_of_few_draws_spread_the_counts():
    """Var N = n p (1 - p) (1 + (n - 1) / draws) in a batch of n: E Var plus Var E of a binomial with a random share."""
    size, draws = 60, 20
    for text, factor in ((f"beta_thompson(draws={draws})", 1 + (size - 1) / draws), ("beta_thompson", 1.0)):
        for paths in (False, True):
            runs = db.simulate(
                f"batched({text}, {size})", "bernoulli([0.3, 0.6])", horizon=size, runs=4000, seed=3, paths=paths
            )
            squares = (runs.pulls[:, 0] - size / 2.0) ** 2
            assert abs(squares.mean() - size / 4 * factor) < Z * squares.std() / np.sqrt(4000)
    assert as_policy("beta_thompson(draws=20)").conditions(2, 9).by_chances is False  # one user, one draw


@pytest.mark.parametrize("wrap", ["quota(tempered(batched({}, 200), power=0.5))", "drop(batched({}, 200), below=0.1)"])
def test_the_check_knows_shares_of_draws(wrap):
    """Of logs by 300 draws about 5 % are rejected; if the shares are said to be exact, far more are."""
    right, exact = (as_policy(wrap.format(f"thompson(draws={draws})")) for draws in (300, 0))
    runs = db.simulate(right, db.worlds.Normal([0.0, 0.1, 0.05], [1.0] * 3), horizon=1600, runs=60, seed=2, paths=True)

    def rejected(policy, i):
        found = compare_batches(runs.log(i), policy, 8)
        if found.impossible.any():
            return True
        return judge_batches(found, ("1", "2", "3"), np.random.default_rng(i)).p_value < 0.05

    shares = [np.mean([rejected(policy, i) for i in range(60)]) for policy in (right, exact)]
    error = np.sqrt(0.05 * 0.95 / 60)
    assert shares[0] < 0.05 + Z * error
    assert shares[1] > 0.05 + 2 * Z * error  # control


def test_a_gate_without_batches():
    """Exact: with pulls=2 the gate opens when both arms have two, and then the rule's greedy choice is pulled."""
    policy = as_policy("gate(greedy, 2)")

    def probability(t, n1, s1, n2, s2):
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where((n1 < 2) | (n2 < 2), 0.5, s2 / n2 > s1 / n1)

    exact = oracle.enumerate_two_arms(oracle.greedy()._replace(opening=0, probability=probability), 0.4, 0.55, 14)
    np.testing.assert_allclose(exact_two_arms(policy, 0.4, 0.55, 14).bias, exact.bias, rtol=0, atol=1e-12)
    runs = db.simulate(policy, db.worlds.Bernoulli([0.4, 0.55]), horizon=14, runs=40_000, seed=2)
    assert np.abs(z_scores(runs.bias() - exact.bias, runs.bias_se())).max() < Z
    plain = exact_two_arms("greedy", 0.4, 0.55, 14).bias
    assert np.abs(z_scores(runs.bias() - plain, runs.bias_se())).max() > 2 * Z  # control


def test_the_check_knows_gates():
    """Uniform draws before the gate is open, none after it."""
    place = db.worlds.Bernoulli([0.3, 0.6])
    for inner, horizon in (("ucb", 300), ("batched(ucb, 60)", 1200)):
        right, late, none = f"gate({inner}, 40)", f"gate({inner}, 400)", inner
        log = db.simulate(right, place, horizon=horizon, runs=1, seed=3, paths=True).log(0)
        assert db.check(log, right).fits
        assert not db.check(log, late).fits
        assert not db.check(log, none).fits


def test_what_gates_need():
    with pytest.raises(db.InputError, match="0/1 rewards"):
        db.simulate("gate(ucb, successes=5)", WORLDS["normal"], horizon=10, runs=2)
    assert as_policy("gate(ucb, pulls=0)").conditions(2, 9) == as_policy("ucb").conditions(2, 9)


def test_deterministic_rules_decide_as_the_oracle_does_with_a_delay():
    """Decision for decision, without batches and with them, turns until the initial pulls are heard of included."""
    for text, judge, around in (
        ("delayed(ucb, 5)", oracle.ucb(), oracle.Wrapping(late=5)),
        ("delayed(batched(ucb(initial_pulls=2), 4), 5)", oracle.ucb(opening=2), oracle.Wrapping(late=5, size=4)),
        ("delayed(batched(ucb, 4), batches=2)", oracle.ucb(), oracle.Wrapping(late_batches=2, size=4)),
        ("delayed(warm_up(greedy, pulls=3), 7)", oracle.greedy(), oracle.Wrapping(turns=3, late=7)),
    ):
        policy = as_policy(text)
        runs = db.simulate(policy, WORLDS["normal"], horizon=48, runs=20, seed=3, paths=True)
        chances = replayed(policy, runs.path_arms, runs.path_rewards, 3)
        for taken, given, likely in zip(runs.path_arms, runs.path_rewards, chances, strict=True):
            rewards = given.tolist()
            chosen, _, own = oracle.play(
                judge, around, 3, 48, lambda t, _, rewards=rewards: rewards[t], None, arm_of=taken.__getitem__
            )
            np.testing.assert_array_equal(chosen, taken)
            np.testing.assert_array_equal(likely.argmax(axis=-1), taken)
            assert own.sum() > 20
        alone = replayed(policy.core, runs.path_arms, runs.path_rewards, 3)
        assert (alone.argmax(axis=-1) != runs.path_arms).any()  # control: without the delay


def test_the_check_knows_delays():
    place = db.worlds.Bernoulli(TRUTH[2])
    for right, wrong, horizon in (
        ("delayed(ucb, 20)", "ucb", 200),
        ("delayed(ucb, 20)", "delayed(ucb, 19)", 200),
        ("delayed(batched(thompson, 100), batches=1)", "batched(thompson, 100)", 3000),
    ):
        log = db.simulate(right, place, horizon=horizon, runs=1, seed=3, paths=True).log(0)
        assert db.check(log, right).fits
        assert not db.check(log, wrong).fits


def test_what_delays_need():
    for text, message in (
        ("delayed(ucb)", "give the delay, as rounds=200 or batches=1"),
        ("delayed(ucb, rounds=2, batches=1)", "either in rounds or in batches"),
    ):
        with pytest.raises(db.InputError, match=message):
            as_policy(text)
    for text, message in (
        ("delayed(ucb, batches=1)", "the delay is in batches, but this rule has no batches"),
        ("quota(delayed(batched(uniform, 5), 3))", "quotas do not go with a delay in rounds"),
    ):
        with pytest.raises(db.InputError, match=message):
            db.simulate(text, WORLDS["bernoulli"], horizon=20, runs=2)


def test_a_batch_has_one_share_of_each_arm():
    """A delay of 30 rounds cuts the batch of 60 in two, which must not make the shares of 20 draws more exact.

    Var N is 15 (1 + 59 / 20) + 1/4 with the last user; it would be 15 (1 + 29 / 20) + 1/4 with shares for each half.
    """
    policy = as_policy("delayed(batched(beta_thompson(draws=20), [60, 1]), 30)")
    for paths in (False, True):
        runs = db.simulate(policy, "bernoulli([0.5, 0.5])", horizon=61, runs=4000, seed=4, paths=paths)
        squares = (runs.pulls[:, 0] - 30.5) ** 2
        error = squares.std() / np.sqrt(4000)
        assert abs(squares.mean() - 59.5) < Z * error
        assert abs(squares.mean() - 37.0) > 2 * Z * error  # control
