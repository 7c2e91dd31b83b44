"""Studies: what a file may say, what is kept, and that neither interruptions nor workers change a bit."""

import csv
import dataclasses
import hashlib
import json
import math
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from catalogue import Z

import debandit as db
from debandit.study import Bins, Cell
from debandit.study.cell import Chunk, run_chunk
from debandit.study.journal import Journal
from debandit.study.reading import key_lines
from debandit.study.rows import FIELDS
from debandit.study.summary import Series, Summary

UCB = Cell("ucb", db.UCB(), db.worlds.Bernoulli([0.3, 0.6]), 20, ("naive", "gaussian"), experiments=300, runs=20)
GREEDY = dataclasses.replace(UCB, label="greedy", policy=db.EpsilonGreedy(0.2), methods=("naive", "efron", "ipw"))
SMALL = db.Study("small", (UCB, GREEDY), seed=5)


def cut(monkeypatch, size):
    """Chunks of `size` experiments."""
    monkeypatch.setattr("debandit.study.cell._LARGEST_CHUNK", size)


def near_quantile(value, sample, share):
    """Between the neighbouring order statistics, give or take a bucket's width of 0.4 %."""
    ordered, place = np.sort(sample), share * (len(sample) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low - 0.004 * abs(low) <= value <= high + 0.004 * abs(high)


def same(one, two):
    """Rows equal bit by bit, NaN included."""
    return [tuple(map(repr, row.values())) for row in one.rows] == [tuple(map(repr, row.values())) for row in two.rows]


# --- what is simulated -----------------------------------------------------------------------------------------------


def test_rows_are_what_simulate_and_debias_say():
    """One chunk, redone by hand."""
    rows = SMALL.run().rows
    seed = UCB.seed(5, 0)
    runs = db.simulate(UCB.policy, UCB.world, horizon=20, runs=300, seed=seed, paths=True)
    results = db.debias([runs.log(i) for i in range(300)], UCB.policy, world="gaussian", runs=20, seed=seed)
    corrected = np.array([result.corrected for result in results])
    for method, estimates in (("naive", runs.means), ("gaussian", corrected)):
        errors = estimates - UCB.world.means
        mine = {(r["quantity"], r["arm"]): r for r in rows if r["setting"] == "ucb" and r["method"] == method}
        for arm in (0, 1):
            squared = errors[:, arm] ** 2
            expected = {"bias": errors[:, arm], "mean": estimates[:, arm], "mse": squared}
            for quantity, values in expected.items():
                row = mine[quantity, arm + 1]
                assert row["value"] == pytest.approx(values.mean(), abs=1e-12)
                assert row["se"] == pytest.approx(values.std(ddof=1) / math.sqrt(300), rel=1e-9)
                assert row["n"] == row["experiments"] == 300
            median = mine["median_squared_error", arm + 1]
            assert near_quantile(median["value"], squared, 0.5)
            assert not near_quantile(median["value"], squared, 0.8)  # control


def test_rows_do_not_depend_on_threads_but_on_the_seed(monkeypatch):
    cut(monkeypatch, 100)
    assert same(SMALL.run(threads=1), SMALL.run(threads=2))
    assert not same(SMALL.run(), SMALL.with_settings(seed=6).run())


def test_cells_do_not_depend_on_their_place():
    alone = db.Study("other", (GREEDY,), seed=5)
    assert [r["value"] for r in alone.run().rows] == [r["value"] for r in SMALL.run().rows if r["setting"] == "greedy"]


def test_cells_share_no_stream():
    other = dataclasses.replace(UCB, horizon=21)
    runs = [db.simulate("ucb", UCB.world, horizon=20, runs=50, seed=cell.seed(5, 0)) for cell in (UCB, other)]
    assert not np.array_equal(runs[0].means, runs[1].means)
    assert (
        len({cell.seed(seed, chunk) for cell in (UCB, GREEDY, other) for seed in (0, 1) for chunk in range(50)}) == 300
    )


def test_chunks_are_of_bounded_size():
    """Neither many runs nor long horizons make a chunk take minutes or memory."""
    for horizon, runs in ((10, 2), (100, 1000), (100, 10**6), (10**6, 2), (10**8, 10)):
        cell = dataclasses.replace(UCB, horizon=horizon, runs=runs)
        assert 1 <= cell.chunk_size <= 10_000
        assert cell.chunk_size == 1 or cell.chunk_size * horizon * runs <= 50_000_000
        assert cell.chunk_size == 1 or cell.chunk_size * horizon <= 4_000_000
        weighted = dataclasses.replace(GREEDY, horizon=horizon, runs=runs)
        assert weighted.chunk_size == 1 or weighted.chunk_size * horizon * 4 * 2 <= 4_000_000  # 2 arms
    slow = dataclasses.replace(UCB, horizon=4000, runs=2, methods=("multiplier(weights='gaussian')",))
    assert slow.chunk_size == 1  # 4,000 weights for each of 8,000 rewards


def test_more_experiments_go_on_where_fewer_ended(tmp_path, monkeypatch):
    cut(monkeypatch, 100)
    SMALL.run(tmp_path)
    monkeypatch.setattr("debandit.study.scheduling.run_chunk", counted := Counted())
    more = SMALL.with_settings(experiments=500)
    rows = more.run(tmp_path)
    assert counted.chunks == [("ucb", 3), ("ucb", 4), ("greedy", 3), ("greedy", 4)]
    assert same(rows, more.run())


class Counted:
    """`run_chunk`, and a list of what it was asked for."""

    def __init__(self):
        self.chunks = []

    def __call__(self, chunk, threads=1):
        self.chunks.append((chunk.cell.label, chunk.index))
        return run_chunk(chunk, threads)


def test_cells_that_differ_in_their_number_alone_keep_their_numbers(tmp_path, monkeypatch):
    cut(monkeypatch, 100)
    more = dataclasses.replace(UCB, label="more", experiments=400)
    monkeypatch.setattr("debandit.study.scheduling.run_chunk", counted := Counted())
    rows = db.Study("both", (UCB, more, GREEDY), seed=5).run(tmp_path)
    assert {(row["setting"], row["experiments"]) for row in rows.rows} == {("ucb", 300), ("more", 400), ("greedy", 300)}
    assert len(counted.chunks) == 3 + 1 + 3  # what they share is computed once
    other_way = db.Study("both", (more, UCB), seed=5).run()
    assert [r["value"] for r in rows.rows if r["setting"] == "more"] == [
        r["value"] for r in other_way.rows if r["setting"] == "more"
    ]


@dataclasses.dataclass(frozen=True)
class Disguised(db.UCB):
    """Calls itself ucb(c=1.0) and is another rule."""

    def rule(self, arm_count, horizon):
        return db.UCB(c=0.5).rule(arm_count, horizon)


def test_a_rule_is_known_by_what_it_does_not_by_its_name():
    disguised = dataclasses.replace(UCB, label="disguised", policy=Disguised())
    assert str(disguised.policy) == str(UCB.policy)
    assert disguised.key(5) != UCB.key(5)
    values = {}
    for row in db.Study("two", (UCB, disguised), seed=5).run().rows:
        values.setdefault(row["setting"], []).append(row["value"])
    assert values["ucb"] != values["disguised"]


def test_until_se(monkeypatch):
    cut(monkeypatch, 50)
    cell = dataclasses.replace(UCB, until_se=0.01, experiments=100)
    rows = db.Study("open", (cell,), seed=5).run().rows
    means = [row for row in rows if row["quantity"] == "mean"]
    total = means[0]["experiments"]
    assert all(row["se"] <= 0.01 for row in means)
    assert total > 100
    assert total % 50 == 0
    fewer = db.Study("closed", (cell,), seed=5).with_settings(experiments=total - 50).run().rows
    assert max(row["se"] for row in fewer if row["quantity"] == "mean") > 0.01  # not one chunk too many
    most = dataclasses.replace(cell, until_se=1e-9, most_experiments=170)
    assert db.Study("never", (most,), seed=5).run().rows[0]["experiments"] == 170


def test_histograms_count_what_lies_in_the_bins():
    cell = dataclasses.replace(UCB, histogram=Bins(0.0, 0.5, 5))
    rows = [row for row in db.Study("h", (cell,), seed=5).run().rows if row["quantity"] == "share"]
    runs = db.simulate(cell.policy, cell.world, horizon=20, runs=300, seed=cell.seed(5, 0))
    for arm in (1, 2):
        mine = [row for row in rows if row["arm"] == arm and row["method"] == "naive"]
        assert [row["at"] for row in mine] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
        counts = np.histogram(runs.means[:, arm - 1], np.linspace(0, 0.5, 6))[0]
        assert [row["value"] for row in mine] == pytest.approx(counts / 300)
    assert sum(row["value"] for row in rows if row["arm"] == 2 and row["method"] == "naive") < 0.9  # some lie outside


# --- summaries -------------------------------------------------------------------------------------------------------


def test_series_of_parts_is_the_series_of_the_whole():
    values = np.random.default_rng(1).standard_normal(5000) ** 3
    values[::50] = np.nan
    parts = [Series.of(part, quantiles=True) for part in np.split(values, 10)]
    total = sum(parts[1:], parts[0])
    whole = Series.of(values, quantiles=True)
    known = values[~np.isnan(values)]
    assert total.n == whole.n == len(known)
    assert total.mean == pytest.approx(known.mean(), rel=1e-12)
    assert total.se == pytest.approx(known.std(ddof=1) / math.sqrt(len(known)), rel=1e-12)
    np.testing.assert_array_equal(total.buckets, whole.buckets)
    np.testing.assert_array_equal(total.counts, whole.counts)
    for share in (0.01, 0.05, 0.3, 0.5, 0.9, 0.99):
        assert near_quantile(total.quantile(share), known, share)
        assert not near_quantile(total.quantile(share), known, share + 0.005)  # control
    assert Series.from_json(total.to_json()).to_json() == total.to_json()


def test_sums_do_not_cancel():
    """A spread of 1 around 10^8, in two parts."""
    values = 1e8 + np.random.default_rng(3).standard_normal(2000)
    total = Series.of(values[:500]) + Series.of(values[500:])
    assert total.sd == pytest.approx(values.std(ddof=1), rel=1e-7)
    few, none = Series.of(values[:3]), Series.of(np.array([np.nan]))
    assert (none + few).to_json() == (few + none).to_json() == few.to_json()


def test_an_arm_that_nobody_pulled():
    cell = Cell("z", db.ThompsonSampling(), db.worlds.Normal([0] * 6, [1] * 6), 1, ("naive",), experiments=2)
    rows = db.Study("z", (dataclasses.replace(cell, histogram=(0, 1, 3)),)).run().rows
    assert {row["n"] for row in rows if row["quantity"] == "bias"} >= {0}
    assert all(row["n"] for row in rows if row["quantity"] == "share")


def test_the_standard_error_of_a_median_is_its_spread():
    """Against 1,000 repetitions; control: the s.e. of the mean, which is smaller by sqrt(2/pi) for normal values."""
    all_series = [Series.of(row, quantiles=True) for row in np.random.default_rng(2).normal(3, 1, (1000, 1000))]
    medians = np.array([series.quantile(0.5) for series in all_series])
    claimed = np.array([series.quantile_se(0.5) for series in all_series])
    spread = medians.std(ddof=1)
    noise = math.hypot(spread / math.sqrt(2 * 999), claimed.std() / math.sqrt(1000))
    assert abs(medians.mean() - 3) < Z * spread / math.sqrt(1000)
    assert abs(claimed.mean() - spread) < Z * noise
    assert abs(np.mean([series.se for series in all_series]) - spread) > Z * noise


def test_extreme_values_have_buckets():
    values = np.array([-1e200, -1.0, -1e-300, -0.0, 0.0, 1e-300, 1.0, 1e200])
    series = Series.of(values, quantiles=True)
    assert list(series.buckets) == sorted(series.buckets)
    assert series.counts.sum() == 8
    assert series.quantile(0) == pytest.approx(-1e200, rel=0.02)
    assert series.quantile(1) == pytest.approx(1e200, rel=0.02)
    assert abs(series.quantile(0.5)) < 1e-299
    assert math.isnan(Series().mean)
    assert math.isnan(Series().quantile(0.5))


# --- what is kept ----------------------------------------------------------------------------------------------------


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "cell.jsonl")


def summary(seed):
    return run_chunk(Chunk(dataclasses.replace(UCB, histogram=Bins(0, 1, 4)), seed, 0, 20))


def text(one):
    return repr(one.to_json())


def test_a_journal_gives_back_every_bit(journal):
    kept = {(i, 20): summary(i) for i in (3, 0, 1)}
    for chunk, one in kept.items():
        journal.add(chunk, one)
    for found in (journal, Journal(journal.path)):
        assert all(text(found.read(chunk)) == text(one) for chunk, one in kept.items())
        assert (2, 20) not in found
        assert (0, 19) not in found


def test_a_line_cut_anywhere_is_not_there_and_hurts_no_other(journal):
    first, second = summary(1), summary(2)
    journal.add((0, 20), first)
    whole = journal.path.read_bytes()
    journal.add((1, 20), second)
    both = journal.path.read_bytes()
    places = random.Random(1).sample(range(len(whole), len(both)), 200)
    for end in (*places, len(whole), len(both) - 1):
        journal.path.write_bytes(both[:end])
        again = Journal(journal.path)
        assert (0, 20) in again
        assert (1, 20) not in again
        again.add((1, 20), second)
        assert text(Journal(journal.path).read((1, 20))) == text(second)
        assert text(Journal(journal.path).read((0, 20))) == text(first)


def test_a_flipped_bit_is_noticed(journal):
    journal.add((0, 20), summary(1))
    content = journal.path.read_bytes()
    for place in random.Random(2).sample(range(len(content) - 1), 200):
        damaged = bytearray(content)
        damaged[place] ^= 1
        journal.path.write_bytes(damaged)
        assert (0, 20) not in Journal(journal.path)
    journal.path.write_bytes(content)
    assert (0, 20) in Journal(journal.path)


def test_another_cells_lines_are_not_read(journal):
    """As after a file was copied over another, whose checksums are all right."""
    journal.add((0, 20), summary(1))
    other = journal.path.rename(journal.path.with_name("other.jsonl"))
    assert (0, 20) not in Journal(other)
    assert (0, 20) in Journal(other.rename(journal.path))


def test_two_processes_may_write_to_one_file(journal):
    other = Journal(journal.path)
    journal.add((0, 20), summary(1))
    other.add((1, 20), summary(2))
    journal.add((2, 20), summary(3))
    other._places[1, 20] = 7  # as if the other had written meanwhile
    assert text(other.read((1, 20))) == text(summary(2))


def test_a_full_disk_is_an_error_that_loses_nothing(tmp_path):
    full = Journal(tmp_path / "cell.jsonl")
    full.path = type(full.path)("/dev/full")
    with pytest.raises(db.InputError, match="No space left"):
        full.add((0, 20), summary(1))


# --- interruptions ---------------------------------------------------------------------------------------------------


class Interrupted:
    """Fails at the n-th chunk."""

    def __init__(self, at):
        self.left = at

    def __call__(self, chunk, threads=1):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return run_chunk(chunk, threads)


@pytest.mark.parametrize("at", [0, 1, 4, 5])
def test_an_interrupted_study_goes_on(tmp_path, monkeypatch, at):
    cut(monkeypatch, 100)
    undisturbed = SMALL.run()
    with monkeypatch.context() as patch:
        patch.setattr("debandit.study.scheduling.run_chunk", Interrupted(at))
        with pytest.raises(KeyboardInterrupt):
            SMALL.run(tmp_path)
    monkeypatch.setattr("debandit.study.scheduling.run_chunk", counted := Counted())
    assert same(SMALL.run(tmp_path), undisturbed)
    assert len(counted.chunks) == 6 - at
    counted.chunks.clear()
    assert same(SMALL.run(tmp_path), undisturbed)
    assert counted.chunks == []


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"experiments": 200}, []),
        ({"horizon": 21}, ["ucb"]),
        ({"policy": db.UCB(c=0.5)}, ["ucb"]),
        ({"world": db.worlds.Bernoulli([0.3, 0.61])}, ["ucb"]),
        ({"runs": 21}, ["ucb"]),
        ({"methods": ("naive", "efron")}, ["ucb"]),
        ({"histogram": Bins(0, 1, 10)}, ["ucb"]),
        ({"unseen": (0.0, 1.0)}, ["ucb"]),
        ({"label": "another", "remark": "a remark"}, []),
    ],
)
def test_a_changed_setting_is_noticed_cell_by_cell(tmp_path, monkeypatch, change, again):
    cut(monkeypatch, 100)
    SMALL.run(tmp_path)
    monkeypatch.setattr("debandit.study.scheduling.run_chunk", counted := Counted())
    changed = dataclasses.replace(SMALL, cells=(dataclasses.replace(UCB, **change), GREEDY))
    rows = changed.run(tmp_path)
    assert [label for label, _ in counted.chunks] == again * 3
    assert same(rows, changed.run())


def test_a_changed_seed_or_version_is_noticed(tmp_path, monkeypatch):
    SMALL.run(tmp_path)
    monkeypatch.setattr("debandit.study.scheduling.run_chunk", counted := Counted())
    SMALL.with_settings(seed=6).run(tmp_path)
    assert len(counted.chunks) == 2
    monkeypatch.setattr("debandit.study.cell.__version__", "99")
    SMALL.run(tmp_path)
    assert len(counted.chunks) == 4


def test_workers_of_another_version_are_refused(monkeypatch):
    """By all that can be done elsewhere."""
    monkeypatch.setattr("debandit.engine.processes.__version__", "0.0.1")
    log = db.ExperimentLog(["A", "B"] * 9, range(18))
    with ThreadPoolExecutor(1) as executor:
        for work in (
            lambda: SMALL.run(executor=executor),
            lambda: db.debias(log, "uniform", executor=executor),
            lambda: db.compare(log, "uniform", executor=executor),
            lambda: db.simulate("ucb", UCB.world, horizon=9, runs=20, executor=executor),
        ):
            with pytest.raises(db.InputError, match=r"worker: this worker has debandit 0\.0\.1"):
                work()


def forged(text, file):
    """A line of a journal with a right checksum."""
    return hashlib.sha256(f"{file.stem} {text}".encode()).hexdigest()[:32] + " " + text + "\n"


def test_lines_of_others_are_not_believed(tmp_path):
    """Their checksums are right, but what they say is no result."""
    before = SMALL.run(tmp_path)
    (file, *_) = sorted((tmp_path / "cells").iterdir())
    whole = file.read_text()
    index, experiments, text = whole.split(" ", 3)[1:]
    place, document = f"{index} {experiments}", json.loads(text)
    method = next(iter(document["series"]))
    quantity = next(iter(document["series"][method]))
    for keys, value in (
        (("experiments",), 299),
        (("experiments",), "300"),
        (("series",), {}),
        (("series", method), []),
        (("series", method, quantity), []),
        (("series", method, quantity, 0), [300, "1", 2.0, [], []]),
        (("series", method, quantity, 0), [300, math.nan, 2.0, [], []]),
        (("series", method, quantity, 0), [300, 1.0, 2.0, [1.5], [1]]),
        (("series", method, quantity, 0), [300, math.inf, 2.0, [], []]),
        (("series", method, quantity, 0), [300, 1.0, -2.0, [], []]),
        (("series", method, quantity, 0), [301, 1.0, 2.0, [], []]),
        (("series", method, quantity, 0), [-1, 1.0, 2.0, [], []]),
        (("series", method, quantity, 0), [2**70, 1.0, 2.0, [], []]),
        (("series", method, "squared_error", 0), [300, -1.0, 2.0, [1], [300]]),
        (("series", method, "squared_error", 0), [300, 1.0, 2.0, [], []]),
        (("series", method, "squared_error", 0), [300, 1.0, 2.0, [1, 2], [300]]),
        (("series", method, "squared_error", 0), [300, 1.0, 2.0, [2, 1], [150, 150]]),
        (("series", method), {"error": document["series"][method]["error"]}),
        (("series", method), {}),
        (("histograms",), {"naive": [["a"]]}),
        (("histograms",), {"naive": [[1, 2], [3, 4]]}),
    ):
        changed = json.loads(text)
        part = changed
        for key in keys[:-1]:
            part = part[key]
        part[keys[-1]] = value
        file.write_text(forged(f"{place} {json.dumps(changed)}", file))
        with pytest.raises(db.InputError, match="debandit has not written"):
            SMALL.run(tmp_path)
    for line in ("nonsense", f"{place} {{", f"{place} []", f"{place} {9000 * '['}"):
        file.write_text(forged(line, file))
        if line.startswith(place):
            with pytest.raises(db.InputError, match="debandit has not written"):
                SMALL.run(tmp_path)
    file.write_text("".join(forged(line, file) for line in ("nonsense", "a b c", "")) + whole)
    assert same(SMALL.run(tmp_path), before)


def test_errors_name_the_cell():
    thompson = dataclasses.replace(UCB, label="few", policy=db.ThompsonSampling(), horizon=3)
    with pytest.raises(db.Refused, match=r"cell 'few'.*no reward was logged for arm"):
        db.Study("few", (thompson,)).run()


# --- rows ------------------------------------------------------------------------------------------------------------


def test_files(tmp_path):
    found = dataclasses.replace(SMALL, title="A | title").run()
    assert [path.name for path in found.save(tmp_path / "out")] == ["table.md", "rows.csv", "rows.parquet"]
    frame = pd.read_parquet(tmp_path / "out" / "rows.parquet")
    assert list(frame) == list(FIELDS) == list(found.to_frame())
    np.testing.assert_array_equal(frame["value"], found.to_frame()["value"])
    with (tmp_path / "out" / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in found.rows]  # not a bit is lost
    assert "| ucb | naive | bias | 1 |" in (tmp_path / "out" / "table.md").read_text()
    again = db.study.StudyRows.load(SMALL, tmp_path / "out")
    assert again.what_was_done() in again._repr_html_()  # what a notebook shows
    assert same(again, found)


def test_there_is_nothing_to_draw_before_a_run(tmp_path):
    with pytest.raises(db.InputError, match="there are no rows to draw"):
        db.study.StudyRows.load(SMALL, tmp_path)
    (tmp_path / "rows.parquet").write_bytes(b"garbage")
    with pytest.raises(db.InputError, match="cannot read the rows"):
        db.study.StudyRows.load(SMALL, tmp_path)


# --- files of studies ------------------------------------------------------------------------------------------------

OWN = """\
horizon = 20
experiments = 5
runs = 10

[[cell]]
policy = "ucb"
world = "bernoulli(means=[0.3, 0.6])"
"""


def read(tmp_path, text):
    path = tmp_path / "my.toml"
    path.write_text(text)
    return db.Study.from_toml(path)


def test_a_study_of_one_s_own(tmp_path):
    rows = read(tmp_path, OWN).run().rows
    assert {row["method"] for row in rows} == {"naive", "gaussian"}
    assert all(row["paper"] is None and row["z"] is None for row in rows)
    assert {row["world"] for row in rows} == {"bernoulli(means=[0.3, 0.6])"}


def test_a_grid_spans_cells(tmp_path):
    grid = OWN.replace('"ucb"', '"ucb(c={c})"').replace("0.3", "{low}").replace("horizon = 20", "horizon = [20, 30]")
    study = read(tmp_path, grid + 'label = "UCB"\ngrid.c = [0.5, 1]\ngrid.low = [0.1, 0.2, 0.3]\n')
    assert len(study.cells) == 2 * 2 * 3
    assert {(cell.policy.c, cell.world.means[0], cell.horizon) for cell in study.cells} == {
        (c, low, horizon) for c in (0.5, 1) for low in (0.1, 0.2, 0.3) for horizon in (20, 30)
    }
    assert {cell.label for cell in study.cells} == {f"UCB, c={c}, low={p}" for c in (0.5, 1) for p in (0.1, 0.2, 0.3)}
    half = read(tmp_path, grid + 'label = "c {c}"\ngrid = {c = [2, 3], low = [0.5]}\n')
    assert {cell.label for cell in half.cells} == {"c 2, low=0.5", "c 3, low=0.5"}
    named = read(tmp_path, grid + 'label = "c {c}, {low}"\ngrid = {c = [2], low = [0.5]}\n')
    assert [cell.label for cell in named.cells] == ["c 2, 0.5"] * 2


def test_a_cell_may_overrule_the_study(tmp_path):
    study = read(tmp_path, OWN + 'horizon = 30\nruns = 7\nmethods = ["naive"]\nuntil_se = 0.1\n')
    (cell,) = study.cells
    assert (cell.horizon, cell.runs, cell.methods, cell.until_se, cell.experiments) == (30, 7, ("naive",), 0.1, 5)


def test_the_example_is_a_study(tmp_path):
    path = tmp_path / "new.toml"
    db.study.write_example(path)
    study = db.Study.from_toml(path)
    assert len(study.cells) == 2 * (2 * 2 + 1)
    rows = study.with_settings(experiments=20, runs=20).run().rows
    assert {row["method"] for row in rows} == {"naive", "gaussian", "efron", "ipw", "aipw"}
    with pytest.raises(db.InputError, match="would be overwritten"):
        db.study.write_example(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("horizon = 20\n", "", r"my.toml, line 4, cell 1: there is no horizon"),
        ("runs = 10", "rnus = 10", r"line 3, rnus: there is no setting 'rnus'\n  Did you mean runs\?"),
        ("runs = 10", "runs = 1", "line 3, runs: runs must be a whole number from 2"),
        ("horizon = 20", "horizon = [20, 1.5]", "line 1, horizon: horizon must be"),
        ("horizon = 20", "horizon = 1", "line 1.*horizon: 1 rounds are fewer than"),
        ('"ucb"', '"ubc"', "line 6, cell 1, policy: there is no rule 'ubc'"),
        ('"ucb"', "5", "line 6, cell 1, policy: must be a text"),
        ("bernoulli", "bernouli", "line 7, cell 1, world: (.|\n)*Did you mean bernoulli"),
        ("[[cell]]", "[[cell]", "not a TOML file .*line 5"),
        ('0.6])"', '0.6])"\nunseen = [1]', "line 8, cell 1, unseen: .*not a mean and a standard deviation"),
        ('0.6])"', '0.6])"\npaper.naive.bias = [1]', "line 8, cell 1, paper: naive.bias needs one number for each"),
        ('0.6])"', '0.6])"\npaper = 5', "printed values"),
        ('0.6])"', '0.6])"\npaper.efron.bias = [1, 2]', "'efron' is not among the methods"),
        ('0.6])"', '0.6])"\npaper.naive.bais = [1, 2]', "no quantity 'bais'"),
        ("[0.3, 0.6]", "[[0.3, 0.6]]", "one world for each cell"),
        ("horizon = 20", "horizon = 20\nmethods = 5", "line 2, methods: must be a list of names"),
        ("horizon = 20", "horizon = 20\nmethods = ['efrom']", r"line 2, .*methods: .*'efrom'\n  The methods are naive"),
        ("horizon = 20", "horizon = 20\nmethods = ['ipw']", "ipw needs a rule with randomness"),
        ("horizon = 20", "horizon = 20\nmethods = ['theorem1']", "theorem1 is about explore-then-commit"),
        ("horizon = 20", "horizon = 20\nuntil_se = 0", "line 2, until_se: must be a number above 0"),
        ("horizon = 20", "horizon = 20\nfigure = 'pie'", "line 2, figure: there is no figure 'pie'"),
        ("horizon = 20", "horizon = 20\nfigure = 'accuracy'", "line 2, figure: there is no figure 'accuracy'"),
        ("horizon = 20", "horizon = 20\nfigure = 'histograms'", "histograms need a setting histogram"),
        ("horizon = 20", "horizon = 20\nhistogram = {low = 1, high = 0, bins = 3}", "from low to high"),
        ("horizon = 20", "horizon = 20\nhistogram = 7", "must be written as"),
        ("horizon = 20", "horizon = 20\nseed = -1", "line 2, seed: seed must be a whole number from 0"),
        ("[[cell]]", "[[sell]]", r"there is no \[\[cell\]\]"),
        ("[[cell]]", "[cell]", r"line 5, cell 1: there is no \[\[cell\]\].*\n  Write \[\[cell\]\] with two brackets"),
        ("horizon = 20", "horizon = 20\ntitle = 5", "line 2, title: must be a text"),
        ("horizon = 20", "horizon = 20\nfigure = []", "line 2, figure: there is no figure"),
        ("horizon = 20", "horizon = 20\nunseen = '12'", "line 2, unseen: None is not a mean"),
        ("horizon = 20", "horizon = 20\nmost_experiments = 3", "line 2.*most_experiments: is less than"),
        ("horizon = 20", "horizon = 0x" + "f" * 5000, "line 1, horizon: horizon must be .* not a int"),
        ("horizon = 20", "seed = " + "9" * 5000, "not a TOML file"),
        ('"ucb"', '"ucb(c={c}{d})"\ngrid.c = [' + "1," * 500 + "]\ngrid.d = [" + "1," * 500 + "]", "250,000 cells are"),
        (
            '0.6])"',
            '0.6])"\nlabel = "x"\n[[cell]]\nlabel = "x"\npolicy = "greedy"\nworld = "bernoulli(means=[0.1, 0.2])"',
            "two cells of 20 rounds have the label 'x'",
        ),
        ('"ucb"', '"ucb(c={c})"', r"line 6, cell 1, policy: \{c\} is not in the grid"),
        ('"ucb"', '"ucb"\ngrid.c = [1]', r"line 7, cell 1, grid.c: \{c\} is in neither"),
        ('"ucb"', '"ucb"\ngrid.c = 1', "line 7, cell 1, grid: must be lists of values"),
        (
            '"ucb"',
            '"beta_thompson"\nworld = "normal(means=[1, 2], sds=[1, 1])"\n[[cell]]\npolicy = "ucb"',
            "cell 1, world",
        ),
    ],
)
def test_mistakes_are_explained(tmp_path, old, new, message):
    with pytest.raises(db.InputError, match=message):
        read(tmp_path, OWN.replace(old, new))


def test_all_mistakes_are_told_at_once(tmp_path):
    wrong = OWN.replace("runs = 10", "rnus = 10\nseed = 'x'").replace('"ucb"', '"ubc"') + 'wrold = "normal"\n'
    with pytest.raises(db.InputError) as error:
        read(tmp_path, wrong)
    message = str(error.value)
    assert "my.toml: 4 mistakes" in message
    places = [message.index(f"line {line}, ") for line in (3, 4, 7, 9)]
    assert places == sorted(places)
    grid = OWN.replace('"ucb"', '"ubc(c={c})"\ngrid.c = [1, 2, 3]')
    with pytest.raises(db.InputError, match="no rule") as error:
        read(tmp_path, grid)
    assert str(error.value).count("there is no rule") == 1  # not once for each point


def test_a_grid_of_mistakes_is_not_read_to_its_end(tmp_path):
    """Its 4,000 points took longer than ten seconds, and the error had as many lines."""
    cell = 'policy = "ucb(c=-{c})"\nworld = "bernoulli(means=[0.1, 0.2])"\nhorizon = 9\n'
    with pytest.raises(db.InputError) as error:
        read(tmp_path, f"[[cell]]\n{cell}grid.c = {list(range(1, 4001))}\n" * 2)
    message = str(error.value)
    assert "my.toml: 40 mistakes" in message
    assert "c must be a number from 0 to 1e+70, not -20\n" in message
    assert "not -21\n" not in message


def test_lines_of_keys():
    text = "a = 1\n\n# [[cell]]\nlong = [\n  1,\n  2,\n]\n"
    text += "[[cell]]\nb = {c = 1}\nd.e = 2\n[cell.f]\ng = 1\n\n[[cell]]\nb = 3\n"
    lines = key_lines(text)
    assert key_lines("a = '\u2028'\nb = 2\r\nc = 3")[None, ("c",)] == 3
    expected = {("a",): 1, ("long",): 4}
    assert {keys: line for (cell, keys), line in lines.items() if cell is None} == expected
    first = {(): 8, ("b",): 9, ("b", "c"): 9, ("d",): 10, ("d", "e"): 10, ("f",): 11, ("f", "g"): 12}
    assert {keys: line for (cell, keys), line in lines.items() if cell == 0} == first
    assert {keys: line for (cell, keys), line in lines.items() if cell == 1} == {(): 14, ("b",): 15}


def test_a_summary_of_two_chunks_is_the_sum():
    one, two = summary(1), summary(2)
    both = one + two
    assert isinstance(both, Summary)
    assert both.experiments == 40
    assert both.series["naive"]["error"][0].n == 40
    assert (both.histograms["gaussian"] == one.histograms["gaussian"] + two.histograms["gaussian"]).all()
