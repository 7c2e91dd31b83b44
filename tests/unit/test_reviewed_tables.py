"""Tables as people have them, each of which was once misread, or refused without need."""

import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import debandit as db
from debandit.readers.reading import read

DAYS = {
    "day": ["2026-01-01", "2026-01-01", "2026-01-02", "2026-01-02", "2026-01-10", "2026-01-10"],
    "variant": ["a", "b", "a", "b", "a", "b"],
    "visitors": [50, 50, 20, 80, 40, 60],
    "conversions": [5, 10, 2, 18, 4, 13],
}
SUMS = {"arm": ["a", "b"], "n": [4, 4], "total": [4.0, 8.0], "squares": [5.0, 18.0]}
OF_SUMS = {"pulls": "n", "sum": "total", "squares": "squares"}
ROUNDS = {"arm": ["a", "b", "a"], "reward": [1.0, 2.0, 3.0]}


def test_batches_are_in_the_order_of_time():
    frame = pd.DataFrame(DAYS)
    expected = read(frame, batched=True).log
    for other in (frame[::-1], frame.sort_values("variant", kind="stable").iloc[[2, 1, 0, 3, 4, 5]]):
        with pytest.warns(UserWarning, match="the batches are in the order of the column day, not of the rows"):
            log = db.read_log(other, batched=True, arms=["a", "b"])
        assert (log.batches.names, log.sha256) == (expected.batches.names, expected.sha256)
    for names in (["2", "10", "1"], ["2026-W02", "2026-W10", "2026-W01"], ["2026-02", "2026-10", "2026-01"]):
        log = read(frame.assign(day=np.repeat(names, 2)), batched=True).log
        assert log.batches.names == (names[2], *names[:2])
    log = read(frame.assign(day=np.repeat(["mon", "tue", "fri"], 2)), batched=True).log
    assert log.batches.names == ("mon", "tue", "fri")  # control: no order but that of the rows
    assert "not of the rows" not in " ".join((*log.notes, *expected.notes))


def test_pulls_without_a_column_that_is_called_successes():
    log = read({"variant": ["a", "b"], "users": [100, 200], "conversion": [30, 70]}).log
    assert (log.rounds, log.pulls.tolist(), log.means.tolist()) == (None, [100, 200], [0.3, 0.35])
    clear = read({"variant": ["a", "b", "a"], "n": [1, 2, 3], "converted": [0, 1, 1]}).log
    assert clear.rounds.rewards.tolist() == [0, 1, 1]
    for column in ("revenue", "converted"):
        with pytest.raises(db.InputError, match=rf"rounds, or counts(.|\n)*--reward {column}\n(.|\n)*--pulls users"):
            read({"variant": ["a", "b"], "users": [100, 200], column: [0, 1]})
    with pytest.raises(db.InputError, match="--mean and --sd"):
        read({"variant": ["a", "b"], "n": [100, 200], "mean": [0, 1], "sd": [1, 1]})


@pytest.mark.parametrize(
    ("column", "like", "option"),
    [
        ("impressions", "visitors", "--pulls visitors"),
        ("clicks", "conversions", "--successes conversions"),
        ("period", "day", "--batch day"),
    ],
)
def test_two_columns_for_one_role(column, like, option):
    with pytest.raises(db.InputError, match=rf"'{like}' and '{column}' may both be the (.|\n)*{option}"):
        read(DAYS | {column: DAYS[like]}, batched=True)


def test_two_columns_of_times_or_users():
    dates = {"date": ["2026-01-01"] * 3, "timestamp": [1, 2, 3]}
    assert read(ROUNDS | dates).log.notes == ("reading arm = arm, reward = reward, time = date and timestamp",)
    with pytest.raises(db.InputError, match=r"order of the column 'timestamp'\n.*--time date or --time timestamp"):
        read(ROUNDS | dates | {"timestamp": [1, 3, 2]})
    users = {"session_id": [1, 2, 3], "user_id": [1, 1, 2]}
    assert "several rows (column user_id)" in read(ROUNDS | users).log.notes[-1]


def test_python_warns_of_what_the_command_line_prints():
    with pytest.warns(db.errors.LogWarning, match="the reward is minus the column 'cost', as costs should be low"):
        log = db.read_log({"arm": ["a", "b"], "cost": [1, 2]})
    assert log.notes == (
        "reading arm = arm, reward = cost",
        "the reward is minus the column 'cost', as costs should be low",
    )
    assert db.read_log({"variant": ["a", "b"], "converted": [0, 1], "revenue": [0, 2]}).notes  # needs no warning


def test_impossible_spreads_are_refused():
    read(SUMS, **OF_SUMS)
    read(SUMS | {"squares": [4.0 * (1 - 1e-12), 18.0]}, **OF_SUMS)  # rounding
    with pytest.raises(db.InputError, match=r"row 2: 15\.9 in column 'squares' is less than the square of the sum"):
        read(SUMS | {"squares": [5.0, 15.9]}, **OF_SUMS)
    metric = {"x": [4.0, 8.0], "x_squares": [3.0, 18.0], "x_products": [5.0, 18.0]}
    with pytest.raises(db.InputError, match="row 1: 3 in column 'x_squares'"):
        read(SUMS | metric, **OF_SUMS, metrics=["x"])
    with pytest.raises(db.InputError, match=r"row 2: .*'-1\.0', not a number of 0 or more"):
        read(SUMS | {"sd": [1.0, -1.0]}, pulls="n", mean="total", sd="sd")


def test_one_user_has_no_spread():
    table = {"arm": ["a", "b"], "n": [1, 4], "mean": [3.0, 2.0], "sd": [None, 1.0]}
    assert read(table, pulls="n", mean="mean", sd="sd").log.variances.tolist() == [0, 0.75]
    with pytest.raises(db.InputError, match="row 1: the value in column 'sd' is missing"):
        read(table | {"n": [2, 4]}, pulls="n", mean="mean", sd="sd")


def test_metrics_of_few_users_or_large_numbers():
    rng = np.random.default_rng(1)
    reward, metric = 1e6 + rng.normal(size=(2, 8)), 1e6 + rng.normal(size=(2, 8))
    for users in (1, 8):
        x, y = reward[:, :users], metric[:, :users]
        table = {
            "arm": ["a", "b"], "n": [users] * 2, "total": x.sum(1), "squares": (x**2).sum(1),
            "y": y.sum(1), "y_squares": (y**2).sum(1), "y_products": (x * y).sum(1),
        }  # fmt: skip
        found = read(table, **OF_SUMS, metrics=["y"]).log.metrics["y"]
        assert (found.covariances == 0).all() == (users == 1)
    with pytest.raises(db.InputError, match=r"row 2: .* in column 'y_products' is too far"):
        read(table | {"y_products": table["y_products"] * [1, 1.1]}, **OF_SUMS, metrics=["y"])


def test_a_metric_that_is_the_reward():
    table = SUMS | {"total_squares": SUMS["squares"], "total_products": SUMS["squares"]}
    log = read(table, **OF_SUMS, metrics=["total"]).log
    np.testing.assert_array_equal(log.metrics["total"].covariances, log.variances)


@pytest.mark.parametrize("word", ["NA", "N/A", "NaN", "nan", "NULL", "null", "None", ""])
def test_words_for_nothing(tmp_path, word):
    path = tmp_path / "log.csv"
    for text in (f"arm,reward\na,1\nb,{word}\nb,2\n", f"arm,reward\na,1\n{word},2\nb,2\n"):
        path.write_text(text)
        with pytest.raises(db.InputError, match=r"row 3: .* is missing(.|\n)*--missing drop"):
            read(path)
        assert read(path, missing="drop").log.rounds.rewards.tolist() == [1, 2]


@pytest.mark.parametrize("word", ["maybe", "50%", "inf"])
def test_other_words_are_not_to_be_dropped(word):
    with pytest.raises(db.InputError, match=f"'{word}', not a finite number") as refused:
        read(ROUNDS | {"reward": ["1", word, "2"]}, missing="drop")
    assert "drop" not in str(refused.value)


def test_nan_in_frames():
    with pytest.raises(db.InputError, match=r"row 2: .* is missing"):
        read(pa.table(ROUNDS | {"reward": [1.0, float("nan"), 2.0]}))
    with pytest.raises(db.InputError, match=r"row 2: the value in column 'arm' is missing"):
        read(ROUNDS | {"arm": ["a", float("nan"), "b"]})


def test_ordered_categories_of_counts():
    kinds = pd.CategoricalDtype(["b", "a", "c"], ordered=True)
    frame = pd.DataFrame(DAYS).astype({"variant": kinds})
    for batched in (False, True):
        assert read(frame, batched=batched).log.labels == ("b", "a", "c")


@pytest.mark.parametrize("times", [["2026-01-01", None, "2026-01-02"], ["soon", "later", "never"]])
def test_a_guessed_time_that_cannot_tell(times):
    log = read(ROUNDS | {"date": times}, missing="drop").log
    assert log.horizon == 3
    assert "the column date cannot confirm that the rows are in the order of time" in log.notes[0]


def test_nanoseconds_with_and_without_a_zone():
    stamps = ["2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00.123456788", "2026-01-01T01:00:00.12345678+01:00"]
    log = read(ROUNDS | {"time": stamps}, time="time").log
    assert log.rounds.rewards.tolist() == [3, 2, 1]


def test_whole_numbers_and_then_fractions_as_times(tmp_path):
    for number, times in enumerate(([1, 3, 5], [1.5, 4.5, 6.5])):
        pa.parquet.write_table(pa.table(ROUNDS | {"when": times}), tmp_path / f"{number}.parquet")
    log = read(str(tmp_path / "*.parquet"), time="when").log
    assert log.rounds.rewards.tolist() == [1, 1, 2, 2, 3, 3]


def test_arms_that_are_true_or_false(tmp_path):
    frame = pd.DataFrame({"arm": [True, False, True], "reward": [1, 2, 3]})
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    one, two = (read(tmp_path / f"log.{kind}").log for kind in ("csv", "parquet"))
    assert (one.labels, one.sha256) == (two.labels, two.sha256)


def test_an_arm_that_is_twice_in_a_batch():
    with pytest.raises(
        db.InputError, match=r"row 5: the arm 'b' has two rows in the batch(.|\n)*row 6|row 6(.|\n)*row 5"
    ):
        read(DAYS | {"variant": ["a", "b", "a", "b", "b", "b"]}, batched=True)
    count, start = 60_000, time.process_time()
    days, arms = np.repeat(np.arange(count // 2), 2), np.tile(["a", "b"], count // 2)
    with pytest.raises(db.InputError, match="two rows"):
        db.ExperimentLog.from_batches(
            [*days, days[-1]], [*arms, "b"], [9] * (count + 1), [0] * (count + 1), binary=True
        )
    assert time.process_time() - start < 5  # a minute if every row is compared with every other


def test_commas_in_counts():
    with pytest.raises(db.InputError, match=r"row 1: .*'1,234'(.|\n)*nothing between thousands"):
        read(DAYS | {"visitors": ["1,234", "50", "20", "80", "40", "60"]})


def test_missing_counts_can_be_dropped():
    log = read(DAYS | {"conversions": [None, *DAYS["conversions"][1:]]}, missing="drop").log
    assert (log.horizon, log.notes[-1]) == (250, "1 row was left out because of missing values")


def test_json_from_other_programs(tmp_path):
    lines = b'{"arm": "a", "reward": 1}\n{"arm": "b", "reward": 2}\n'
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + lines)
    assert read(tmp_path / "marked").log.rounds.rewards.tolist() == [1, 2]
    (tmp_path / "list").write_text('[{"arm": "a", "reward": 1}]')
    with pytest.raises(db.InputError, match=r"one list of JSON(.|\n)*jq -c"):
        read(tmp_path / "list")


def test_what_python_gives_by_mistake():
    with pytest.raises(db.InputError, match=r"different lengths(.|\n)*arm: 3, reward: 2"):
        read(ROUNDS | {"reward": [1, 2]})
    assert list(read(ROUNDS | {"revenue": [1, 2, 3]}, metrics="revenue").log.metrics) == ["revenue"]
    with pytest.raises(db.InputError, match="a text, not a list"):
        read(ROUNDS, arms="a,b")


def test_a_date_is_the_batch_of_counts():
    dated = {"date": DAYS["day"]} | {name: values for name, values in DAYS.items() if name != "day"}
    log = read(dated, batched=True).log
    assert log.batch_sizes == read(DAYS, batched=True).log.batch_sizes
    assert "batch = date" in log.notes[0]
    assert read(dated).log.batch_sizes is None  # the rule is not batched


def test_what_is_given_as_a_log_and_is_none():
    with pytest.raises(db.InputError, match="given twice"):
        read(["-", "-"])
    with pytest.raises(db.InputError, match="an address, not a file") as told:
        read("host=here password=secret")
    assert "secret" not in str(told.value)
