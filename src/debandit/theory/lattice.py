"""Where a sum of lattice rewards stands relative to the fixed arm."""

import numpy as np

from debandit.theory.law import Law


def position(law: Law, mu2: float, pulls: int) -> tuple[float, bool]:
    """(m mu2 - m origin) / span, and whether it is whole up to rounding: then the exploration means can tie."""
    assert law.span is not None
    place = pulls * ((mu2 - law.origin) / law.span)
    nearest = float(np.round(place))
    tied = abs(place - nearest) <= 1e-12 * max(abs(place), 1e3)
    return (nearest if tied else place), tied


def thresholds(law: Law, mu2: float, pulls: int, ties: str) -> list[int]:
    """The lattice indices n such that arm 1 is chosen if and only if its sum is at least m origin + n span.

    One index, or with random ties two of equal weight.
    """
    place, tied = position(law, mu2, pulls)
    if not tied:
        return [int(np.ceil(place))]
    index = int(place)
    return {"first": [index], "last": [index + 1], "random": [index, index + 1]}[ties]
