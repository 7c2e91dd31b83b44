"""The rows of a query: SQLite by the standard library, DuckDB and PostgreSQL by packages that are installed for it.

A query is run once, in a transaction that cannot write, and its rows are kept in a temporary file: it might give them
in another order the next time. What is in an address besides user, host and database is never shown.
"""

import contextlib
import importlib
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from debandit.errors import InputError, shorten
from debandit.readers.sources import Source, arrow_source, temporary_file

_ROWS = 2**16  # of a piece
_KINDS = "sqlite:///file.db, duckdb:///file.duckdb, or postgresql://user@host/database"
_MAY = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


def queried(uri: str, query: str) -> Source:
    """What the query gives, as a table."""
    kind = next((kind for kind in _RUN if uri.startswith(f"{kind}:")), None)
    if kind is None:
        what = f"{shown(uri)!r} is not the address of a database"
        raise InputError(what, where="--db", remedy=f"Write {_KINDS}.")
    if re.search("[@/?#]", _password(uri)):
        what = "the address has characters in its password, or in its user, that mean something else"
        remedy = "Write them as %40 for @, %2F for /, %3F for ?, %23 for #; or leave the password to PGPASSWORD."
        raise InputError(what, where="--db", remedy=remedy)
    path = temporary_file()
    with _explained(uri), _RUN[kind](uri, query.strip().rstrip(";")) as reader:
        if not reader.schema.names:
            raise InputError("the query gives no table", where="--query", remedy="Write a SELECT.")
        schema = pa.schema([(field.name, getattr(field.type, "storage_type", field.type)) for field in reader.schema])
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            for batch in reader:
                plain = [getattr(column, "storage", column) for column in batch.columns]  # PostgreSQL's numeric is text
                writer.write_batch(pa.record_batch(plain, schema=schema))
    return arrow_source(path, shown(uri), stream=False)


def _password(uri: str) -> str:
    return uri.partition("://")[2].rpartition("@")[0].partition(":")[2]


def shown(uri: str) -> str:
    """The address without what may be a password."""
    scheme, mark, rest = uri.partition("://")
    if not mark:
        return shorten(uri.partition(":")[0] if ":" in uri else uri)
    user, at, place = rest.rpartition("@")
    return shorten(f"{scheme}://{user.partition(':')[0]}{at}{re.split('[?#]', place)[0]}", 60)


def _secrets(uri: str) -> list[str]:
    """Everything that must not be said: the address itself, passwords, and what follows a question mark."""
    parts = [uri, _password(uri), *re.split("[?&#=]", uri)[1:]]
    return sorted({each for part in parts for each in (part, unquote(part)) if each}, key=len, reverse=True)


@contextlib.contextmanager
def _explained(uri: str) -> Iterator[None]:
    """What goes wrong, in words, without a password."""
    try:
        yield
    except (InputError, KeyboardInterrupt):
        raise
    except Exception as error:  # each driver has exceptions of its own
        text = " ".join(str(error).split())
        for secret in _secrets(uri):
            text = text.replace(secret, "...")
        what = f"the database says: {shorten(text, 300)}"
        raise InputError(what, where=shown(uri), remedy="Check --db and --query.") from None


def _driver(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        remedy = f"Install it: pip install 'debandit[{extra}]'"
        raise InputError(f"this database needs the package {name.split('.')[0]}", where="--db", remedy=remedy) from None


def _file_of(uri: str) -> Path:
    """The file of sqlite:///relative/path, sqlite:////absolute/path or sqlite:path."""
    path = Path(uri.partition(":")[2].removeprefix("///"))
    if not path.is_file():
        remedy = "Write three slashes before a relative path, four before an absolute one."
        raise InputError("no such file", where=shown(uri), remedy=remedy)
    return path


@contextlib.contextmanager
def _sqlite(uri: str, query: str) -> Iterator[pa.RecordBatchReader]:
    connection = sqlite3.connect(f"{_file_of(uri).resolve().as_uri()}?mode=ro", uri=True)
    with contextlib.closing(connection):
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        connection.execute("BEGIN")  # both queries see the same rows
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _MAY else sqlite3.SQLITE_DENY)
        cursor = connection.execute(query)
        names = [each[0] for each in cursor.description or ()]
        # SQLite has types of values, not of columns
        places = [f'typeof("{name.replace(chr(34), chr(34) * 2)}")' for name in names]
        found = connection.execute(f"SELECT DISTINCT {', '.join(places)} FROM ({query})").fetchall() if names else []
        kinds = [_kind_of({row[i] for row in found}) for i in range(len(names))]
        schema = pa.schema([(name, kind) for name, (kind, _) in zip(names, kinds, strict=True)])

        def batches() -> Iterator[pa.RecordBatch]:
            while rows := cursor.fetchmany(_ROWS):
                columns = zip(zip(*rows, strict=True), kinds, strict=True)
                yield pa.record_batch(
                    [
                        pa.array([None if v is None else as_kind(v) for v in column], kind)
                        for column, (kind, as_kind) in columns
                    ],
                    schema=schema,
                )

        yield pa.RecordBatchReader.from_batches(schema, batches())


def _kind_of(types: set[str]) -> tuple[pa.DataType, Callable[[Any], Any]]:
    """The type of a column whose values have these, and how to make it of them."""
    types = types - {"null"}
    if types <= {"integer"}:
        return pa.int64(), int
    if types <= {"integer", "real"}:
        return pa.float64(), float
    return pa.string(), lambda value: value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


@contextlib.contextmanager
def _duckdb(uri: str, query: str) -> Iterator[pa.RecordBatchReader]:
    duckdb = _driver("duckdb", "duckdb")
    # without access to other files, because a query could write to them
    options = {"enable_external_access": "false"}
    with duckdb.connect(str(_file_of(uri)), read_only=True, config=options) as connection:
        statements = connection.extract_statements(query)
        if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
            raise InputError("this is not one query", where="--query", remedy="Write a SELECT.")
        yield pa.RecordBatchReader.from_stream(connection.sql(query))


@contextlib.contextmanager
def _postgresql(uri: str, query: str) -> Iterator[pa.RecordBatchReader]:
    dbapi = _driver("adbc_driver_postgresql.dbapi", "postgresql")
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute(query)
        yield cursor.fetch_record_batch()


_RUN = {"sqlite": _sqlite, "duckdb": _duckdb, "postgresql": _postgresql, "postgres": _postgresql}
