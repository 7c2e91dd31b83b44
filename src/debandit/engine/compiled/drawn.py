"""The random numbers of `draws` in compiled code, where `random` is the streams of all lanes and the run's lane."""

from numba.extending import overload

from debandit.engine import draws
from debandit.engine.compiled.beta import gamma_draw
from debandit.engine.compiled.jit import OPTIONS
from debandit.engine.compiled.lanes import normal_pair
from debandit.engine.compiled.lanes import uniform as lane_uniform

_options = {"jit_options": OPTIONS, "inline": "never"}


@overload(draws.uniform, **_options)
def _uniform(random):
    return lambda random: lane_uniform(random[0], random[1])


@overload(draws.normal, **_options)
def _normal(random):
    return lambda random: normal_pair(random[0], random[1])[0]


@overload(draws.beta, **_options)
def _beta(random, a, b):
    def draw(random, a, b):
        x = gamma_draw(a, random)
        return x / (x + gamma_draw(b, random))

    return draw
