"""How kernels are compiled: one set of options, and the two bit casts that numba lacks."""

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

# Fused multiply-adds are wanted. Not reassociation, which would make sums depend on the vector width; nor reciprocals
# in place of divisions, for a mean must be S/N correctly rounded or equal means would no longer tie.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}

# Called in every round, so inlined, and without counting references: that alone would take as long as the round.
# `call` is for what is used in several places, to compile it once; `kernel` for what allocates.
jit = numba.njit(_nrt=False, forceinline=True, **OPTIONS)
call = numba.njit(_nrt=False, **OPTIONS)
kernel = numba.njit(**OPTIONS)


def _bit_cast(source: types.Type, target: types.Type) -> Any:
    def typing(context: Any, value: types.Type) -> Any:
        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(target))

        return target(source), lower

    return intrinsic(typing)


bits_of = _bit_cast(types.float64, types.uint64)
float_of = _bit_cast(types.uint64, types.float64)
