"""The same experiment in every kind of table gives the same log and the same result, and columns are guessed."""

import io
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import debandit as db
from debandit.readers.reading import read

RUNS = db.simulate("ucb", db.worlds.Normal([1, 1.5, 1.2], [1, 1, 1]), horizon=300, runs=1, seed=3, paths=True)
LOG = RUNS.log(0)
ARMS = [LOG.labels[arm] for arm in LOG.rounds.arms]
FRAME = pd.DataFrame({"variant": ARMS, "value": LOG.rounds.rewards, "when": np.arange(300)})
TEXT = FRAME.to_csv(index=False)


def saved(path, kind):
    """The table in a file of this kind."""
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    if kind in ",;\t|":
        path.write_text(FRAME.to_csv(index=False, sep=kind))
    elif kind in ("gzip", "zstd"):
        with pa.CompressedOutputStream(str(path), kind) as file:
            file.write(TEXT.encode())
    elif kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=70)
    elif kind == "feather":
        pa.feather.write_feather(table, path)
    elif kind == "stream":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=70)
    else:
        FRAME.to_json(path, orient="records", lines=True, double_precision=15)
    return path


KINDS = (",", ";", "\t", "|", "gzip", "zstd", "parquet", "feather", "stream")


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_known_by_what_is_in_them(tmp_path, kind):
    log = db.read_log(saved(tmp_path / "table", kind))
    assert (log.labels, log.sha256) == (("1", "2", "3"), LOG.sha256)


def test_json_lines(tmp_path):
    """Pandas writes 15 digits of a number; so the log is that of these digits."""
    log = db.read_log(saved(tmp_path / "table", "json"))
    np.testing.assert_allclose(log.rounds.rewards, LOG.rounds.rewards, rtol=0, atol=1e-15)
    lines = "".join(
        f'{{"arm": "{arm}", "reward": {reward!r}}}\n'
        for arm, reward in zip(ARMS, LOG.rounds.rewards.tolist(), strict=True)
    )
    (tmp_path / "exact").write_text(lines)
    assert db.read_log(tmp_path / "exact").sha256 == LOG.sha256


FRAMES = {
    "pandas": lambda: FRAME,
    "polars": lambda: pl.from_pandas(FRAME),
    "arrow": lambda: pa.Table.from_pandas(FRAME),
    "duckdb": lambda: duckdb.sql("FROM FRAME"),
    "dict": lambda: FRAME.to_dict("list"),
    "arrays": lambda: {"variant": FRAME["variant"].to_numpy(int), "value": FRAME["value"].to_numpy()},
    "obp": lambda: {"n_rounds": 300, "action": FRAME["variant"].to_numpy(int), "reward": FRAME["value"].to_numpy(),
                    "pscore": np.full(300, 0.5), "context": np.zeros((300, 2))},
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind):
    frame = FRAMES[kind]()
    assert db.ExperimentLog.of(frame).sha256 == LOG.sha256
    result, expected = (db.debias(each, "ucb", runs=200, seed=1) for each in (frame, LOG))
    np.testing.assert_array_equal(result.bias, expected.bias)
    assert db.check(frame, "ucb").fits
    assert [each.settings.log_sha256 for each in db.debias_all([frame, LOG], "ucb", runs=100)] == [LOG.sha256] * 2


def test_several_files_and_patterns(tmp_path):
    for i, part in enumerate((FRAME[:100], FRAME[100:250], FRAME[250:])):
        part.to_parquet(tmp_path / f"part-{i}.parquet")
    assert db.read_log(str(tmp_path / "part-*.parquet")).sha256 == LOG.sha256
    assert db.read_log([tmp_path / f"part-{i}.parquet" for i in (0, 1, 2)]).sha256 == LOG.sha256
    mixed = [tmp_path / f"part-{i}.parquet" for i in (2, 0, 1)]
    assert db.read_log(mixed).sha256 != LOG.sha256
    assert db.read_log(mixed, time="when").sha256 == LOG.sha256
    FRAME.rename(columns={"when": "then"}).to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(db.InputError, match="the column 'then' is in only one of"):
        db.read_log([tmp_path / "part-0.parquet", tmp_path / "other.csv"])
    with pytest.raises(db.InputError, match="no file has such a name"):
        db.read_log(str(tmp_path / "*.feather"))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert db.read_log("-").sha256 == LOG.sha256


def test_ordered_categories_keep_their_order():
    kinds = pd.CategoricalDtype(["3", "2", "1", "0"], ordered=True)
    assert db.ExperimentLog.of(FRAME.astype({"variant": kinds})).labels == ("3", "2", "1", "0")
    assert db.ExperimentLog.of(FRAME.astype({"variant": "category"})).labels == ("1", "2", "3")


@pytest.mark.parametrize("words", [("true", "false"), ("Yes", "no"), ("T", "F"), ("1", "0"), (True, False), (1, 0)])
def test_true_and_false(words):
    log = db.ExperimentLog.of({"variant": ["a", "b", "a"], "converted": [words[0], words[1], words[1]]})
    assert log.rounds.rewards.tolist() == [1, 0, 0]
    assert log.binary


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("variant,converted", ["reading arm = variant, reward = converted"]),
        ("arm,reward", []),
        ("Arm, Reward ", ["reading arm = Arm, reward = Reward"]),
        (
            "treatment,converted,revenue",
            [
                "reading arm = treatment, reward = converted",
                "not used: revenue (--metric revenue would correct it as well)",
            ],
        ),
        ("variant,revenue", ["reading arm = variant, reward = revenue"]),
        (
            "variant,cost",
            ["reading arm = variant, reward = cost", "the reward is minus the column 'cost', as costs should be low"],
        ),
        ("variant,converted,pscore", ["reading arm = variant, reward = converted"]),
        ("variant,converted,timestamp", ["reading arm = variant, reward = converted, time = timestamp"]),
        ("variant,converted,day", ["reading arm = variant, reward = converted"]),
    ],
)
def test_columns_are_guessed_and_said(columns, said):
    names = [name.strip() for name in columns.split(",")]
    table = dict(zip(names, (["a", "b", "b"], [1, 0, 1], [1, 1, 1]), strict=False))
    found = read(table)
    assert list(found.log.notes) == said
    assert found.log.rounds.rewards.tolist() == ([-1, 0, -1] if "cost" in columns else [1, 0, 1])
    assert found.log.rounds.propensities is None


def test_what_a_guess_does_not_decide():
    table = {"variant": ["a", "b"], "arm": ["a", "b"], "reward": [0, 1]}
    with pytest.raises(db.InputError, match=r"'variant' and 'arm' may both be the arm(.|\n)*--arm variant"):
        read(table)
    assert read(table, arm="variant").log.labels == ("a", "b")
    with pytest.raises(db.InputError, match=r"not in the order of the column 'date'(.|\n)*--time date"):
        read({"arm": ["a", "b"], "reward": [0, 1], "date": ["2026-02-01", "2026-01-01"]})
    days = {"arm": ["a", "b", "a"], "reward": [0, 1, 1], "day": ["x", "x", "y"]}
    assert read(days).log.batch_sizes is None
    assert read(days, batched=True).log.batch_sizes == (2, 1)
    assert db.debias(days | {"reward": [0, 1, 0.5]}, "batched(uniform)", runs=100).runs == 100


def test_missing_values_are_refused_or_dropped():
    table = {"arm": ["a", None, "b", "a"], "reward": [1.0, 2.0, None, 3.0]}
    with pytest.raises(db.InputError, match="row 2: the value in column 'arm' is missing"):
        read(table)
    found = read(table | {"arm": ["a", "b", "b", "a"], "reward": [1.0, 2.0, None, 3.0]}, missing="drop")
    assert found.log.rounds.rewards.tolist() == [1, 2, 3]
    assert found.log.notes == ("1 row was left out because of missing values",)


def test_arms_that_are_probably_the_same():
    table = {"arm": ["blue", "Blue ", "red"], "reward": [1, 2, 3]}
    assert list(read(table).log.notes) == ["these arms differ only in case or spaces: blue, Blue"]


DAYS = {
    "day": ["mon", "mon", "tue", "tue", "wed"],
    "variant": ["a", "b", "a", "b", "b"],
    "visitors": [50, 50, 20, 80, 100],
    "conversions": [5, 10, 2, 18, 21],
}


def test_counts_one_row_per_arm():
    table = {"variant": ["a", "b"], "visitors": [70, 230], "conversions": [7, 49]}
    found = read(table)
    assert found.log.notes == ("reading arm = variant, pulls = visitors, successes = conversions",)
    expected = db.ExperimentLog.from_summaries(["a", "b"], [70, 230], [7 / 70, 49 / 230], binary=True)
    assert found.log.sha256 == expected.sha256 == read(DAYS).log.sha256  # without a batch, rows are added up
    rng = np.random.default_rng(1)
    samples = [rng.normal(size=40), rng.normal(2, 3, size=60)]
    every = db.ExperimentLog(np.repeat(["a", "b"], [40, 60]), np.concatenate(samples))
    tables = (
        {"mean": [s.mean() for s in samples], "sd": [s.std(ddof=1) for s in samples]},
        {"sum": [s.sum() for s in samples], "squares": [(s**2).sum() for s in samples]},
    )
    for table in tables:
        names = {name: name for name in table}
        log = read(table | {"arm": ["a", "b"], "n": [40, 60]}, pulls="n", **names).log
        np.testing.assert_allclose(log.means, every.means, rtol=1e-12)
        np.testing.assert_allclose(log.variances, every.variances, rtol=1e-12)
        assert (log.rounds, log.binary) == (None, False)


def test_batch_tables():
    log = read(DAYS, batched=True).log
    assert (log.labels, log.batch_sizes, log.batches.names) == (("a", "b"), (100, 100, 100), ("mon", "tue", "wed"))
    assert log.batches.pulls.tolist() == [[50, 50], [20, 80], [0, 100]]
    assert log.means.tolist() == [7 / 70, 49 / 230]
    again = db.ExperimentLog.from_batches(
        DAYS["day"], DAYS["variant"], DAYS["visitors"], np.divide(DAYS["conversions"], DAYS["visitors"]), binary=True
    )
    assert again.sha256 == log.sha256 != read(DAYS).log.sha256
    assert "no rows of a after 'tue'" in log.notes[-1]
    result = db.debias(DAYS, "batched(beta_thompson)", runs=400, seed=1)
    assert "size=(100, 100, 100)" in str(result)
    with pytest.raises(db.InputError, match=r"every reward at once(.|\n)*batched\(ucb\)(.|\n)*leave out --batch"):
        db.debias(log, "ucb")


def test_a_batch_table_is_the_same_experiment_as_its_rows():
    """Up to the order within batches, which a batched rule does not see: the same totals, worlds and biases."""
    policy = db.Batched(db.EpsilonGreedy(0.3), size=1000)
    runs = db.simulate(policy, db.worlds.Bernoulli([0.3, 0.5]), horizon=3000, runs=1, seed=2, paths=True)
    arms, rewards, days = runs.path_arms[0], runs.path_rewards[0], np.repeat([1, 2, 3], 1000)
    rows = pd.DataFrame({"arm": arms, "reward": rewards, "day": days})
    table = rows.groupby(["day", "arm"], as_index=False).agg(n=("reward", "size"), wins=("reward", "sum"))
    counted = read(table, pulls="n", successes="wins", batch="day").log
    rounds = db.ExperimentLog(arms, rewards, labels=[0, 1], batches=days)
    one, two = (db.debias(log, "batched(epsilon_greedy(epsilon=0.3))", runs=2000, seed=4) for log in (counted, rounds))
    np.testing.assert_array_equal(one.naive, two.naive)
    np.testing.assert_array_equal(one.bias, two.bias)  # with the same seed even the same runs
    assert (one.low.tolist(), one.high.tolist()) == (two.low.tolist(), two.high.tolist())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"conversions": [5, 10, 2, 18, 101]},
            "row 5: .*'101', not a whole number of 0 or more, and no more than the pulls",
        ),
        ({"visitors": [50, 50, 20, 80.5, 100]}, "row 4: .*'80.5'"),
        ({"visitors": [50, None, 20, 80, 100]}, "row 2: .*is missing"),
        ({"variant": ["a", "b", "a", "a", "b"]}, "the arm 'a' has two rows in the batch 'tue'"),
        ({"visitors": [50, 50, 20, 80, 0], "conversions": [5, 10, 2, 18, 0]}, "the batch 'wed' has no users"),
    ],
)
def test_bad_counts_are_explained(change, message):
    with pytest.raises(db.InputError, match=message):
        read(DAYS | change, batched=True)


@pytest.mark.parametrize("option", [{"batch_by": "day"}, {"time": "day"}, {"propensity": "day"}, {"reward": "day"}])
def test_options_that_say_nothing_of_counts(option):
    with pytest.raises(db.InputError, match="is for tables with one row per round"):
        read(DAYS, pulls="visitors", successes="conversions", **option)


def test_counts_that_are_not_enough():
    for columns in ({"mean": "visitors", "successes": "conversions"}, {"mean": "visitors", "sum": "conversions"}):
        with pytest.raises(db.InputError, match="--mean and --sd"):
            read(DAYS | {"n": [1] * 5, "sd": [1] * 5, "squares": [1] * 5}, pulls="n", **columns)


def test_days_as_batches():
    when = ["2026-03-01T22:00", "2026-03-02T09:00:00", "2026-03-02 23:59", "2026-03-09T00:00"]  # the first is a Sunday
    table = {"arm": ["a", "b", "a", "b"], "reward": [0, 1, 1, 0], "timestamp": when}
    for period, sizes in (("hour", (1, 1, 1, 1)), ("day", (1, 2, 1)), ("week", (1, 2, 1))):
        found = read(table, batch_by=period)
        assert found.log.batch_sizes == sizes
        assert found.log.notes[-1] == f"the batches are the {period}s of the column timestamp, in UTC"
    zones = table | {"timestamp": ["2026-03-02T00:30+02:00", "2026-03-02T00:00Z", "2026-03-02", "2026-03-09"]}
    assert read(zones, batch_by="day").log.batch_sizes == (1, 2, 1)
    exact = pa.table(table | {"timestamp": pa.array([1, 2, 3, 86_400_000_000_000], pa.timestamp("ns"))})
    assert read(exact, batch_by="day").log.batch_sizes == (3, 1)
    with pytest.raises(db.InputError, match="no column of dates to cut"):
        read(table | {"timestamp": [1, 2, 3, 4]}, batch_by="day")
    with pytest.raises(db.InputError, match="row 3: the value in column 'timestamp' is missing"):
        read(table | {"timestamp": [*when[:2], None, when[3]]}, time="timestamp")
    gap = table | {"timestamp": [*when[:2], None, when[3]]}
    assert read(gap, time="timestamp", missing="drop").log.horizon == 3


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_nanoseconds_keep_their_order(unit):
    frame = pd.DataFrame({"arm": ["a", "b", "a"], "reward": [1, 2, 3], "time": pd.to_datetime([3, 1, 2], unit="ns")})
    if unit == "ns":
        assert read(frame, time="time").log.rounds.rewards.tolist() == [2, 3, 1]
    else:  # control: coarser stamps are all equal, so the rows stay as they are
        coarse = frame.assign(time=frame["time"].dt.floor(unit))
        assert read(coarse, time="time").log.rounds.rewards.tolist() == [1, 2, 3]


def test_what_is_said_of_tables_of_counts():
    counts = {"day": [1, 1, 2, 2], "variant": ["A", "Total", "A", "Total"], "users": [9, 9, 8, 8]}
    notes = read(counts | {"conversions": [1, 2, 3, 4]}).log.notes
    assert any("'Total' looks like the total of the others" in note for note in notes)
    assert any("the column 'day' was not used" in note for note in notes)
    named = counts | {"conversions": [1, 2, 3, 4], "variant": ["A", "B", "A", "B"]}
    assert not any("not used" in note or "looks like" in note for note in read(named, batched=True).log.notes)
