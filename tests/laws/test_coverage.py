"""What the intervals keep, and what the textbook's does not: by simulation, and exactly for two Bernoulli arms."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from catalogue import Z, replayed

import debandit as db
from debandit.intervals import binary, interval_of
from debandit.policies import RULES, as_policy
from debandit.study.coverage import FAMILIES, coverage_study
from debandit.study.enumeration import ENUMERATED, exact_minimum
from debandit.study.methods import YARDSTICK
from debandit.study.population import CONTINUOUS
from debandit.study.rows import FIELDS
from debandit.theory import exact_counts, exact_two_arms


@pytest.fixture(scope="module")
def found():
    return coverage_study(settings=8, experiments=1000, seed=3).run(progress="none")


def below(arms):
    """The share of arms below 93 %."""
    return float((arms.values < 0.93).mean())


def surely_below(arms):
    """How many arms chance alone does not put there."""
    return int((arms.values + Z * arms.errors < 0.93).sum())


def test_pooled_t_keeps_what_is_said(found):
    """At most 1.5 % of the arms below 93 %, up to the error of a share among so many arms; mean width at most 1.3."""
    arms = found.arms("pooled-t", *CONTINUOUS)
    most = 0.015 + Z * np.sqrt(0.015 * 0.985 / len(arms.values))
    assert below(arms) <= most
    assert arms.widths.mean() <= 1.3
    for control in ("wald", YARDSTICK):
        assert below(found.arms(control, *CONTINUOUS)) > most
    np.testing.assert_array_equal(found.arms(YARDSTICK, *CONTINUOUS).widths, 1.0)


@pytest.mark.parametrize(("method", "family"), [("two-part", "zero-inflated"), ("binary", "binary")])
def test_no_arm_is_below_by_more_than_chance(found, method, family):
    assert surely_below(found.arms(method, family)) == 0
    assert surely_below(found.arms("wald", family)) > 0  # control


def test_the_tables_have_every_family_rule_and_number_of_pulls(found, tmp_path):
    text = found.to_markdown()
    for part in (*FAMILIES, "etc, continuous", "thompson, binary", "epsilon_greedy, zero-inflated", "6-10", "--seed 3"):
        assert part in text
    assert {path.name for path in found.save(tmp_path)} == {"table.md", "rows.csv", "rows.parquet"}
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == len(found.rows)
    with (tmp_path / "rows.csv").open() as file:
        assert next(csv.reader(file)) == list(FIELDS)
    assert str(found).startswith("8 random settings of each family, 1,000 experiments in each, seed 3")
    assert {path.suffix for path in found.draw(tmp_path)} == {".svg", ".png", ".pdf"}


# Known to be below 0.93: the sd is half of what 0/1 rewards can have, so that arms are dropped rashly
RASH = {"successive_elimination(sd=0.25)": 0.926}


@pytest.mark.parametrize("rule", ENUMERATED)
def test_binary_exactly(rule):
    """No random numbers: the least coverage over a grid of truths; docs/coverage.md has other numbers of rounds."""
    worst = exact_minimum(rule, {"ts_postdiff": 20, "exp3": 16}.get(rule, 40))
    assert worst["binary"][0] >= RASH.get(rule, 0.93)
    assert worst["wald"][0] < 0.6  # control


def test_there_is_no_floor_of_93_percent():
    """What is said of the interval is the lowest value of docs/coverage.md: KL-UCB with 60 rounds."""
    least = exact_minimum("kl_ucb", 60, (0.9, 0.95))["binary"][0]
    log = db.ExperimentLog([0, 1] * 4, [0, 1, 1, 0] * 2)
    assert f"two arms by enumeration: {100 * least:.1f} %" in interval_of(log).known
    lines = (Path(__file__).parents[2] / "docs" / "coverage.md").read_text().splitlines()
    (row,) = [line for line in lines if line.startswith("| `kl_ucb` |")]
    assert f"{least:.4f} (0.95, 0.9)" in row


def test_every_rule_is_enumerated():
    assert {as_policy(rule).name for rule in ENUMERATED} == set(RULES)


def by_all_paths(policy, truths, horizon):
    """P(n pulls and s wins) at [arm, n, s], from the probabilities of all 4^T paths, one by one."""
    codes = np.array(list(itertools.product(range(4), repeat=horizon)))
    arms, rewards = codes // 2, codes % 2
    turns = np.arange(policy.opening * 2) // max(policy.opening, 1)
    possible = (arms[:, : len(turns)] == turns).all(axis=1)
    arms, rewards = arms[possible], rewards[possible].astype(float)
    chances = np.take_along_axis(replayed(policy, arms, rewards, 2), arms[..., None], axis=-1)[..., 0]
    wins = np.array(truths)[arms]
    weights = (chances * np.where(rewards == 1, wins, 1 - wins)).prod(axis=1)
    table = np.zeros((2, horizon + 1, horizon + 1))
    for arm in range(2):
        mine = arms == arm
        np.add.at(table[arm], (mine.sum(axis=1), (rewards * mine).sum(axis=1).astype(int)), weights)
    return table


@pytest.mark.parametrize(
    "rule",
    [
        "ucb_tuned",
        "kl_ucb(c=1)",
        "gaussian_thompson(prior_mean=0.5,prior_sd=0.3,least_sd=0.1)",
        "successive_elimination(delta=0.5,sd=0.1)",
        "exp3(gamma=0.3,high=2)",
        "ts_postdiff(c=0.2)",
    ],
)
def test_rules_with_more_than_totals_against_all_paths(rule):
    """What the programme knows of rules that go by variances or remember something: all paths of 7 rounds say so."""
    paths = by_all_paths(as_policy(rule), (0.3, 0.6), 7)
    np.testing.assert_allclose(exact_counts(rule, 0.3, 0.6, 7), paths, rtol=0, atol=1e-14)
    assert np.abs(exact_counts(rule, 0.3, 0.61, 7) - paths).max() > 1e-3  # control


@pytest.mark.parametrize("rule", ["ucb_tuned(ties=random)", "kl_ucb(ties=random)", "successive_elimination(sd=0.25)"])
def test_ties_and_eliminations_against_runs(rule):
    """Expected pulls of 40 rounds by enumeration and by 100,000 runs."""
    runs = db.simulate(rule, "bernoulli(means=[0.1,0.8])", horizon=40, runs=100_000, seed=8)
    pulls, error = runs.pulls.mean(axis=0), runs.pulls.std(axis=0) / np.sqrt(100_000)
    assert np.abs(exact_two_arms(rule, 0.1, 0.8, 40).pulls - pulls).max() < Z * error.max()
    assert np.abs(exact_two_arms(rule, 0.1, 0.75, 40).pulls - pulls).min() > Z * error.max()  # control


def test_ties_to_the_last_arm_exchange_the_arms():
    for rule in ("greedy", "kl_ucb"):
        first, last = exact_counts(rule, 0.3, 0.4, 20), exact_counts(f"{rule}(ties=last)", 0.4, 0.3, 20)
        np.testing.assert_allclose(first, last[::-1], rtol=0, atol=1e-14)


def test_exp3_is_enumerated_only_so_far():
    for rule, horizon in (("exp3", 23), ("exp3(low=-1)", 10)):
        with pytest.raises(db.InputError, match="up to 22 rounds"):
            exact_counts(rule, 0.3, 0.6, horizon)


def test_exact_coverage_is_that_of_simulation():
    """One pair of truths by enumeration and by 20,000 runs: UCB, 40 rounds."""
    least, p, q = exact_minimum("ucb", 40, (0.3,))["binary"]
    assert (p, q) == (0.3, 0.3)
    runs = db.simulate("ucb", "bernoulli(means=[0.3,0.3])", horizon=40, runs=20_000, seed=4)
    low, high = binary(runs.pulls.astype(float), runs.sums, 0.95)
    share = ((low <= 0.3) & (high >= 0.3)).mean(axis=0)
    assert abs(share - least).min() < Z * np.sqrt(least * (1 - least) / 20_000)
