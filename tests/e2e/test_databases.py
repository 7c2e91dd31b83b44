"""Queries of real databases: the same log as from a file, nothing is written, and no password is said."""

import contextlib
import gc
import html
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import adbc_driver_postgresql.dbapi
import duckdb
import pytest
from postgresql import PASSWORD, USER, NoServerError, server

import debandit as db
from debandit.cli import main
from debandit.readers import databases
from debandit.readers.reading import read

LOG = db.simulate("ucb", db.worlds.Normal([1, 1.5], [1, 1]), horizon=200, runs=1, seed=3, paths=True).log(0)
ARMS, REWARDS = [LOG.labels[arm] for arm in LOG.rounds.arms], LOG.rounds.rewards.tolist()
ROWS = list(zip(ARMS, REWARDS, range(len(ARMS)), strict=True))
TABLE = "CREATE TABLE log (variant TEXT, value DOUBLE PRECISION, place INTEGER)"
QUERY = "SELECT variant, value FROM log ORDER BY place"


class Database(NamedTuple):
    """A database with the log in it, in another order."""

    kind: str
    uri: str

    def run(self, *statements):
        """Run statements, as somebody who may write, and give the rows of the last."""
        with contextlib.closing(self._opened()) as connection, contextlib.closing(connection.cursor()) as cursor:
            for statement in statements:
                cursor.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
            if self.kind == "sqlite":
                connection.commit()
            return rows

    def _opened(self):
        if self.kind == "postgresql":
            return adbc_driver_postgresql.dbapi.connect(self.uri, autocommit=True)
        return (sqlite3 if self.kind == "sqlite" else duckdb).connect(self.uri.partition("///")[2])

    def content(self):
        """All that a query might have changed."""
        if self.kind != "postgresql":
            folder = Path(self.uri.partition("///")[2]).parent
            return {file.name: file.read_bytes() for file in folder.iterdir()}
        return self.run(
            """SELECT (SELECT string_agg(log::text, ';') FROM log), (SELECT last_value + is_called::int FROM counter),
            (SELECT count(*) FROM information_schema.tables), (SELECT count(*) FROM pg_largeobject_metadata)"""
        )


@pytest.fixture(scope="session")
def port():
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(server())
        except NoServerError as reason:
            pytest.skip(f"PostgreSQL is not tested: {reason}")
        yield found


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request, tmp_path):
    return made(request.param, request, tmp_path)


@pytest.fixture
def postgresql(request, tmp_path):
    return made("postgresql", request, tmp_path)


def made(kind, request, folder):
    if kind == "postgresql":
        place = f"127.0.0.1:{request.getfixturevalue('port')}/postgres"
        found = Database(kind, f"postgresql://{USER}:{quote(PASSWORD, safe='')}@{place}")
        found.run("DROP TABLE IF EXISTS log", "DROP SEQUENCE IF EXISTS counter CASCADE")
    else:
        (folder / "database").mkdir()
        found = Database(kind, f"{kind}:///{folder / 'database' / 'my trial.db'}")
    values = ", ".join(f"('{arm}', '{reward!r}', {i})" for arm, reward, i in reversed(ROWS))
    found.run(TABLE, f"INSERT INTO log VALUES {values}", *["CREATE SEQUENCE counter"] * (kind != "sqlite"))
    return found


def said(capfd, *arguments):
    """The exit code of a command, and all that it said."""
    code = main([*map(str, arguments)])
    return code, "".join(capfd.readouterr())


def refused(uri, query, **columns):
    with pytest.raises(db.InputError) as error:
        db.read_log(uri, query=query, **columns)
    return str(error.value)


# --- what is read ----------------------------------------------------------------------------------------------------


def test_the_same_log_and_the_same_result_as_from_a_file(database, tmp_path, capfd):
    log = db.ExperimentLog.of(database.uri, query=QUERY)
    assert (log.labels, log.sha256) == (LOG.labels, LOG.sha256)
    other = db.read_log(database.uri, query="SELECT variant, value FROM log ORDER BY place DESC")  # control
    assert other.sha256 != LOG.sha256
    file = tmp_path / "log.csv"
    file.write_text("variant,value\n" + "".join(f"{arm},{reward!r}\n" for arm, reward, _ in ROWS))
    options = ("--policy", "ucb", "--runs", 100)
    from_file = said(capfd, "debias", file, *options)
    assert from_file[0] == 0
    assert said(capfd, "debias", "--db", database.uri, "--query", QUERY, *options) == from_file
    assert said(capfd, "debias", "--db", database.uri, "--query", f"{QUERY} -- all\n;", *options) == from_file
    assert said(capfd, "check", "--db", database.uri, "--query", QUERY, *options[:2])[0] == 0


TYPES = {  # literals; SQLite has no more types than these
    "whole numbers": ("CAST({} AS INTEGER)", [3, 1, 2], [3.0, 1.0, 2.0]),
    "reals": ("CAST({} AS DOUBLE PRECISION)", ["0.1", "1e-300", "-2.5"], [0.1, 1e-300, -2.5]),
    "decimals": ("CAST({} AS NUMERIC(12, 6))", ["0.1", "123456.654321", "-0.3"], [0.1, 123456.654321, -0.3]),
    "text": ("'{}'", ["0.1", " 7 ", "1e3"], [0.1, 7.0, 1000.0]),
    "true and false": ("{}", ["TRUE", "FALSE", "TRUE"], [1.0, 0.0, 1.0]),
}


@pytest.mark.parametrize("kind", TYPES)
def test_rewards_of_every_type(database, kind):
    form, values, expected = TYPES[kind]
    query = " UNION ALL ".join(
        f"SELECT '{arm}' AS arm, {form.format(each)} AS reward" for arm, each in zip("aab", values, strict=True)
    )
    assert db.read_log(database.uri, query=query).rounds.rewards.tolist() == expected
    gap = query.replace(form.format(values[1]), "NULL")
    assert "row 2: the value in column 'reward' is missing" in refused(database.uri, gap)
    kept = read(database.uri, query=gap, missing="drop")
    assert (kept.log.rounds.rewards.tolist(), kept.log.notes) == (
        expected[::2],
        ("1 row was left out because of missing values",),
    )


def test_arms_of_every_type(database):
    blob = {"sqlite": "X'{}'", "duckdb": "from_hex('{}')", "postgresql": "decode('{}', 'hex')"}[database.kind]
    name = "0f8fad5b-d9cb-469f-a165-70867728950e"
    for one, two, labels in [
        ("1", "22", ("1", "22")),
        ("'é'", "'b '", ("é", "b")),
        (blob.format("61"), blob.format("c3a9"), ("a", "é")),
        (blob.format("fe"), blob.format("ff"), (r"\xfe", r"\xff")),  # not UTF-8, and still two arms
        ("TRUE", "FALSE", ("1", "0") if database.kind == "sqlite" else ("True", "False")),
        (f"'{name}'", f"'{name[::-1]}'", (name, name[::-1])),
    ]:
        query = f"SELECT {one} AS arm, 1 AS reward UNION ALL SELECT {two}, 0"
        assert db.read_log(database.uri, query=query).labels == labels
    assert "there is a header but no rows" in refused(database.uri, f"SELECT * FROM ({query}) q WHERE reward > 5")


def test_types_of_postgresql(postgresql):
    name = "0f8fad5b-d9cb-469f-a165-70867728950e"
    query = f"SELECT '{name}'::uuid AS arm, 1 AS reward UNION ALL SELECT NULL, 1"
    log = read(postgresql.uri, query=query, arms=[name, "b"], missing="drop").log
    assert log.pulls.tolist() == [1, 0]
    money = "SELECT 'a' AS arm, 12.5::numeric::money AS reward"
    assert "the column 'reward' has the type money" in refused(postgresql.uri, money)
    cast = money.replace("AS reward", "::numeric AS reward")
    assert db.read_log(postgresql.uri, query=cast, arms=["a", "b"]).rounds.rewards.tolist() == [12.5]
    endless = "SELECT 'a' AS arm, 1 AS reward, 'infinity'::timestamp AS time"
    with pytest.raises(db.InputError, match=r"row 1: the time .* in column 'time' is not in the years 1678 to 2261"):
        read(postgresql.uri, query=endless, time="time")


@pytest.mark.parametrize("kind", ["TIMESTAMP", "DATE"])
def test_times(database, kind):
    moments = {"TIMESTAMP": ["2026-03-02 09:00:00.5", "2026-03-01 22:00:00", "2026-03-02 09:00:00"]}.get(
        kind, ["2026-03-03", "2026-03-01", "2026-03-02"]
    )
    form = "'{}'" if database.kind == "sqlite" else kind + " '{}'"
    query = " UNION ALL ".join(
        f"SELECT '{'abb'[i]}' AS arm, {i} AS reward, {form.format(each)} AS time" for i, each in enumerate(moments)
    )
    assert db.read_log(database.uri, query=query, time="time").rounds.rewards.tolist() == [1, 2, 0]
    days = db.read_log(database.uri, query=query, time="time", batch_by="day").batch_sizes
    assert days == ((1, 2) if kind == "TIMESTAMP" else (1, 1, 1))
    assert "not in the order of the column 'time'" in refused(database.uri, query)


def test_many_pieces_and_values_of_several_types(tmp_path, monkeypatch):
    """SQLite has types of values, not of columns."""
    monkeypatch.setattr(databases, "_ROWS", 3)
    found = Database("sqlite", f"sqlite:///{tmp_path / 'x.db'}")
    values = [1, 2, 3, 4, 0.5, 6, "7.25", 8, b"9", None, None, None, 2**53 + 1, 0.1, 2**53 + 1]
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE log (arm, reward)")
        connection.executemany("INSERT INTO log VALUES (?, ?)", [(value or "none", value) for value in values])
        connection.commit()
    log = read(found.uri, query="SELECT * FROM log", missing="drop", reward="reward").log
    assert log.rounds.rewards.tolist() == [1, 2, 3, 4, 0.5, 6, 7.25, 8, 9, 2.0**53, 0.1, 2.0**53]
    assert "row 10: the value in column 'reward' is missing" in refused(found.uri, "SELECT * FROM log")


def test_rows_do_not_pile_up(postgresql, tmp_path, monkeypatch):
    """The rows of a query are in a file, not in memory; it is gone when nobody can read it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    query = "SELECT 'a' AS arm, 1 AS reward, repeat('x', 1000) AS more FROM generate_series(1, 30000)"
    source = databases.queried(postgresql.uri, query)
    (folder,) = tmp_path.glob("debandit-*")
    assert (folder / "rows").stat().st_size > 30e6
    assert max(len(piece.columns) for piece in source.read(["arm", "more"], [])) < 20_000
    del source
    gc.collect()
    assert not list(tmp_path.glob("debandit-*"))
    refused(postgresql.uri, query.replace("1 AS", "1 / (3e4 - generate_series) AS"))
    assert not list(tmp_path.glob("debandit-*"))


def test_counts(database):
    query = "SELECT variant, count(*) AS visitors, sum(CASE WHEN value > 1 THEN 1 ELSE 0 END) AS conversions FROM log"
    log = db.read_log(database.uri, query=f"{query} GROUP BY variant ORDER BY variant")
    assert (log.labels, log.pulls.tolist()) == (LOG.labels, LOG.pulls.tolist())


# --- what is refused -------------------------------------------------------------------------------------------------

WRITING = [
    "INSERT INTO log VALUES ('x', 1, 1)",
    "DELETE FROM log",
    "DROP TABLE log",
    "CREATE TABLE other AS SELECT * FROM log",
    "CREATE TEMP TABLE other AS SELECT * FROM log",
    "VACUUM",
    "BEGIN",
    "SELECT * FROM log; DELETE FROM log",
    "SELECT * FROM log; SELECT * FROM log",
    "DELETE FROM log; SELECT * FROM log",
    "/* SELECT */ DELETE FROM log",
    "-- SELECT\nDELETE FROM log",
    "EXPLAIN SELECT * FROM log",
    "",
    " ; ",
]
OWN = {
    "sqlite": [
        "ATTACH '{}/other.db' AS other",
        "VACUUM INTO '{}/other.db'",
        "PRAGMA journal_mode = wal",
        "PRAGMA user_version = 7",
        "SELECT load_extension('{}/other.so')",
        "WITH x AS (SELECT 1) INSERT INTO log SELECT 'x', 1, 1 FROM x",
        "WITH x AS (SELECT 1) DELETE FROM log",
    ],
    "duckdb": [
        "ATTACH '{}/other.db' AS other",
        "COPY log TO '{}/other.csv'",
        "EXPORT DATABASE '{}/other'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SELECT nextval('counter') AS arm, 1 AS reward",
        "SELECT * FROM read_csv('/etc/passwd')",
        "FROM log; SET enable_external_access = true; COPY log TO '{}/other.csv'",
        "WITH x AS (SELECT 1) INSERT INTO log SELECT 'x', 1, 1 FROM x",
    ],
    "postgresql": [
        "COMMIT; DELETE FROM log",
        "COMMIT",
        "SET TRANSACTION READ WRITE",
        "SET TRANSACTION READ WRITE; DELETE FROM log",
        "SELECT 1) TO STDOUT; COMMIT; DELETE FROM log; COPY (SELECT 1",
        "SELECT * FROM log FOR UPDATE",
        "SELECT * INTO other FROM log",
        "WITH gone AS (DELETE FROM log RETURNING *) SELECT * FROM gone",
        "SELECT nextval('counter') AS arm, 1 AS reward",
        "SELECT set_config('transaction_read_only', 'off', false) AS arm, 1 AS reward",
        "SELECT writes() AS arm, 1 AS reward",
        "SELECT frees_itself() AS arm, 1 AS reward",
        "COPY log TO '/tmp/debandit-written.csv'",
        "COPY log TO PROGRAM 'touch /tmp/debandit-written.csv'",
        "DO $$ BEGIN DELETE FROM log; END $$",
    ],
}


def test_nothing_is_written(database, tmp_path):
    if database.kind == "postgresql":
        body = "CREATE OR REPLACE FUNCTION {}() RETURNS text LANGUAGE plpgsql AS $$ BEGIN {} RETURN 'x'; END $$"
        free = "PERFORM set_config('transaction_read_only', 'off', true); "
        for name, before in (("writes", ""), ("frees_itself", free)):
            database.run(body.format(name, before + "INSERT INTO log VALUES ('x', 1, 1);"))
    before = database.content()
    for statement in (*WRITING, *(each.format(tmp_path) for each in OWN[database.kind])):
        assert "\n" in refused(database.uri, statement), statement
    assert database.content() == before
    assert [path.name for path in tmp_path.iterdir() if path.name != "database"] == []
    assert not Path("/tmp/debandit-written.csv").exists()
    db.read_log(database.uri, query=QUERY)
    assert database.content() == before
    if database.kind == "postgresql":  # large objects may be made in a read-only transaction, but it is not committed
        db.read_log(database.uri, query="SELECT lo_create(0) AS reward, 'a' AS arm", arms=["a", "b"])
        assert database.content() == before
        database.run("SELECT writes()")  # control
    else:
        database.run(WRITING[0])
    assert database.content() != before


def test_failing_queries_are_explained(database):
    assert "nope" in refused(database.uri, "SELECT * FROM nope")
    assert "nope" in refused(database.uri, "SELECT nope FROM log")
    assert "syntax" in refused(database.uri, "SELECT * FROM log WHERE WHERE").lower()
    assert "the column 'arm' appears 2 times" in refused(database.uri, "SELECT 1 AS arm, 2 AS arm, 3 AS reward")
    assert "Name it with --arm. The columns are: value, place" in refused(database.uri, "SELECT value, place FROM log")
    for text in ("SELECT * FROM nope", "SELECT * FROM log WHERE WHERE"):
        lines = refused(database.uri, text).splitlines()
        assert lines[-1] == "  Check --query."
        assert len(lines) == 2


def test_files_that_are_no_database(tmp_path):
    (tmp_path / "log.csv").write_text("arm,reward\na,1\n" * 100)
    for kind in ("sqlite", "duckdb"):
        assert "log.csv: " in refused(f"{kind}:///{tmp_path}/log.csv", "SELECT * FROM log")
        assert "three slashes" in refused(f"{kind}:///{tmp_path}/none.db", "SELECT 1")
        assert not (tmp_path / "none.db").exists()
        refused(f"{kind}:///{'x' * 5000}", "SELECT 1")


@pytest.mark.parametrize("kind", ["duckdb", "postgresql"])
def test_a_missing_package(tmp_path, monkeypatch, kind):
    monkeypatch.setitem(sys.modules, {"duckdb": "duckdb", "postgresql": "adbc_driver_postgresql.dbapi"}[kind], None)
    (tmp_path / "x").touch()
    uri = f"duckdb:///{tmp_path}/x" if kind == "duckdb" else "postgresql://localhost/x"
    assert f"pip install 'debandit[{kind}]'" in refused(uri, "SELECT 1")


def test_what_the_options_need(tmp_path, capfd):
    for arguments, message in [
        (["--db", "sqlite:///x.db"], "'--db' and '--query' go together"),
        (["log.csv", "--query", "SELECT 1"], "'--db' and '--query' go together"),
        (["log.csv", "--db", "sqlite:///x.db", "--query", "SELECT 1"], "Give either LOG or '--db'"),
        ([], "Missing argument 'LOG...'"),
        (["--db", "mysql://me@here/x", "--query", "SELECT 1"], "not the address of a database"),
    ]:
        code, text = said(capfd, "describe", *arguments)
        assert (code, message in text) == (2, True), text
    with pytest.raises(db.InputError, match="not the address of a database"):
        db.read_log({"arm": [1], "reward": [1]}, query="SELECT 1")


def test_a_result_does_not_replace_the_database(tmp_path, capfd, request):
    database = made("sqlite", request, tmp_path)
    before = database.content()
    path = database.uri.partition("///")[2]
    options = ("--policy", "ucb", "--runs", 100, "--json", path)
    code, text = said(capfd, "debias", "--db", database.uri, "--query", QUERY, *options)
    assert (code, "the result would replace it" in text) == (2, True)
    assert database.content() == before


# --- what is said ----------------------------------------------------------------------------------------------------


def test_what_describe_says_can_be_typed(database, capfd, monkeypatch):
    query = "SELECT variant, value -- 'quoted'\nFROM log ORDER BY place"
    code, text = said(capfd, "describe", "--db", database.uri, "--query", query)
    assert code == 0
    assert (PASSWORD in text, quote(PASSWORD, safe="") in text) == (False, False)
    command = text.partition("lists them):\n")[2].partition("\nIf you")[0]
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    words = shlex.split(command)
    assert words[:3] == ["debandit", "debias", "--db"]
    log, policy = words[1:-1], ["ucb", "--runs", "100"]
    expected = said(capfd, "debias", "--db", database.uri, "--query", QUERY, "--policy", *policy)
    assert said(capfd, *log, *policy) == expected


@pytest.mark.parametrize("sign", [" ", "="])
def test_a_report_has_no_password(database, tmp_path, capfd, monkeypatch, sign):
    """Others read it, and it repeats the command."""
    address = ["--db", database.uri] if sign == " " else [f"--db={database.uri}"]
    words = ["debias", *address, "--query", QUERY, "--policy", "ucb", "--runs", "100"]
    monkeypatch.setattr("sys.argv", ["debandit", *words, "--report", str(tmp_path / "report.html")])
    assert main(sys.argv[1:]) == 0
    text = html.unescape((tmp_path / "report.html").read_text())
    assert not any(secret in text for secret in (PASSWORD, quote(PASSWORD, safe="")))
    command = text.replace("'", "")
    assert f"debandit debias --db{sign}" in command
    assert f"debandit debias --db{sign}{database.uri}" in command or database.kind == "postgresql"


def test_passwords_are_never_said(port, capfd, monkeypatch):
    """Neither if all is well nor if the host, the password or the address is wrong."""
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "5")
    place, plain = f"127.0.0.1:{port}", quote(PASSWORD, safe="")
    sound = [
        f"postgresql://{USER}:{plain}@{place}/postgres",
        f"postgres://{USER}:{plain}@{place}/postgres",
        f"postgresql://{place}/postgres?user={USER}&password={plain}",
        f"postgresql:///postgres?password={plain}&host=127.0.0.1&port={port}&user={USER}",
        f"postgresql://{USER}@{place}/postgres?application_name=me&password={plain}",
    ]
    broken = [
        f"postgresql://{USER}:wr0ngw0rd@{place}/postgres",
        f"postgresql://{place}/postgres?user={USER}&password=wr0ngw0rd",
        *(f"postgresql://{USER}:wr0ngw0rd{mark}wr0ngw0rd@{place}/postgres" for mark in "@:/?#% =&;\n'\"é"),
        f"postgresql://{USER}:wr0ngw0rd%zz@{place}/postgres",
        f"postgresql://{USER}:wr0ngw0rd%00@{place}/postgres",
        f"postgresql://{USER}:wr0ngw0rd@{place}/nodatabase",
        f"postgresql://{USER}:wr0ngw0rd@127.0.0.1:1/postgres",
        f"postgresql://{USER}:wr0ngw0rd@host.invalid/postgres",
        f"postgresql://{USER}:wr0ngw0rd@{place}/postgres?sslmode=require",
        f"postgresql://{USER}:wr0ngw0rd@{place}/postgres?sslmode=odd",
        f"postgresql://{USER}:wr0ngw0rd",
        f"postgresql://{USER}:wr0ngw0rd/postgres",
        f"postgresql:/{USER}:wr0ngw0rd@{place}/postgres",
        f"postgresql:{USER}:wr0ngw0rd@{place}/postgres",
        f"Postgresql://{USER}:wr0ngw0rd@{place}/postgres",
        f"postgresql+psycopg://{USER}:wr0ngw0rd@{place}/postgres",
        f"postgresql://{place}/postgres?user={USER}&passwrd=wr0ngw0rd",
        f"postgresql://{place}/postgres?user={USER}&password=wr0ngw0rd=wr0ngw0rd",
        f"postgresql://{place}/postgres?wr0ngw0rd",
        f"mysql://{USER}:wr0ngw0rd@{place}/postgres",
        f"sqlite://{USER}:wr0ngw0rd@{place}/postgres",
        "duckdb:///md:x?motherduck_token=wr0ngw0rd",
        f"host=127.0.0.1 port={port} user={USER} password=wr0ngw0rd",
    ]
    query = "SELECT 'a' AS arm, 1 AS reward UNION ALL SELECT 'b', 0"
    for uri in (*sound, *broken):
        for asked in (query, "SELECT * FROM nope", "SELECT 'a' AS arm, 'x' AS reward", "SELECT 1; SELECT 2"):
            code, text = said(capfd, "describe", "--db", uri, "--query", asked)
            assert code == (0 if uri in sound and asked == query else 2), (uri, asked, text)
            assert not any(secret in text for secret in (PASSWORD, plain, "wr0ng", "motherduck_token")), (uri, text)
            if uri in broken:
                break  # it is not asked
        code, text = said(capfd, "describe", uri)  # as if it were a file
        assert (code, "wr0ng" in text and "://" in uri, plain in text) == (2, False, False), (uri, text)
    assert 'password authentication failed for user "tester"' in refused(broken[0], query)
    assert "Connection refused" in refused(f"postgresql://{USER}:wr0ngw0rd@127.0.0.1:1/postgres", query)


def test_control_the_drivers_say_passwords():
    """Without our care they would: libpq takes what follows the colon for a port."""
    with pytest.raises(Exception, match="wr0ngw0rd"):
        adbc_driver_postgresql.dbapi.connect("postgresql://me:wr0ngw0rd")


# --- interruptions ---------------------------------------------------------------------------------------------------

SLOW = {
    "sqlite": "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT max(i) AS arm FROM x",
    "duckdb": "SELECT sum(a.range * b.range) AS arm, 1 AS reward FROM range(100000000) a, range(100000000) b",
    "postgresql": "SELECT 'a' AS arm, 1 AS reward, pg_sleep(100)",
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_ctrl_c(database, tmp_path):
    command = [sys.executable, "-m", "debandit", "describe", "--db", database.uri, "--query", SLOW[database.kind]]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob("debandit-*/rows")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=10)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, text.strip()) == (130, "interrupted")
    assert not list(tmp_path.glob("debandit-*"))
