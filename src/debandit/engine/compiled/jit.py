"""How the loop is compiled: one set of options, what is kept of it, and the two bit casts that numba lacks.

What is kept besides whole kernels are the functions with `call`, which all kernels share: a new kind of rule then takes
half of the time. Small functions that are inlined are not worth it, and those of users' rules are never kept.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

from debandit.engine.keeping import kept_directory, or_without

# Fused multiply-adds are wanted. Not reassociation, which would make sums depend on the vector width; nor reciprocals
# in place of divisions, for a mean must be S/N correctly rounded or equal means would no longer tie.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz"},
    "no_cfunc_wrapper": True,  # nobody calls them from C
    "_nrt": False,  # they make no arrays, and counting references to those they have would take half of every round
}
INNER = {**OPTIONS, "no_cpython_wrapper": True}  # nor from Python


class _Kept(FunctionCache):
    """What numba keeps of a function, in our own folder and nowhere else; one can do without."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)  # numba reads it just here
        try:
            super().__init__(function)
        except RuntimeError as error:  # there is no place at all
            raise OSError(str(error)) from None
        finally:
            numba.config.CACHE_DIR = before
        if not Path(self.cache_path).is_relative_to(folder):  # numba knows other places, for which nobody vouches
            raise OSError(f"nothing can be written to {folder}")

    def load_overload(self, signature: Any, context: Any) -> Any:
        return None if kept_directory() is None else super().load_overload(signature, context)

    def save_overload(self, signature: Any, data: Any) -> None:
        if kept_directory() is not None:
            with or_without():
                super().save_overload(signature, data)


def compiled(function: Callable[..., Any], *, keep: bool = True, **options: Any) -> Any:
    """The function, which its first call compiles; what that gives is kept in our own folder."""
    made, folder = numba.njit(**OPTIONS | options)(function), kept_directory() if keep else None
    if folder is not None:
        with or_without():
            made._cache = _Kept(function, folder)
    return made


def call(function: Callable[..., Any]) -> Any:
    """A function that is called, because it is used in several places or seldom."""
    return compiled(function, no_cpython_wrapper=True)


jit = numba.njit(forceinline=True, **INNER)  # a function that is inlined, also one of a user's rule


def _bit_cast(source: types.Type, target: types.Type) -> Any:
    def typing(context: Any, value: types.Type) -> Any:
        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(target))

        return target(source), lower

    return intrinsic(typing)


bits_of = _bit_cast(types.float64, types.uint64)
float_of = _bit_cast(types.uint64, types.float64)
