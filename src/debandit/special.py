"""The special functions that are used, compiled ones of scipy.special.

The rest of that package wraps them for other kinds of arrays, which takes a quarter of a second to import. So only the
part that holds them is imported, as if the package around it were empty; if scipy is built otherwise, all of it.
"""

import importlib
import sys
import threading
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

_PACKAGE = "scipy.special"


def _functions() -> Any:
    alone = threading.active_count() == 1  # nobody else may see the empty package
    spec = PathFinder.find_spec(_PACKAGE, importlib.import_module("scipy").__path__)
    if _PACKAGE in sys.modules or not alone or spec is None:
        return importlib.import_module(_PACKAGE)
    sys.modules[_PACKAGE] = module_from_spec(spec)  # not executed
    try:
        functions: Any = importlib.import_module(f"{_PACKAGE}._ufuncs")
    except ImportError:
        functions = None
    finally:
        del sys.modules[_PACKAGE]
    return functions or importlib.import_module(_PACKAGE)


_found = _functions()
betainc, betaincinv, betaln = _found.betainc, _found.betaincinv, _found.betaln
expit, logit = _found.expit, _found.logit
gammainc, gammaln = _found.gammainc, _found.gammaln
ndtr, ndtri, stdtr, stdtrit = _found.ndtr, _found.ndtri, _found.stdtr, _found.stdtrit
xlog1py, xlogy = _found.xlog1py, _found.xlogy
