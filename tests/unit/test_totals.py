"""Long logs of which only totals are kept, and metrics beside the reward."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import debandit as db
from debandit.readers import reading

DAYS, SIZE = 6, 400
POLICY = "batched(epsilon_greedy(epsilon=0.4))"


def experiment(world, seed=3):
    """A log in days, as a table, with a metric that has to do with the reward."""
    sized = f"{POLICY[:-1]}, size={SIZE})"
    rounds = db.simulate(sized, world, horizon=DAYS * SIZE, runs=1, seed=seed, paths=True).log(0).rounds
    noise = np.random.default_rng(seed).normal(size=DAYS * SIZE)
    return pd.DataFrame(
        {
            "arm": np.array(["b", "a", "c"])[rounds.arms],
            "reward": rounds.rewards,
            "day": np.repeat([f"day {i}" for i in range(DAYS)], SIZE),
            "revenue": 2 * rounds.rewards + noise,
            "when": pd.date_range("2026-03-01", periods=DAYS * SIZE, freq="216s"),
        }
    )


SCALE = experiment(db.worlds.Normal([1.0, 1.2, 1.4], [1.0, 1.0, 2.0]))
BINARY = experiment(db.worlds.Bernoulli([0.3, 0.4, 0.5]))


@pytest.fixture
def _long(monkeypatch):
    monkeypatch.setattr(reading, "MANY_ROWS", 700)


def saved(folder, frame):
    """The table as text and in small pieces of Parquet."""
    frame.to_csv(folder / "log.csv", index=False)
    pa.parquet.write_table(pa.Table.from_pandas(frame), folder / "log.parquet", row_group_size=97)
    return folder / "log.csv", folder / "log.parquet"


def alike(totals, rounds):
    assert totals.rounds is None
    assert totals.batches is not None
    assert (totals.labels, totals.sha256, totals.batch_sizes) == (rounds.labels, rounds.sha256, rounds.batch_sizes)
    np.testing.assert_array_equal(totals.pulls, rounds.pulls)
    np.testing.assert_allclose(totals.means, rounds.means, rtol=1e-13)
    np.testing.assert_allclose(totals.variances, rounds.variances, rtol=1e-12)
    assert totals.metrics.keys() == rounds.metrics.keys()
    for name, metric in totals.metrics.items():
        for part, other in zip(metric, rounds.metrics[name], strict=True):
            np.testing.assert_allclose(part, other, rtol=1e-11)


@pytest.mark.usefixtures("_long")
@pytest.mark.parametrize("frame", [SCALE, BINARY], ids=["scale", "binary"])
@pytest.mark.parametrize("metrics", [[], ["revenue"], ["revenue", "reward"]])
def test_totals_are_those_of_the_rows(tmp_path, frame, metrics):
    given = {"arm": "arm", "reward": "reward", "batch": "day", "metrics": metrics}
    rounds = db.read_log(frame, **given)
    for path in saved(tmp_path, frame):
        alike(db.read_log(path, **given, enough=lambda _: True), rounds)


@pytest.mark.usefixtures("_long")
def test_batches_that_are_cut_from_the_time(tmp_path):
    given = {"arm": "arm", "reward": "reward", "time": "when", "batch_by": "day"}
    rounds = db.read_log(SCALE, **given)
    for path in saved(tmp_path, SCALE):
        alike(db.read_log(path, **given, enough=lambda _: True), rounds)


@pytest.mark.usefixtures("_long")
def test_the_pieces_of_a_file_do_not_matter(tmp_path):
    results = [db.debias(path, POLICY, interval="none", runs=300) for path in saved(tmp_path, SCALE)]
    for name in ("naive", "sd", "bias", "bias_se", "corrected"):
        np.testing.assert_array_equal(*(getattr(result, name) for result in results))
    assert results[0].settings == results[1].settings
    assert results[0].path.rounds.tolist() == [SIZE * (i + 1) for i in range(DAYS)]


@pytest.mark.usefixtures("_long")
@pytest.mark.parametrize(
    ("frame", "options", "kept"),
    [
        (SCALE, {"interval": "none"}, False),
        (SCALE, {"interval": "wald", "world": "gaussian"}, False),
        (SCALE, {}, True),  # the interval needs rewards
        (SCALE, {"interval": "none", "world": "smoothed"}, True),
        (BINARY, {}, False),  # counts say everything
        (BINARY, {"method": "rao-blackwell"}, True),
    ],
)
def test_rows_are_kept_where_they_are_needed(frame, options, kept):
    from debandit.debiasing.cases import totals_enough
    from debandit.policies import as_policy
    from debandit.settings import checked_options

    enough = totals_enough(as_policy(POLICY), checked_options(options)[0])
    log = db.read_log(frame, batched=True, enough=enough, time="none")
    assert (log.rounds is not None) == kept


@pytest.mark.usefixtures("_long")
def test_what_cannot_be_added_up_is_read_as_rows():
    """A batch that comes back is an error with its round, rows out of order are sorted, short batches are rounds."""
    given = {"arm": "arm", "reward": "reward", "enough": lambda _: True}
    again = pd.concat([SCALE, SCALE[:5]])
    with pytest.raises(db.errors.InputError, match="'day 0' goes on in round 2401"):
        db.read_log(again, **given, batch="day")
    mixed = SCALE.sample(frac=1, random_state=1)
    assert db.read_log(mixed, **given, batch="day", time="when").sha256 == db.read_log(SCALE, batched=True).sha256
    assert db.read_log(SCALE, **given).rounds is not None
    refused = db.read_log(SCALE, arm="arm", reward="reward", batch="day", enough=lambda log: log.horizon < 1000)
    assert refused.rounds is not None  # enough at first, and not in the end


def test_a_metric_by_hand():
    log = db.ExperimentLog(["a", "b", "a", "a"], [1, 0, 0, 2], metrics={"revenue": [10, 5, 1, 19]})
    means, variances, covariances = log.metrics["revenue"]
    np.testing.assert_allclose(means, [10, 5])
    np.testing.assert_allclose(variances, [54, 0])  # (0 + 81 + 81) / 3
    np.testing.assert_allclose(covariances, [6, 0])  # (0 x 0 + -1 x -9 + 1 x 9) / 3
    plain = db.ExperimentLog(["a", "b", "a", "a"], [1, 0, 0, 2])
    other = db.ExperimentLog(["a", "b", "a", "a"], [1, 0, 0, 2], metrics={"revenue": [10, 5, 1, 20]})
    assert len({log.sha256, plain.sha256, other.sha256}) == 3


def counts_of(frame):
    """The same experiment as a platform exports it."""
    frame = frame.assign(squares=frame.reward**2, x=frame.revenue**2, y=frame.revenue * frame.reward)
    return (
        frame.groupby(["day", "arm"], sort=False)
        .agg(
            users=("reward", "size"),
            total=("reward", "sum"),
            squares=("squares", "sum"),
            revenue=("revenue", "sum"),
            revenue_squares=("x", "sum"),
            revenue_products=("y", "sum"),
        )
        .reset_index()
    )


@pytest.mark.parametrize("batch", ["day", None])
def test_metrics_of_counts_are_those_of_the_rows(batch):
    rows = db.read_log(SCALE, metrics=["revenue"], time="none")
    named = {"pulls": "users", "sum": "total", "squares": "squares", "batch": batch, "metrics": ["revenue"]}
    log = db.read_log(counts_of(SCALE), **named)
    order = [log.labels.index(label) for label in rows.labels]
    for part, other in zip(log.metrics["revenue"], rows.metrics["revenue"], strict=True):
        np.testing.assert_allclose(part[order], other, rtol=1e-9)


def test_metrics_that_make_no_sense_are_refused():
    table = counts_of(SCALE)
    named = {"pulls": "users", "sum": "total", "squares": "squares", "batch": "day", "metrics": ["revenue"]}
    with pytest.raises(db.errors.InputError, match="too far from the product of the sums"):
        db.read_log(table.assign(revenue_products=1e6), **named)
    with pytest.raises(db.errors.InputError, match="column 'revenue' is missing"):
        db.read_log(SCALE.assign(revenue=np.where(SCALE.index == 7, np.nan, 1.0)), metrics=["revenue"], time="none")
    with pytest.raises(db.errors.InputError, match=r"no column 'revenu'\n.*--metric revenue"):
        db.read_log(SCALE, metrics=["revenu"], time="none")
    with pytest.raises(db.errors.InputError, match="a finite number for each of the 2 rounds"):
        db.ExperimentLog(["a", "b"], [0, 1], metrics={"revenue": [1]})


def test_metrics_survive_the_result(tmp_path):
    log = db.read_log(SCALE, metrics=["revenue"], time="none")
    result = db.debias(log, "epsilon_greedy(epsilon=0.4)", runs=100, interval="none")
    result.to_json(tmp_path / "result.json")
    again = db.Debiased.from_json(tmp_path / "result.json")
    for name, part in log.metrics["revenue"]._asdict().items():
        np.testing.assert_array_equal(getattr(again.metrics["revenue"], name), part)
    assert db.debias(db.read_log(SCALE, time="none"), "uniform", runs=100, force=True).metrics == {}


@pytest.mark.parametrize(("users", "warned"), [(np.arange(2400), False), (np.arange(2400) % 2399, True)])
def test_users_who_come_back_are_worth_a_word(users, warned):
    notes = reading.read(SCALE.assign(user_id=users), time="none").log.notes
    assert any("some users have several rows (column user_id)" in note for note in notes) == warned
