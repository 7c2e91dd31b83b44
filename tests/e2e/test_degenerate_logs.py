"""Logs that leave little to work with, through the command line with its default options: what is right for each."""

import json

import commands
import numpy as np
import pytest

RANDOM = np.random.default_rng(7)
FORCED = ("--policy", "ucb", "--force")
MANY, SOME = RANDOM.normal(0.0, 1.0, 20), RANDOM.normal(1.0, 1.0, 15)


def run(tmp_path, samples, *options):
    """The command on a log of such arms, whose rounds are shuffled: no rule made them, hence the --force."""
    labels = [f"arm{k}" for k in range(len(samples))]
    rounds = [(label, reward) for label, sample in zip(labels, samples, strict=True) for reward in sample]
    shuffled = [rounds[i] for i in np.random.default_rng(1).permutation(len(rounds))]
    (tmp_path / "log.csv").write_text("arm,reward\n" + "".join(f"{a},{float(x)!r}\n" for a, x in shuffled))
    rule = (*FORCED, "--arms", ",".join(labels))
    return commands.run("debias", "log.csv", *rule, "--json", "result.json", *options, cwd=tmp_path)


def debiased(tmp_path, *samples):
    """(all that is printed, on one line, {column: values of the arms})."""
    result = run(tmp_path, samples, "--details")
    assert (result.returncode, result.stderr) == (0, "")
    arms = json.loads((tmp_path / "result.json").read_text())["arms"]
    columns = {
        key: np.array([np.nan if arm[key] is None else arm[key] for arm in arms])
        for key in ("naive", "bias", "bias_se", "corrected", "low", "high")
    }
    assert "nan" not in result.stdout
    return commands.flat(result.stdout), columns


def test_all_rewards_equal(tmp_path):
    """Nothing to correct, and no interval, about which nothing is claimed either."""
    text, arms = debiased(tmp_path, [3.7] * 10, [3.7] * 5)
    np.testing.assert_allclose(arms["corrected"], 3.7, rtol=1e-12)
    assert np.isnan([arms["low"], arms["high"]]).all()
    assert "No 95 % intervals" in text
    assert "spread is unknown" in text
    assert "shows no bias" in text
    assert "Their coverage" not in text
    assert (arms["bias"] == 0).all()
    assert (
        "the highest mean of such an experiment is biased by 0.0000 ± 0.0000 on average: corrected as the winner, "
        "arm0 has 3.7000" in text.lower()
    )


def test_an_arm_pulled_once(tmp_path):
    """A bias and an interval, both with a borrowed spread, and the result says so; the interval is the widest."""
    text, arms = debiased(tmp_path, MANY, SOME, [0.2])
    assert arms["bias"][2] < -4.5 * arms["bias_se"][2]
    assert arms["low"][2] < 0.2 < arms["high"][2]
    assert np.argmax(arms["high"] - arms["low"]) == 2
    assert "arm2: pulled once, so its spread is borrowed" in text
    assert "arm2: the width of its interval is borrowed" in text


def test_an_arm_pulled_twice(tmp_path):
    """A spread of its own, moderated by the others': wider than theirs, though its two rewards are close together."""
    text, arms = debiased(tmp_path, MANY, SOME, [0.2, 0.1])
    assert arms["bias"][2] < -4.5 * arms["bias_se"][2]
    assert np.argmax(arms["high"] - arms["low"]) == 2
    assert "borrowed" not in text


def test_an_arm_of_zeros_among_0_and_1(tmp_path):
    """It may win yet: a corrected mean above 0, and an upper limit where six losses have the probability 2.5 %."""
    text, arms = debiased(tmp_path, [0] * 6, [1, 1, 0, 1] * 10)
    assert "world jeffreys (auto: all rewards are 0 or 1)" in text
    assert arms["corrected"][0] > 0
    assert arms["low"][0] == 0
    assert arms["high"][0] == pytest.approx(1 - 0.025 ** (1 / 6))
    assert "92.5 %" in text


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_units_do_not_matter(tmp_path, scale):
    """UCB's bonus has the unit of the rewards, so the rule is told of it; the table has room for such numbers."""
    plain = debiased(tmp_path, MANY, SOME)[1]
    result = run(tmp_path, (scale * MANY, scale * SOME), "--policy", f"ucb(c={scale!r})")
    assert result.returncode == 0, result.stderr
    arms = json.loads((tmp_path / "result.json").read_text())["arms"]
    for key in ("naive", "bias", "corrected", "low", "high"):
        np.testing.assert_allclose([arm[key] for arm in arms], scale * plain[key], rtol=1e-6, atol=0)
    lines = result.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("-----")) + 1
    for line, naive in zip(lines[first : first + 2], scale * plain["naive"], strict=True):
        assert float(line.replace("best", "").split()[2]) == pytest.approx(naive, rel=1e-3)
    assert max(map(len, lines)) <= 100


def test_a_hundred_arms(tmp_path):
    """One to three pulls each: a line, a corrected mean and an interval for every arm, and one note for all of them."""
    sizes = RANDOM.integers(1, 4, 100)
    text, arms = debiased(tmp_path, *(RANDOM.normal(k / 50, 1.0, n) for k, n in enumerate(sizes)))
    assert all(np.isfinite(values).all() for values in arms.values())
    assert arms["bias"].mean() < 0
    assert ((arms["low"] < arms["naive"]) & (arms["naive"] < arms["high"])).all()
    lines = commands.run("debias", "log.csv", *FORCED, cwd=tmp_path).stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("-----")) + 1
    assert sorted(line.split()[0] for line in lines[first : first + 100]) == sorted(f"arm{k}" for k in range(100))
    assert max(map(len, lines)) <= 100
    assert sum(" averages " in line for line in lines) == 4  # the leader and the next few
    assert "96 more arms are in the table." in lines
    assert text.count("width of its interval is borrowed") == 1


def test_only_one_arm_with_more_than_one_pull(tmp_path):
    """Its spread is everybody's, so that the others' intervals are as wide as each other, and wider than its own."""
    text, arms = debiased(tmp_path, MANY, [2.0], [0.3])
    widths = arms["high"] - arms["low"]
    assert widths[1] == pytest.approx(widths[2])
    assert widths[1] > widths[0]
    assert np.isfinite(arms["corrected"]).all()
    assert "arm1, arm2: the width of its interval is borrowed" in text


def test_no_arm_with_more_than_one_pull(tmp_path):
    """Refused, because every answer would be made up; 0/1 rewards need no scale."""
    result = run(tmp_path, ([1.5], [2.5], [0.3]))
    assert (result.returncode, result.stdout) == (1, "")
    assert "no arm was pulled more than once" in result.stderr
    _, arms = debiased(tmp_path, [1], [0], [1])
    np.testing.assert_array_equal(arms["low"] <= arms["naive"], True)
    np.testing.assert_allclose(arms["high"], [1, 0.975, 1])
