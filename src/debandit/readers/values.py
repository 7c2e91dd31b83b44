"""From cells to labels, numbers and times. What cannot be understood is complained of with its rows."""

import contextlib
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from debandit.errors import InputError, shorten
from debandit.log_parts import in_order_of_appearance
from debandit.readers.pieces import Piece

Floats = NDArray[np.float64]
_WORDS = {"true": 1.0, "t": 1.0, "yes": 1.0, "false": 0.0, "f": 0.0, "no": 0.0}
_NUMERIC = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"))  # what programs write for nothing
_SHOWN = 8  # rows that a complaint lists


class Labels:
    """The different labels of a column, numbered in the order of their first appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.ordered = False  # an ordered category, whose order is kept
        self._places: dict[str, int] = {}

    def codes(self, column: pa.Array) -> NDArray[np.int32]:
        """The number of each cell's label, -1 where it is missing."""
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        elif column.type.ordered and not self.names:
            self.ordered = True
            for label in _cells(column.dictionary):
                self.place(label)
        texts = _cells(column.dictionary)
        indices = _indices(column)
        if not self.ordered and any(_text(text) not in self._places for text in texts):
            for index in in_order_of_appearance(indices, len(texts) + 1):  # in the rows, not in the dictionary
                self.place([*texts, None][index])
        places = np.array([*(self.place(text) for text in texts), -1], np.int32)
        codes: NDArray[np.int32] = places[indices]
        return codes

    def place(self, label: Any) -> int:
        """The number of a label, which may be new; -1 if it is missing."""
        text = _text(label)
        if not text:
            return -1
        if text not in self._places:
            self._places[text] = len(self.names)
            self.names.append(text)
        return self._places[text]


def _array(column: pa.Array) -> NDArray[Any]:
    """Numbers without gaps, as they are; pyarrow's own way imports pandas."""
    return np.from_dlpack(column)


def _cells(column: pa.Array) -> list[Any]:
    """The cells as Python has them, or as text if they are moments that Python does not know."""
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError, KeyError):  # the last one from pytz, which pandas 2 brings, for an unknown zone
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp(column.type.unit))  # the zone may not exist
        return list(column.cast(pa.string()).to_pylist())


def _indices(encoded: pa.DictionaryArray) -> NDArray[np.int64]:
    """The place of each cell's text in the dictionary; behind it where the cell is missing."""
    indices = encoded.indices
    if indices.null_count:
        indices = indices.fill_null(len(encoded.dictionary))
    return _array(indices).astype(np.int64)


def _text(label: Any) -> str:
    """A cell as text, empty if it is missing."""
    if isinstance(label, bytes):
        label = label.decode("utf-8", "backslashreplace")  # other bytes, another label
    text = str(label).strip()
    return "" if text in _MISSING else text


def with_gaps(column: pa.Array) -> pa.Array:
    """The cells without a dictionary, and null where they are missing."""
    import pyarrow.compute as pc  # slow to load

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
        gone = pc.is_in(column, pa.array(sorted(_MISSING), column.type))
        return pc.if_else(gone, pa.scalar(None, column.type), column)
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def numbers(column: pa.Array) -> tuple[Floats, Callable[[int], str]]:
    """The cells as numbers, NaN where they are missing or none, and how to show one."""
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _parsed(column)
    if kind == pa.float64() and not column.null_count:
        return _array(column), lambda i: _text(column[i].as_py())
    if pa.types.is_decimal(kind):
        column = column.cast(pa.string())  # correctly rounded, which Arrow's own way is not
    if any(known(kind) for known in _NUMERIC):
        values: Floats = _array(column.cast(pa.float64(), safe=False).fill_null(np.nan))
        return values, lambda i: _text(column[i].as_py())
    return np.full(len(column), np.nan), lambda i: _text(_cells(column[i : i + 1])[0])


def _parsed(column: pa.Array) -> tuple[Floats, Callable[[int], str]]:
    """Text: what Python reads as a number, and true or false in words; each different one is looked at once."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [_text(text) for text in _cells(encoded.dictionary)]
    values = np.full(len(texts) + 1, np.nan)
    for i, text in enumerate(texts):
        plain = text.lower()
        if plain in _WORDS:
            values[i] = _WORDS[plain]
        elif "_" not in plain:
            with contextlib.suppress(ValueError):
                values[i] = float(plain)
    indices = _indices(encoded)
    return values[indices], lambda i: [*texts, ""][indices[i]]


def lacking(values: Floats, show: Callable[[int], str]) -> NDArray[np.bool_]:
    """Which of these numbers are missing, rather than something else."""
    gone = np.isnan(values)
    gone[gone] = [not show(int(i)) for i in np.flatnonzero(gone)]
    return gone


def times(column: pa.Array) -> NDArray[Any]:
    """What rows can be sorted by: whole numbers, numbers, or moments; those without a zone count as UTC.

    Text that is neither comes back as it is, for `dates`. A missing one is that of a row nearby.
    """
    import pyarrow.compute as pc

    column = with_gaps(column)
    if column.null_count:
        column = pc.fill_null_backward(pc.fill_null_forward(column))
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        with contextlib.suppress(pa.ArrowInvalid):  # years that nanoseconds do not reach
            return _moments(column)
        return np.array(_cells(column), object)
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        for target in (pa.int64(), pa.float64()):
            with contextlib.suppress(pa.ArrowInvalid):
                return np.asarray(pc.cast(column, target))
        for zone in (None, "UTC"):  # all without a zone, or all with one
            with contextlib.suppress(pa.ArrowInvalid):
                return _moments(pc.cast(column, pa.timestamp("ns", zone)))
        return np.array(column.to_pylist(), object)
    return np.asarray(column)


def _moments(column: pa.Array) -> NDArray[np.datetime64]:
    exact = column.cast(pa.timestamp("ns", getattr(column.type, "tz", None))).cast(pa.int64())
    return np.asarray(exact).view("datetime64[ns]")


def order_in_time(names: Sequence[str]) -> list[str] | None:
    """The names in the order of time, if all of them are numbers, or dates, weeks or months of ISO 8601."""
    if all(re.fullmatch(r"\d{4}-W?\d\d", name) for name in names):
        return sorted(names)
    moments = times(pa.array(names))
    return None if moments.dtype.kind == "O" else [names[i] for i in np.argsort(moments, kind="stable")]


def starts_of(moments: NDArray[Any], period: str) -> NDArray[Any]:
    """When the hour, the day or the week of each moment began."""
    starts = moments.astype("datetime64[h]" if period == "hour" else "datetime64[D]")
    if period == "week":
        monday = np.datetime64("1970-01-05")
        starts = monday + (starts - monday) // np.timedelta64(7, "D") * np.timedelta64(7, "D")
    return starts


def complain(
    piece: Piece,
    bad: NDArray[np.bool_],
    column: str,
    show: Callable[[int], str] = lambda _: "",
    wanted: str = "",
    advice: str = "Repair them.",
) -> None:
    """Complain about the first bad cell of a piece, and say where the others are."""
    if not bad.any():
        return
    places = np.flatnonzero(bad)
    cell = show(int(places[0]))
    what = f"is {shorten(cell, 30)!r}, not {wanted}" if cell else "is missing"
    if not cell:
        advice = "Fill them in, or leave these rows out if the rule did not see them either: --missing drop."
    elif re.fullmatch(r"[-+]?\d[\d.']*(,\d+)+(\.\d+)?", cell):
        advice = "Write decimal points instead of commas, and nothing between thousands: 1234.5."
    rows = ", ".join(str(piece.first_row + i) for i in places[:_SHOWN]) + (", …" if len(places) > _SHOWN else "")
    raise InputError(
        f"the value in column {shorten(column)!r} {what}",
        where=f"{piece.source}, row {piece.first_row + places[0]}",
        remedy=f"{len(places)} such {'row' if len(places) == 1 else 'rows'}: row {rows}. {advice}",
    )


def dates(texts: NDArray[Any], column: str, where: str, first_row: int) -> NDArray[np.datetime64]:
    """ISO dates, some of them with a zone, to the nanosecond."""
    found = np.empty(len(texts), np.int64)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    numbers: list[int] = []  # are not complained of if something else is neither
    for i, text in enumerate(texts):
        try:
            moment = datetime.fromisoformat(str(text).strip())
            past = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - epoch
            finer = re.search(r"[.,]\d{6}(\d{1,3})", str(text))  # than Python knows
            found[i] = ((past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds) * 1000
            found[i] += int(finer[1].ljust(3, "0")) if finer else 0
        except OverflowError:
            raise _odd_time(text, "not in the years 1678 to 2261", column, f"{where}, row {first_row + i}") from None
        except ValueError:
            if not _reads_as_number(text):
                far = str(text).startswith("<value out of range")  # what pyarrow says of it
                what = "not in the years 1678 to 2261" if far else "neither a number nor an ISO date"
                raise _odd_time(text, what, column, f"{where}, row {first_row + i}") from None
            numbers.append(i)
    if numbers:
        place = f"{where}, row {first_row + numbers[0]}"
        raise _odd_time(texts[numbers[0]], "a number, and others are dates", column, place)
    return found.view("datetime64[ns]")


def _reads_as_number(text: Any) -> bool:
    try:
        float(str(text))
    except ValueError:
        return False
    return True


def _odd_time(text: Any, what: str, column: str, where: str) -> InputError:
    return InputError(
        f"the time {shorten(str(text), 30)!r} in column {shorten(column)!r} is {what}",
        where=where,
        remedy="Write times as numbers or like 2026-01-31T12:00:00.",
    )
