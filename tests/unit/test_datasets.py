"""The embedded experiments are what their sources say."""

import numpy as np
import pytest

import debandit as db
from debandit.datasets import ALL, find


def test_ecmo_is_the_trial_of_1985():
    log = db.datasets.ecmo.log
    assert [log.labels[arm] for arm in log.rounds.arms] == ["ECMO", "conventional"] + 10 * ["ECMO"]
    assert log.rounds.rewards.tolist() == [1, 0] + 10 * [1]
    assert db.datasets.ecmo.policy == db.PlayTheWinner(balls=1, added=1)


@pytest.mark.parametrize(
    ("name", "policy", "wins", "pulls"),
    [
        ("uniform", db.Uniform(), [59, 59], [264, 292]),
        ("thompson", db.BetaThompson(alpha=1, beta=1), [63, 53], [257, 251]),
        ("postdiff", db.TSPostDiff(c=0.004, alpha=1, beta=1), [49, 68], [272, 238]),
    ],
)
def test_the_classroom(name, policy, wins, pulls):
    data = find(f"classroom_{name}")
    assert data is getattr(db.datasets, data.name)
    assert data.policy == policy
    assert data.log.pulls.tolist() == pulls
    assert [sample.sum() for sample in data.log.samples()] == wins
    assert data.log.rounds is None


def test_each_says_what_it_is_and_where_from():
    for data in ALL.values():
        assert "\n" not in data.description
        assert data.source in str(data)


def test_saving(tmp_path):
    path = tmp_path / "ecmo.csv"
    db.datasets.ecmo.save(path)
    again = db.read_log(path, arm="treatment", reward="survived")
    assert again.sha256 == db.datasets.ecmo.log.sha256
    with pytest.raises(db.InputError, match="it would be lost"):
        db.datasets.ecmo.save(path)
    with pytest.raises(db.InputError, match="only counts are known"):
        db.datasets.classroom_uniform.save(tmp_path / "other.csv")
    with pytest.raises(db.InputError, match=r"no dataset 'emco'\n  Did you mean ecmo\?"):
        find("emco")


def test_no_variance_is_said_of_both_arms():
    found = db.debias(db.datasets.ecmo.log, db.datasets.ecmo.policy, world="efron")
    np.testing.assert_array_equal(found.bias, 0)
    assert found.warnings[0].startswith("conventional: pulled once")
    assert found.warnings[1].startswith("ECMO: all its rewards are the same")
    assert len(found.warnings) == 2


def test_remedies_of_counts_do_not_speak_of_rows():
    fit = db.check(db.datasets.classroom_postdiff.log, db.datasets.classroom_postdiff.policy)
    assert not fit.fits
    assert "--time" not in str(fit)
    assert "counts are those of all rounds" in str(fit)
