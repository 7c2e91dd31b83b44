"""How the loop is compiled: one set of options, and the two bit casts that numba lacks."""

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

# Fused multiply-adds are wanted. Not reassociation, which would make sums depend on the vector width; nor reciprocals
# in place of divisions, for a mean must be S/N correctly rounded or equal means would no longer tie.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
INNER = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # nobody calls these from Python

jit = numba.njit(forceinline=True, **INNER)
call = numba.njit(**INNER)  # for what is used in several places, to compile it once


def _bit_cast(source: types.Type, target: types.Type) -> Any:
    def typing(context: Any, value: types.Type) -> Any:
        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(target))

        return target(source), lower

    return intrinsic(typing)


bits_of = _bit_cast(types.float64, types.uint64)
float_of = _bit_cast(types.uint64, types.float64)
