"""Compiled kernels, kept in the user's cache directory.

A kernel is the text of `loop` bound to one module of `start`, `choose` and `learn`, or to a template of these and the
functions of one rule. It is written to a file of its own, named by a hash of everything that went into it, because
numba keeps compiled code beside the file of a function and notices changes of that file alone.
"""

import functools
import hashlib
import importlib
import os
import platform
import re
import sys
import tempfile
import types
import warnings
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

from debandit.engine.interrupts import heard_while_compiling
from debandit.errors import CacheWarning

Kernel = Callable[..., None]
_TEMPLATE_LINE = "from debandit.engine.index import choose, learn, start"
_OWN_LINE = re.compile(r"^from debandit\.engine\.own import .*$", re.MULTILINE)


class OwnKernel(NamedTuple):
    """A template of the engine, and the text that binds a rule's own functions to it."""

    template: str  # scored or selected
    binding: str
    file: str  # where the rule's functions come from, or empty


KernelName = str | OwnKernel  # a module, or a template with a rule's own functions


def cache_directory() -> Path:
    """DEBANDIT_CACHE_DIR, or the place where this system keeps a user's caches."""
    if chosen := os.environ.get("DEBANDIT_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "debandit" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "debandit"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "debandit"


@functools.cache
def load(name: KernelName) -> Kernel:
    """The simulation loop for one kind of rule."""
    loop = _text_of("loop")
    if loop.count(_TEMPLATE_LINE) != 1:
        raise AssertionError("loop.py has lost its template line")
    functions = f"from {name} import choose, learn, start" if isinstance(name, str) else _bound(name, name.template)
    text = loop.replace(_TEMPLATE_LINE, functions)
    return heard_while_compiling(_compiled(name, text, "the simulation kernel, once (about half a minute)"))


@functools.cache
def load_replay(name: OwnKernel) -> Kernel:
    """The rule's own functions along a log."""
    return heard_while_compiling(_compiled(name, _bound(name, f"replay_{name.template}"), "the rule's replay, once"))


def _compiled(name: KernelName, text: str, what: str) -> Kernel:
    import numba  # slow to import, and needed only here

    from debandit.engine.jit import OPTIONS

    if isinstance(name, OwnKernel) and not name.file:  # written into a prompt: there is no file to know it again by
        return numba.njit(**OPTIONS)(_module_of(text).run)  # type: ignore[no-any-return]  # numba has no types
    try:
        path = _write_once(cache_directory() / "kernels" / f"{_stem(name, text)}.py", text)
        if not any(path.parent.glob(f"__pycache__/{path.stem}.run-*.nbi")):
            _say(f"debandit: compiling {what}")
        return numba.njit(cache=True, **OPTIONS)(_import_file(path).run)  # type: ignore[no-any-return]  # numba has no types
    except (OSError, RuntimeError) as error:  # numba raises RuntimeError where it cannot write
        warnings.warn(
            f"compiled kernels cannot be kept ({error}); compiling for this process only. "
            "Set DEBANDIT_CACHE_DIR to a writable directory.",
            CacheWarning,
            stacklevel=2,
        )
        return numba.njit(**OPTIONS)(_module_of(text).run)  # type: ignore[no-any-return]  # numba has no types


def _module_of(text: str) -> Any:
    module = types.ModuleType("debandit_kernel")
    exec(compile(text, "<debandit kernel>", "exec"), module.__dict__)  # our own text, as it would be in the file
    return module


def _text_of(module: str) -> str:
    return Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")


def _bound(name: OwnKernel, template: str) -> str:
    """The template with the rule's functions in place of the example's."""
    text, count = _OWN_LINE.subn(lambda _: name.binding, _text_of(template))
    if count != 1:
        raise AssertionError(f"{template}.py has lost its template line")
    return text


def _stem(name: KernelName, text: str) -> str:
    """A file name that changes with the sources, the versions and the processor."""
    import llvmlite.binding as llvm
    import numba
    import numpy

    sources = sorted(Path(__file__).parent.glob("*.py"))
    file = importlib.import_module(name).__file__ if isinstance(name, str) else name.file
    parts = [text, *(source.read_text(encoding="utf-8") for source in (*sources, Path(str(file))))]
    parts += [numba.__version__, numpy.__version__, platform.python_version(), llvm.get_host_cpu_name()]
    parts += [llvm.get_host_cpu_features().flatten()]
    start = name.rpartition(".")[2] if isinstance(name, str) else name.template
    return f"{start}_{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:20]}"


def _write_once(path: Path, text: str) -> Path:
    """Write the file unless it is there; two processes may do so at once."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
            file.write(text)
        os.replace(file.name, path)
    if not os.access(path.parent, os.W_OK):
        raise PermissionError("not writable")
    return path


def _import_file(path: Path) -> Any:
    spec = spec_from_file_location(f"debandit_kernel_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise OSError(f"cannot import {path}")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)
