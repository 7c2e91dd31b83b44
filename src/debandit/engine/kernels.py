"""Compiled kernels: the text of `compiled.loop` bound to one kind of rule.

That is a module of `start`, `choose` and `learn`, or a template of these with the functions of one rule. Kernels of the
package's own rules are kept (see `keeping`). Rules of users are compiled anew in every process, because nobody knows
what all they import; only what they share with the others is kept.
"""

import functools
import hashlib
import importlib
import importlib.util
import re
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from debandit.engine.interrupts import interrupts_repeated
from debandit.engine.keeping import PACKAGE, kept_directory, one_at_a_time, or_without, seal, write_at_once

Kernel = Callable[..., None]
Make = Callable[[int, int, int], Any]  # (arm_count, horizon, seed) -> an object with choose() and learn(arm, reward)
_COMPILED = "debandit.engine.compiled"
_RULE_LINE = f"from {_COMPILED}.index import choose, learn, start"
_OWN_LINE = re.compile(rf"^from {re.escape(_COMPILED)}\.own import .*$", re.MULTILINE)
_SAID_AFTER = 1.0  # seconds
_SAID_AFTER_ALL = 5.0  # if it should only have to be loaded


class OwnKernel(NamedTuple):
    """A template of the engine, and the text that binds a rule's own functions to it."""

    template: str  # scored or selected
    binding: str
    file: str  # where the rule's functions come from, or empty


class ObjectKernel(NamedTuple):
    """Nothing to compile: Python objects are asked in every round (see `objects`)."""

    make: Make


KernelName = str | OwnKernel  # a module, or a template with a rule's own functions
INDEX = f"{_COMPILED}.index"


@functools.cache
def load(name: KernelName) -> Kernel:
    """The simulation loop for one kind of rule."""
    loop = _text_of("loop")
    if loop.count(_RULE_LINE) != 1:
        raise AssertionError("loop.py has lost its template line")
    functions = f"from {name} import choose, learn, start" if isinstance(name, str) else _bound(name, name.template)
    return _compiled(name, loop.replace(_RULE_LINE, functions))


@functools.cache
def load_replay(name: OwnKernel) -> Kernel:
    """The rule's own functions along a log."""
    return _compiled(name, _bound(name, f"replay_{name.template}"), makes_arrays=True)


def _text_of(module: str) -> str:
    return (PACKAGE / "engine" / "compiled" / f"{module}.py").read_text(encoding="utf-8")


def _bound(name: OwnKernel, template: str) -> str:
    """The template with the rule's functions in place of the example's."""
    text, count = _OWN_LINE.subn(lambda _: name.binding, _text_of(template))
    if count != 1:
        raise AssertionError(f"{template}.py has lost its template line")
    return text


def _compiled(name: KernelName, text: str, *, makes_arrays: bool = False) -> Kernel:
    """The kernel, which its first call compiles, or loads if it is kept."""
    ready: Kernel | None = None

    def call(*arguments: Any) -> None:
        nonlocal ready
        if ready is None:
            ready = _made(name, text, makes_arrays, arguments)
        ready(*arguments)

    return call


def _made(name: KernelName, text: str, makes_arrays: bool, arguments: tuple[Any, ...]) -> Kernel:
    """The kernel, compiled for arguments like these."""
    _load_numba()
    from numba import typeof

    from debandit.engine.compiled.jit import compiled

    what = name.rpartition(".")[2] if isinstance(name, str) else name.template
    with interrupts_repeated(), one_at_a_time() as sound:
        file = None if isinstance(name, OwnKernel) and not _is_ours(name.file) else _kept_text(what, text)
        function = (_module_of(text) if file is None else _import_file(file)).run
        kernel: Any = compiled(function, keep=file is not None, _nrt=makes_arrays)
        known = file is not None and _is_kept(kernel.stats.cache_path, file.stem)
        with _said(what, at_once=not known):
            kernel.compile(tuple(typeof(argument) for argument in arguments))  # type: ignore[no-untyped-call]  # numba has no types
        if not kernel.stats.cache_hits:
            seal(sound)
    return kernel  # type: ignore[no-any-return]  # numba has no types


def _is_kept(folder: str | None, stem: str) -> bool:
    """Whether numba has kept the code, and not only its index, as when damaged code was removed."""
    return folder is not None and all(any(Path(folder).glob(f"{stem}.run-*.{ending}")) for ending in ("nbi", "nbc"))


def _load_numba() -> None:
    """Import numba, which is slow, only when something is compiled or loaded, and without the slowest part of scipy.

    numba looks for scipy.linalg when it starts, for the inner products of np.convolve; whoever wants it still gets it.
    """
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # as if it were not installed
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


def _is_ours(file: str) -> bool:
    """Whether a rule's functions are those of the package."""
    return bool(file) and Path(file).is_relative_to(PACKAGE)


@contextmanager
def _said(what: str, *, at_once: bool) -> Iterator[None]:
    """Around compiling: say so to a person at once, and to anybody if it takes longer than a second.

    What is kept is loaded, which is quick, unless the machine is very busy or what was kept is damaged.
    """

    def say() -> None:
        print(f"debandit: compiling the loop for {what} rules, once", file=sys.stderr, flush=True)

    if at_once and sys.stderr.isatty():
        say()
        yield
        return
    timer = threading.Timer(_SAID_AFTER if at_once else _SAID_AFTER_ALL, say)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _kept_text(what: str, text: str) -> Path | None:
    """The kernel's text as a file, beside which numba can keep what it made of it."""
    folder = kept_directory()
    if folder is None:
        return None
    file = folder / f"{what}_{hashlib.sha256(text.encode()).hexdigest()[:12]}.py"
    with or_without():
        if not file.exists():
            write_at_once(file, text)
        return file
    return None


def _module_of(text: str) -> Any:
    module = types.ModuleType("debandit_kernel")
    exec(compile(text, "<debandit kernel>", "exec"), module.__dict__)  # our own text, as it would be in the file
    return module


def _import_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"debandit_kernel_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
