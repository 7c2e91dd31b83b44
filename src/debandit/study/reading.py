"""From a TOML file to a study. All mistakes are found before any is reported, each with its line and key."""

import dataclasses
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from debandit.checks import MOST_RUNS, checked_seed, checked_whole, did_you_mean
from debandit.errors import InputError, quoted, shorten
from debandit.plots import KINDS
from debandit.policies import Policy, as_policy, rules_in_files
from debandit.simulation import can_drift, enough_rounds, fits
from debandit.study.cell import HORIZON, Cell
from debandit.study.keys import SHARED, filled, grid_of, placeholders, points, printed_values, shown, text_of
from debandit.study.methods import check_method
from debandit.study.plan import Study
from debandit.worlds import World, as_world

T = TypeVar("T")
Place = tuple[int | None, tuple[str, ...]]  # which [[cell]], counted from 0, and the names down to the key

_KEY = re.compile(r"\s*[\w\"'.-]+\s*(=|\.)")
_HEADER = re.compile(r"\[\[?\s*([A-Za-z_][\w.\- ]*?)\s*\]\]?\s*(#.*)?")
STUDY_KEYS = ("title", "source", "seed", "figure", "x", "paper_experiments", *SHARED, "cell")
CELL_KEYS = ("label", "policy", "world", "grid", "remark", "paper", *SHARED)
NEEDED = {"policy": '"ucb(c=1)"', "world": '"bernoulli(means=[0.3, 0.6])"', "horizon": "100"}
MOST_CELLS = 10_000
MOST_MISTAKES = 20  # of one [[cell]]: the points of a grid have much in common, also what is wrong
MOST_BYTES = 10_000_000  # of a file; a device has no end


def read_study(path: Path | Traversable, before_running: Callable[[str], None] = lambda _: None) -> Study:
    """The study of a file.

    Python files of its rules are run, but only if nothing else is wrong; `before_running` is told of each.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise InputError(f"more than {MOST_BYTES:,} bytes, which no study needs", where=str(path))
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
        data = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot read the file ({error.strerror})", where=str(path)) from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, numbers of thousands of digits
        raise InputError(f"not a TOML file ({error})", where=str(path)) from None
    reader, name = _Reader(run_files=False), getattr(path, "stem", path.name)
    study = reader.study(data, name)
    if reader.files and not reader.mistakes:
        for rules in reader.files:
            before_running(rules)
        reader = _Reader(run_files=True)
        study = reader.study(data, name)
    if study is None or reader.mistakes:
        raise _report(reader.mistakes, str(path), text)
    return study


class _Mistake(NamedTuple):
    place: Place
    error: InputError


class _Reader:
    """Reads what it can and notes what it cannot. Cells whose rules are in Python files may be left out."""

    def __init__(self, *, run_files: bool) -> None:
        self.mistakes: list[_Mistake] = []
        self.files: dict[str, None] = {}  # Python files of rules, in the order of their appearance
        self._run_files = run_files

    def study(self, data: dict[str, Any], name: str) -> Study | None:
        """The study, or None if there are mistakes that leave none."""
        self._only(data, STUDY_KEYS, None)
        shared = {key: data[key] for key in SHARED if key in data and self._setting(data, key, None) is not None}
        parts = data.get("cell")
        if not isinstance(parts, list) or not parts:
            what = "there is no [[cell]] with a policy and a world"
            remedy = "Write [[cell]] with two brackets." if "cell" in data else ""
            self._note(InputError(what, remedy=remedy), 0 if "cell" in data else None)
            return None
        x = self._try(lambda: text_of(data.get("x", HORIZON)), None, "x") or HORIZON
        cells = [cell for i, part in enumerate(parts) for cell in self._cells(part, i, shared, x)]
        self._try(lambda: _check_x(x, cells), None, "x")
        self._check_labels(cells)
        figure = data.get("figure", "biases")
        self._try(lambda: _check_figure(figure, cells), None, "figure")
        texts = {"title": name, "source": ""} | {key: data[key] for key in ("title", "source") if key in data}
        for key, text in texts.items():
            self._try(partial(text_of, text), None, key)
        seed = self._try(lambda: checked_seed(data.get("seed", 0)), None, "seed")
        printed = data.get("paper_experiments", 1000)
        self._try(lambda: checked_whole("paper_experiments", printed, 1, MOST_RUNS), None, "paper_experiments")
        if self.mistakes or seed is None:
            return None
        return Study(texts["title"], tuple(cells), seed, texts["source"], printed, figure, x)

    def _cells(self, part: Any, i: int, shared: dict[str, Any], x: str) -> Iterator[Cell]:
        """One [[cell]]: as many cells as its grid has points."""
        if not isinstance(part, dict):
            self._note(InputError("must be a table of settings"), i)
            return
        self._only(part, CELL_KEYS, i)
        settings = shared | part
        missing = [key for key in NEEDED if key not in settings]
        for key in missing:
            self._note(InputError(f"there is no {key}", remedy=f"For example {key} = {NEEDED[key]}"), i)
        grid = self._try(lambda: grid_of(part.get("grid", {})), i, "grid")
        values = {key: self._setting(settings, key, i) for key in SHARED if key in settings}
        if missing or grid is None or any(value is None for value in values.values()):
            return
        horizons = values.pop("horizon")
        count = math.prod(map(len, grid.values())) * len(horizons)
        if count > MOST_CELLS:
            self._note(InputError(f"{count:,} cells are more than {MOST_CELLS:,}"), i, "grid")
            return
        if values.get("most_experiments", math.inf) < values.get("experiments", 0):
            self._note(InputError("is less than `experiments`, which is the least number"), i, "most_experiments")
        texts = {key: settings.get(key, "") for key in ("policy", "world", "label", "remark")}
        for name in sorted(set(grid) - placeholders(texts["policy"], texts["world"], texts["label"])):
            what = f"{{{name}}} is in neither the policy nor the world nor the label"
            self._note(InputError(what), i, "grid", name)
        allowed = len(self.mistakes) + MOST_MISTAKES
        for point in points(grid):
            for horizon in horizons:
                if len(self.mistakes) >= allowed:
                    return
                cell = self._cell(texts, point, values | {"horizon": horizon}, part, i)
                if cell is not None:
                    yield dataclasses.replace(cell, point=point, curve=_curve(texts, point, x))

    def _cell(
        self, texts: dict[str, Any], point: dict[str, Any], values: dict[str, Any], part: dict[str, Any], i: int
    ) -> Cell | None:
        """The cell at one point of the grid."""
        policy = self._try(lambda: self._policy(filled(text_of(texts["policy"]), point)), i, "policy")
        world = self._try(lambda: _one_world(filled(text_of(texts["world"]), point)), i, "world")
        label = self._try(lambda: filled(text_of(texts["label"]), point), i, "label")
        remark = self._try(lambda: text_of(texts["remark"]), i, "remark")
        if policy is None or world is None or label is None or remark is None:
            return None
        if label:  # the points of the grid must be told apart
            unnamed = [name for name in point if name not in placeholders(texts["label"])]
            label += "".join(f", {name}={shown(point[name])}" for name in unnamed)
        draft = Cell(
            label=label or shorten(f"{policy} in {world}", 200),
            policy=policy,
            world=world,
            remark=remark,
            **{"methods": ("naive", "gaussian"), **values},
        )
        self._try(lambda: fits(policy, world), i, "world")
        self._try(lambda: enough_rounds(policy, world.arm_count, draft.horizon), i, "horizon")
        self._try(lambda: can_drift(policy, world.data().drift, draft.horizon), i, "world")
        methods = [self._try(partial(check_method, m, draft, ""), i, "methods") for m in draft.methods]
        if None in methods:
            return None
        cell = dataclasses.replace(draft, methods=tuple(str(method) for method in methods))
        paper = self._try(lambda: printed_values(part.get("paper", {}), cell), i, "paper")
        return None if paper is None else dataclasses.replace(cell, paper=paper)

    def _policy(self, text: str) -> Policy | None:
        files = [file for file, _ in rules_in_files(text)]
        self.files |= dict.fromkeys(files)
        return as_policy(text, "") if self._run_files or not files else None

    def _check_labels(self, cells: list[Cell]) -> None:
        seen: dict[tuple[str, int], Cell] = {}
        for cell in cells:
            if seen.setdefault((cell.label, cell.horizon), cell) is not cell:
                what = f"two cells of {cell.horizon:,} rounds have the label {shorten(cell.label)!r}"
                self._note(InputError(what, remedy="Tables and figures tell cells apart by their labels."))

    def _setting(self, data: dict[str, Any], key: str, i: int | None) -> Any:
        return self._try(lambda: SHARED[key](data[key]), i, key)

    def _only(self, data: dict[str, Any], known: Sequence[str], i: int | None) -> None:
        for key in data:
            if key not in known:
                hint = did_you_mean(key, known) or f"The settings are {', '.join(known)}."
                self._note(InputError(f"there is no setting {shorten(key)!r}", remedy=hint), i, key)

    def _try(self, read: Callable[[], T], i: int | None, key: str) -> T | None:
        try:
            return read()
        except InputError as error:
            self._note(error, i, key)
            return None

    def _note(self, error: InputError, i: int | None = None, *keys: str) -> None:
        self.mistakes.append(_Mistake((i, keys), error))


def _curve(texts: dict[str, Any], point: dict[str, Any], x: str) -> str:
    """The label of a cell with dots for what a figure is drawn over."""
    label = texts["label"] or f"{texts['policy']} in {texts['world']}"
    others = [name for name in point if name not in placeholders(label) and name != x]
    named = "".join(f", {name}={shown(point[name])}" for name in others)
    return shorten(filled(label, point | ({x: "…"} if x in point else {})) + named, 200)


def _check_x(x: str, cells: list[Cell]) -> None:
    known = list(dict.fromkeys([HORIZON, *(name for cell in cells for name in cell.point)]))
    if cells and (x not in known or (x != HORIZON and any(x not in cell.point for cell in cells))):
        what = f"there is no {quoted(x)} in the grid of every cell"
        raise InputError(what, remedy=f"It is {' or '.join(known)}.")


def _one_world(text: str) -> World:
    world = as_world(text, "")
    if world.means.ndim != 1:
        raise InputError("give one world for each cell, not a stack of them")
    return world


def _check_figure(figure: Any, cells: list[Cell]) -> None:
    known = [name for name, kind in KINDS.items() if not kind.averages]
    if figure not in known:
        raise InputError(f"there is no figure {quoted(figure)}", remedy=f"There are {', '.join(known)}.")
    if figure == "histograms" and not all(cell.histogram for cell in cells):
        raise InputError("histograms need a setting histogram = {low = 0, high = 2, bins = 40}")


def _report(mistakes: list[_Mistake], path: str, text: str) -> InputError:
    """One error that tells of all mistakes, in the order of the lines."""
    lines = key_lines(text)
    found: dict[tuple[int, str], tuple[str, InputError]] = {}
    for (i, keys), error in mistakes:
        places = [(i, keys), (None, keys), *((i, keys[:n]) for n in range(len(keys) - 1, -1, -1))]  # ever less exact
        line = next((lines[place] for place in places if place in lines), 0)
        cell = [] if i is None else [f"cell {i + 1}"]
        place = ", ".join([*([f"line {line}"] if line else []), *cell, *([shorten(".".join(keys))] if keys else [])])
        found.setdefault((line, f"{place}{error.what}"), (place, error))
    ordered = [found[key] for key in sorted(found, key=lambda key: key[0])]
    if len(ordered) == 1:
        place, error = ordered[0]
        return InputError(error.what, where=", ".join(filter(None, (path, place))), remedy=error.remedy)
    report, told = [], set()
    for place, error in ordered:
        report.append(f"{place}: {error.what}" if place else error.what)
        if error.remedy not in told:  # a list of all rules helps once
            report += [f"  {line}" for line in error.remedy.splitlines()]
        told.add(error.remedy)
    return InputError(f"{len(ordered)} mistakes", where=path, remedy="\n".join(report))


def key_lines(text: str) -> dict[Place, int]:
    """The line of every key and header, which the standard library's parser does not say.

    A key stands on the first line without which the text up to it has not got it.
    """
    found: dict[Place, int] = {}
    cell = -1
    for first, block in _blocks(text.replace("\r\n", "\n").split("\n")):
        header = _HEADER.fullmatch(block[0].strip())
        name = header[1] if header else ""
        if name == "cell":
            cell += 1
        inside = cell if name == "cell" or name.startswith("cell.") else None
        start = 0
        for end in range(1, len(block) + 1):
            if end < len(block) and not _KEY.match(block[end]):
                continue  # only before a new key can a text be complete; a long list need not be tried line by line
            try:
                data = tomllib.loads("\n".join([*block[: 1 if start else 0], *block[start:end]]))
            except (tomllib.TOMLDecodeError, RecursionError, ValueError):
                continue
            for names in _paths(data):
                found.setdefault((inside, names[1:] if inside is not None else names), first + start)
            start = end
    return found


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The file cut before each header, with the number of each block's first line."""
    starts = [0, *(i for i, line in enumerate(lines) if i and _HEADER.fullmatch(line.strip()))]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if lines[start:end]:
            yield start + 1, lines[start:end]


def _paths(data: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every key, without the numbers of list entries."""
    if names:
        yield names
    for key, value in data.items() if isinstance(data, dict) else ():
        yield from _paths(value, (*names, key))
    for value in data if isinstance(data, list) else ():
        if isinstance(value, dict):
            yield from _paths(value, names)
