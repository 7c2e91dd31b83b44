"""Finding a rule's own functions again, in this process or another one, and compiling them."""

import hashlib
import importlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any


def function_of(module: str, file: str, owner: str, name: str) -> Any:
    """The compiled function `name` of the class `owner`."""
    from numba.core.dispatcher import Dispatcher

    import debandit.engine.compiled.drawn  # noqa: F401 (what the function may call)
    from debandit.engine.compiled.jit import jit

    function = getattr(class_of(module, file, owner), name)
    return function if isinstance(function, Dispatcher) else jit(function)


def class_of(module: str, file: str, owner: str) -> Any:
    """A class by where it was defined."""
    place: Any = module_of(module, file)
    for part in owner.split("."):
        place = getattr(place, part)
    return place


def module_of(module: str, file: str) -> Any:
    """The module by its name, if that is the one of the file; else the file itself."""
    known = sys.modules.get(module)
    if known is None and not module.startswith("debandit_rules_"):
        try:
            known = importlib.import_module(module)
        except ImportError:
            known = None
    if known is not None and (not file or getattr(known, "__file__", None) == file):
        return known
    return import_file(file)


def import_file(file: str) -> Any:
    """The module of a Python file, run once."""
    path = Path(file).resolve()
    name = f"debandit_rules_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {file}")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
