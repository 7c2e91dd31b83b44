"""What the intervals keep, and what the textbook's does not: by simulation, and exactly for two Bernoulli arms."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest
from catalogue import Z

import debandit as db
from debandit.intervals import binary
from debandit.study.coverage import FAMILIES, coverage_study
from debandit.study.exact_coverage import exact_minimum
from debandit.study.intervals import YARDSTICK
from debandit.study.population import CONTINUOUS
from debandit.study.rows import FIELDS


@pytest.fixture(scope="module")
def found():
    return coverage_study(settings=12, experiments=1000, seed=3).run(progress="none")


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
    assert str(found).startswith("12 random settings of each family, 1,000 experiments in each, seed 3")
    assert {path.suffix for path in found.draw(tmp_path)} == {".svg", ".png", ".pdf"}


@pytest.mark.parametrize("rule", ["etc(pulls=5)", "ucb", "beta_thompson", "epsilon_greedy", "play_the_winner"])
def test_binary_exactly(rule):
    """No random numbers: the least coverage over a grid of truths; docs/coverage.md has a finer one and all rules."""
    worst = exact_minimum(rule, 40, (0.02, 0.1, 0.3, 0.5, 0.8, 0.95))
    assert worst["binary"][0] > 0.93
    assert worst["wald"][0] < 0.6  # control


def test_exact_coverage_is_that_of_simulation():
    """One pair of truths by enumeration and by 20,000 runs: UCB, 40 rounds."""
    least, p, q = exact_minimum("ucb", 40, (0.3,))["binary"]
    assert (p, q) == (0.3, 0.3)
    runs = db.simulate("ucb", "bernoulli(means=[0.3,0.3])", horizon=40, runs=20_000, seed=4)
    low, high = binary(runs.pulls.astype(float), runs.sums, 0.95)
    share = ((low <= 0.3) & (high >= 0.3)).mean(axis=0)
    assert abs(share - least).min() < Z * np.sqrt(least * (1 - least) / 20_000)
