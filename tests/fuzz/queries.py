"""Results of SQL queries on SQLite, whose columns may hold anything."""

import random
import sqlite3

import debandit as db
from debandit.readers.reading import read
from fuzz import logs
from fuzz.properties import need

NAMES = ("arm", "reward", "variant", "value", "time", "batch", "pulls", "conversions", "Arm ", "", "ärm", "a\0b", '"')
CELLS = {
    "arm": ["'A'", "'B'", "'C'", "NULL", "1", "2.5", "X'41'", "X'FF00'", "''", "' A '", "'Ä'", "char(0)", "char(27)"],
    "number": [
        *("0", "1", "1", "0", "2.5", "-3", "NULL", "'1'", "'x'", "''", "X'31'", "9e999", "-9e999", "1e300", "1e-320"),
        *("9223372036854775807", "-9223372036854775808", "'1e400'", "'nan'", "'2026-01-31'", "1/0", "zeroblob(9)"),
        *("char(55296)", "'' || 1", "random() * 0", "TRUE", "hex(1)", "quote(NULL)", "max(1, 2)", "'1,5'", "'٣'"),
    ],
}
FORMS = (
    "SELECT {columns} FROM log",
    "SELECT * FROM log",
    "select {columns} from log order by 1 desc -- comment",
    "WITH a AS (SELECT * FROM log) SELECT {columns} FROM a;",
    "VALUES ('A', 1), ('B', 0)",
    "SELECT {columns} FROM log UNION ALL SELECT {columns} FROM log",
    "SELECT {columns} FROM log CROSS JOIN (SELECT 1 AS other UNION SELECT 2)",
    "SELECT {columns} FROM log LIMIT {number}",
    "SELECT {columns}, count(*) AS n FROM log GROUP BY 1",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 300) SELECT n % 3 AS arm, n AS y FROM t",
)
WRONG = (
    *(
        "",
        "x",
        "DELETE FROM log",
        "SELECT",
        "SELECT 1; SELECT 2",
        "PRAGMA user_version = 1",
        "ATTACH 'x' AS y",
        "TABLE log",
    ),
    *("SELECT load_extension('x')", "SELECT * FROM nowhere", "SELECT 1/0 AS arm, abs(-9223372036854775808) AS reward"),
    *(
        "SELECT writefile('x', 1)",
        "WITH a AS (SELECT 1) DELETE FROM log",
        "SELECT * FROM log\0",
        "SELECT '",
        "(" * 2000,
    ),
    *(
        "SELECT " + ", ".join(f"1 AS c{i}" for i in range(1999)),
        "/*" * 50,
        "SELECT ?",
        "SELECT :x AS arm",
        "EXPLAIN SELECT 1",
    ),
)


def made(seed):
    rng = random.Random(f"queries {seed}")
    sound = rng.random() < 0.6
    names = (
        ["arm", "reward", *rng.sample(NAMES[4:], rng.randrange(2))] if sound else rng.sample(NAMES, rng.randrange(1, 5))
    )
    kinds = [rng.choice(["TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC", "BOOLEAN", "DATE", ""]) for _ in names]
    quoted = ['"' + name.replace('"', '""').replace("\0", "") + '"' for name in names]
    rows = []
    for _ in range(rng.choice([0, 1, 2, 12, 12, 12, 12])):
        cells = [CELLS["arm" if name in ("arm", "variant") else "number"] for name in names]
        cells = [each[: 4 if rng.random() < 0.9 else len(each)] if sound else each for each in cells]
        rows.append(f"({', '.join(map(rng.choice, cells))})")
    table = f"CREATE TABLE log ({', '.join(f'{n} {k}' for n, k in zip(quoted, kinds, strict=True))})"
    columns = [f"{name} AS {rng.choice(quoted)}" if rng.random() < 0.1 else name for name in quoted]
    query = rng.choice(FORMS).format(columns=", ".join(columns), number=rng.choice([0, 1, 5]))
    if rng.random() < 0.15:
        query = rng.choice(WRONG)
    options = {"missing": rng.choice(["refuse", "drop"]), "batched": rng.random() < 0.2}
    return {
        "statements": [table, *(f"INSERT INTO log VALUES {row}" for row in rows)],
        "query": query,
        "options": options,
    }


def tried(given, folder):
    path = folder / "log.db"
    connection = sqlite3.connect(":memory:")
    for statement in given["statements"]:
        try:
            connection.execute(statement)
        except sqlite3.Error:  # two columns of one name, say: then there are fewer rows, or no table
            continue
    path.write_bytes(before := connection.serialize() or b"")
    connection.close()
    try:
        log = read(f"sqlite:///{path}", query=given["query"], **given["options"]).log
    except db.DebanditError as error:
        need(str(path) in str(error) or str(error).startswith("--"), f"the database is not named: {error}")
        raise
    finally:
        need(
            path.read_bytes() == before and not path.with_name("log.db-journal").exists(), "the database was written to"
        )
    logs.need_log(log)
    return True
