"""The same bits on processes and on a real Dask cluster, also when one of its workers is killed."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time

import commands
import distributed
import numpy as np
import pytest
from faults.clusters import started
from faults.studies import wait_for_lines

import debandit as db
from debandit.engine.processes import width_of
from debandit.executors import chosen, processes
from debandit.study import Cell

WORLDS = {
    "normal": db.worlds.Normal([1.0, 1.5], [1.0, 1.0]),
    "bernoulli": db.worlds.Bernoulli([[0.3, 0.6], [0.4, 0.45], [0.9, 0.1]]),  # a stack
    "empirical": db.worlds.Empirical([[0.0, 1.0, 5.0], [2.0]]),
}


@pytest.fixture(scope="module")
def pool():
    with processes(2) as executor:
        yield executor


@pytest.mark.parametrize("policy", [db.UCB(), db.ExploreThenCommit(5), db.ThompsonSampling()], ids=lambda p: p.name)
@pytest.mark.parametrize("world", WORLDS)
def test_simulate_on_processes(pool, policy, world):
    for paths in (False, True):
        here = db.simulate(policy, WORLDS[world], horizon=50, runs=1500, seed=3, paths=paths, threads=1)
        there = db.simulate(policy, WORLDS[world], horizon=50, runs=1500, seed=3, paths=paths, executor=pool)
        for name in ("pulls", "sums", *(("path_arms", "path_rewards") if paths else ())):
            np.testing.assert_array_equal(getattr(here, name), getattr(there, name))


def test_debias_on_processes(pool):
    runs = db.simulate("ucb", WORLDS["normal"], horizon=60, runs=5, seed=3, paths=True)
    logs = [runs.log(i) for i in range(5)]
    for world in ("gaussian", "efron"):
        here = db.debias(logs, db.UCB(), world=world, seed=4)
        there = db.debias(logs, db.UCB(), world=world, seed=4, executor=pool)
        assert [repr(one.rows()) for one in here] == [repr(one.rows()) for one in there]


def test_any_executor_will_do():
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        there = db.simulate("ucb", WORLDS["normal"], horizon=50, runs=3000, executor=executor)
    np.testing.assert_array_equal(there.sums, db.simulate("ucb", WORLDS["normal"], horizon=50, runs=3000).sums)
    with pytest.raises(db.InputError, match=r"executor: .* is not a concurrent.futures.Executor"):
        db.simulate("ucb", WORLDS["normal"], horizon=50, runs=10, executor=object())


def test_work_is_sent_as_a_small_description():
    """However long the horizon and however many the worlds, a task does not carry tables nor other tasks' worlds."""
    sizes = []

    class Weighing(concurrent.futures.Executor):
        def submit(self, function, *arguments):
            import pickle

            sizes.append(len(pickle.dumps((function, arguments))))
            future = concurrent.futures.Future()
            future.set_result(function(*arguments))
            return future

    stack = db.worlds.Normal(np.zeros((40, 2)), np.ones((40, 2)))
    db.simulate("ucb", stack, horizon=20_000, runs=512, executor=Weighing())
    assert len(sizes) > 4
    assert max(sizes) < 3_000


def test_errors_of_workers_keep_their_words(pool):
    cell = Cell("few", db.ThompsonSampling(), WORLDS["normal"], 3, ("naive", "gaussian"), experiments=50, runs=10)
    with pytest.raises(db.Refused, match="cell 'few', arms: no reward was logged") as error:
        db.Study("few", (cell,)).run(executor=pool)
    assert "\n  Give such arms a world" in str(error.value)


def test_one_place_at_a_time():
    with pytest.raises(db.InputError, match="not both"), chosen(2, "tcp://127.0.0.1:1"):
        pass


# --- Dask ------------------------------------------------------------------------------------------------------------

pytestmark = pytest.mark.filterwarnings("default")  # the warnings of Dask are not ours

# six chunks, each of half a second of work
STUDY = """
horizon = 100
experiments = 1800
runs = 400
methods = ["naive", "gaussian", "efron"]
[[cell]]
policy = "ucb"
world = "bernoulli(means=[0.3, 0.6])"
[[cell]]
policy = "thompson(initial_pulls=1)"
world = "normal(means=[1, 1.5], sds=[1, 1])"
"""


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "my.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def rows(study):
    return db.Study.from_toml(study).run().rows


def test_the_command_line_on_a_cluster(cluster, study, rows, tmp_path):
    def debandit(*arguments):
        done = commands.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    address = cluster.scheduler_address
    command = [sys.executable, "-m", "debandit", "study", study, "-o", tmp_path, "-q", "--cluster", address]
    subprocess.run(command, capture_output=True, check=True)
    there = db.study.StudyRows.load(db.Study.from_toml(study), tmp_path).rows
    assert list(map(repr, there)) == list(map(repr, rows))
    simulate = (
        "simulate",
        "--policy",
        "ucb",
        "--world",
        "bernoulli(means=[0.3,0.6])",
        "--horizon",
        "100",
        "--runs",
        "5000",
    )
    assert debandit(*simulate, "--cluster", address) == debandit(*simulate)
    debandit("demo", "--save", tmp_path / "trial.csv")
    columns = ("--arm", "drug", "--reward", "response")
    debias = ("debias", tmp_path / "trial.csv", *columns, "--policy", "ucb", "--runs", "5000")
    assert debandit(*debias, "--cluster", address) == debandit(*debias) == debandit(*debias, "--workers", "2")


def test_a_worker_of_the_cluster_is_killed(cluster, study, rows, tmp_path):
    with distributed.Client(cluster, set_as_default=False) as client:
        before = client.run(os.getpid)
        assert len(set(before.values())) == 2
        kept = []

        def kill_one_in_the_middle():
            while not (kept and kept[0]):
                time.sleep(0.01)
                kept[:] = [sum(f.read_bytes().count(b"\n") for f in (tmp_path / "cells").glob("*.jsonl"))]
            os.kill(next(iter(before.values())), signal.SIGKILL)

        killer = threading.Thread(target=kill_one_in_the_middle)
        killer.start()
        there = db.Study.from_toml(study).run(tmp_path, executor=client.get_executor())
        killer.join()
        chunks = sum(f.read_bytes().count(b"\n") for f in (tmp_path / "cells").glob("*.jsonl"))
        assert kept[0] < chunks / 2  # it was killed in the middle
        assert list(map(repr, there.rows)) == list(map(repr, rows))


@pytest.mark.parametrize(
    ("address", "message"),
    [("tcp://127.0.0.1:9", "cannot reach the cluster"), ("nonsense", "not the address"), ("tcp://host:abc", "not the")],
)
def test_a_cluster_that_is_not_there(address, message):
    with pytest.raises(db.InputError, match=message), chosen(None, address):
        pass


def test_the_scheduler_of_a_cluster_is_killed(study, rows, tmp_path):
    """One line says so, without Dask's tracebacks; what was finished is kept."""
    with started(tmp_path) as (address, (scheduler, _)):
        command = [sys.executable, "-m", "debandit", "study", study, "-o", tmp_path / "out", "-q", "--cluster", address]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for_lines(tmp_path, process, 1)
        scheduler.kill()
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (1, b"")
    assert errors.decode().splitlines()[0] == "error: the cluster ended before its work was done (CancelledError: )"
    assert len(errors.splitlines()) == 2
    assert list(map(repr, db.Study.from_toml(study).run(tmp_path / "out").rows)) == list(map(repr, rows))


def test_all_workers_of_a_cluster_are_used(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        assert width_of(client.get_executor()) == 2
