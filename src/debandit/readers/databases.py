"""The rows of a query: SQLite by the standard library, DuckDB and PostgreSQL by packages that are installed for it.

A query runs once, where it cannot write, and its rows are kept in a temporary file: the next time it might give them in
another order. Of an address, only what cannot be a password is ever shown.
"""

import contextlib
import functools
import importlib
import itertools
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from debandit.errors import InputError, shorten
from debandit.readers.pieces import Piece, Source, place_of

_ROWS = 2**16  # of a piece
_PATIENCE = 2.0  # seconds for a database to stop after Ctrl-C
_KINDS = "sqlite:///file.db, duckdb:///file.duckdb or postgresql://user@host/database"
_ONE_QUERY = "Write one SELECT; nothing else is run."
_FILE = re.compile(r"(sqlite|duckdb):(?:///)?(.+)", re.S)
_HOST = r"(?:\[[\w:.%]+\]|[^\[\]:@/?#,\s]*)(?::\d*)?"
_POSTGRESQL = re.compile(
    rf"""(?!.*%(?:00|(?![0-9a-f]{{2}})))  # a percent sign and something else than two digits
    (?P<scheme>postgres(?:ql)?://)(?:(?P<user>[^:@/?\#\s]*)(?::(?P<password>[^@/?\#\s]*))?@)?
    (?P<place>{_HOST}(?:,{_HOST})*(?:/[^@/?\#\s]*)?)(?:\?(?P<options>\w+=[^=&@\#\s]*(?:&\w+=[^=&@\#\s]*)*))?""",
    re.X | re.I,
)
_SHOWN_OPTIONS = {"host", "hostaddr", "port", "dbname", "user", "service", "sslmode", "sslrootcert", "connect_timeout"}
_QUERY = re.compile(r"(?:\s|\(|--[^\n]*\n|(?>/\*.*?\*/))*+(?:select|with|values|table|from)\b", re.I | re.S)
_BEFORE = re.compile(r"^.*?(?:ERROR|FATAL|Failed to connect):\s+", re.S)  # what a driver says besides the reason
_BEHIND = re.compile(r"\n\s*(?:LINE \d|CONTEXT:|Query was:).*|\. SQLSTATE.*", re.S)


class Address(NamedTuple):
    """Where a database is."""

    kind: str
    place: str  # the path of a file, or the whole address with its password
    shown: str  # without passwords
    secrets: tuple[str, ...]

    @property
    def file(self) -> Path | None:
        """The file that must not be written to."""
        return None if self.kind == "postgresql" else Path(self.place)


class _Database(NamedTuple):
    ask: Callable[[str], tuple[list[str], Iterable[pa.RecordBatch]]]  # the names of the columns, and the rows
    stop: Callable[[], object]  # from another thread


def address_of(uri: Any) -> Address:
    """What an address says. One that cannot be understood is not repeated: who knows where its password is."""
    text = uri if isinstance(uri, str) else ""
    if found := _FILE.fullmatch(text):
        kind, place = found.groups()
        with contextlib.suppress(OSError):  # a name that is too long
            if Path(place).is_file():
                return Address(kind, place, text, ())
        remedy = f"Write three slashes before a relative path, four before an absolute one: {kind}:////data/file."
        raise InputError("no such file", where="--db" if re.search("[?@]", place) else place, remedy=remedy)
    if found := _POSTGRESQL.fullmatch(text):
        options = [each.partition("=") for each in (found["options"] or "").split("&") if each]
        told = "&".join("".join(each) for each in options if each[0] in _SHOWN_OPTIONS)
        hidden = [found["password"] or "", *(each[2] for each in options if each[0] not in _SHOWN_OPTIONS)]
        user = "" if found["user"] is None else f"{found['user']}@"
        shown = f"{found['scheme']}{user}{found['place']}" + f"?{told}" * bool(told)
        secrets = {form for secret in hidden for form in (secret, unquote(secret)) if form}
        return Address("postgresql", text, shown, tuple(sorted(secrets, key=len, reverse=True)))
    if text.lower().startswith("postgres"):
        codes = "%40 for @, %3A for :, %2F for /, %3F for ?, %23 for #, %20 for a space and %25 for %"
        remedy = f"Write postgresql://user:password@host:5432/database, with {codes}."
        raise InputError("this address cannot be understood", where="--db", remedy=remedy)
    raise InputError("this is not the address of a database", where="--db", remedy=f"Write {_KINDS}.")


def queried(uri: Any, query: str) -> Source:
    """What the query gives."""
    address = address_of(uri)
    if not _QUERY.match(query):
        raise InputError("this is not a query", where="--query", remedy=_ONE_QUERY)
    folder, name = Path(tempfile.mkdtemp(prefix="debandit-")), shorten(address.shown, 200)
    try:
        names = _interruptibly(lambda stops: _keep(address, query.strip().rstrip(";"), folder / "rows", stops))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise

    def read(columns: Sequence[str], _: Sequence[str]) -> Iterator[Piece]:
        for column in columns:
            place_of(column, names, name)
        row = 1
        for batch in _kept(folder / "rows"):
            yield Piece(name, row, batch.select(list(columns)))
            row += len(batch)

    weakref.finalize(read, shutil.rmtree, folder, ignore_errors=True)  # when nobody can read it any more
    return Source(name, names, read)


def _keep(address: Address, query: str, path: Path, stops: list[Callable[[], object]]) -> list[str]:
    """Write what the query gives into a file, and say the names of its columns."""
    check = "Check --db." if address.file else "Check --db and the password."
    with _database_explained(address, check), _OPEN[address.kind](address) as database:
        stops.append(database.stop)
        with _database_explained(address, "Check --query."), pa.OSFile(str(path), "wb") as file:
            names, batches = database.ask(query)
            if not names:
                raise InputError("this query gives no table", where="--query", remedy=_ONE_QUERY)
            plain = (pa.record_batch([_plain(column) for column in batch.columns], names) for batch in batches)
            for schema, alike in itertools.groupby((batch for batch in plain if len(batch)), lambda each: each.schema):
                with pa.ipc.new_stream(file, schema) as writer:
                    for batch in alike:
                        writer.write_batch(batch)
    return names


def _kept(path: Path) -> Iterator[pa.RecordBatch]:
    """What was written: one stream after the other."""
    if path.stat().st_size:
        with pa.memory_map(str(path)) as file:
            while file.tell() < file.size():
                yield from pa.ipc.open_stream(file)


def _plain(column: pa.Array) -> pa.Array:
    """A column without an extension type: PostgreSQL's numeric is text in one."""
    if column.type == pa.uuid():
        return pa.array([None if each is None else str(each) for each in column.to_pylist()], pa.string())
    return getattr(column, "storage", column)


def _interruptibly(work: Callable[[list[Callable[[], object]]], list[str]]) -> list[str]:
    """Do the work in a thread, because a driver that waits for its database does not hear Ctrl-C."""
    from concurrent.futures import Future, wait

    stops: list[Callable[[], object]] = []
    done: Future[list[str]] = Future()

    def run() -> None:
        try:
            done.set_result(work(stops))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        while not wait([done], 0.1).done:  # not for long: another thread may have got the signal
            pass
        return done.result()
    except KeyboardInterrupt:
        for stop in stops:
            with contextlib.suppress(Exception):
                stop()
        wait([done], _PATIENCE)
        raise


@contextmanager
def _database_explained(address: Address, remedy: str) -> Iterator[None]:
    """What goes wrong, in words, without a password."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # each driver has exceptions of its own
        text = " ".join(_BEHIND.sub("", _BEFORE.sub("", str(error))).split())
        for secret in address.secrets:
            text = text.replace(secret, "…")
        raise InputError(shorten(text, 300), where=shorten(address.shown, 200), remedy=remedy) from None


def _driver(name: str, package: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        remedy = f"Install it: pip install 'debandit[{extra}]'"
        raise InputError(f"this database needs the package {package}", where="--db", remedy=remedy) from None


# --- the databases ---------------------------------------------------------------------------------------------------


@contextmanager
def _sqlite(address: Address) -> Iterator[_Database]:
    import sqlite3

    may = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    connection = sqlite3.connect(f"{Path(address.place).resolve().as_uri()}?mode=ro", uri=True)
    with contextlib.closing(connection):
        connection.text_factory = functools.partial(str, encoding="utf-8", errors="backslashreplace")
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in may else sqlite3.SQLITE_DENY)

        def ask(query: str) -> tuple[list[str], Iterable[pa.RecordBatch]]:
            cursor = connection.execute(query)
            names = [each[0] for each in cursor.description or ()]
            pieces = iter(lambda: cursor.fetchmany(_ROWS), [])
            return names, (pa.record_batch(list(map(_typed, zip(*rows, strict=True))), names) for rows in pieces)

        yield _Database(ask, connection.interrupt)


def _typed(values: tuple[Any, ...]) -> pa.Array:
    """Some values of a column, of which each may have a type of its own."""
    try:
        column = pa.array(values)
    except (pa.ArrowException, TypeError):
        return pa.array([value if value is None else _decoded(value) for value in values], pa.string())
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column


def _decoded(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


@contextmanager
def _duckdb(address: Address) -> Iterator[_Database]:
    duckdb = _driver("duckdb", "duckdb", "duckdb")
    options = {"enable_external_access": "false", "lock_configuration": "true"}  # no other files, no extensions
    with duckdb.connect(address.place, read_only=True, config=options) as connection:

        def ask(query: str) -> tuple[list[str], Iterable[pa.RecordBatch]]:
            if len(connection.extract_statements(query)) != 1:
                raise InputError("these are several statements", where="--query", remedy=_ONE_QUERY)
            reader = pa.RecordBatchReader.from_stream(connection.sql(query))
            return reader.schema.names, reader

        yield _Database(ask, connection.interrupt)


@contextmanager
def _postgresql(address: Address) -> Iterator[_Database]:
    dbapi = _driver("adbc_driver_postgresql.dbapi", "adbc-driver-postgresql", "postgresql")
    with dbapi.connect(address.place) as connection, connection.cursor() as cursor:

        def ask(query: str) -> tuple[list[str], Iterable[pa.RecordBatch]]:
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(f"{query}\n")  # the driver puts it into parentheses, where a comment must have ended
            reader = cursor.fetch_record_batch()
            for field in reader.schema:
                if (field.metadata or {}).get(b"POSTGRESQL:type") == b"money":  # it would be in cents, or what they use
                    what = f"the column {shorten(field.name)!r} has the type money"
                    raise InputError(what, where="--query", remedy="Convert it to a number, as in amount::numeric.")
            return reader.schema.names, reader

        yield _Database(ask, cursor.adbc_cancel)


_OPEN = {"sqlite": _sqlite, "duckdb": _duckdb, "postgresql": _postgresql}
