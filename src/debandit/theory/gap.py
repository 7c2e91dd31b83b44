"""Explore-then-commit against a fixed arm: the paper's Proposition 2 and Theorem 2."""

import numpy as np

from debandit.checks import checked_choice, checked_whole
from debandit.errors import InputError, shorten
from debandit.theory.arguments import MOST_PULLS, real
from debandit.theory.etc_bernoulli import TIES
from debandit.theory.gap_exact import log_exact_gap, position, thresholds
from debandit.theory.law import Law


def etc_gap(law: Law, *, mu2: float, pulls: int, ties: str = "first", form: str = "exact", log: bool = False) -> float:
    """G = E[(mu1 - Xbar_m) 1{arm 1 chosen}] <= 0, Xbar_m the mean of m = pulls rewards of arm 1, arm 2 fixed at mu2.

    The bias of arm 1 is (T - 2m) / (T - m) G (eq:bias1-G). ties says who is chosen at Xbar_m = mu2: the "first" arm,
    the "last", or one at "random"; log=True gives ``ln |G|``, -inf for G = 0.

    form="exact" is for Normal, Bernoulli, Discrete and Uniform laws. form="asymptotic" is Proposition 2
    (prop:two_subGaussian_true_bias, eq:decay-rate-general),

        G = -c_* exp(-m rate(mu2)) / sqrt(2 pi m eta''(zeta)) (1 + O(1 / m)),   eta'(zeta) = mu2,

    with the constant of c_star; form="printed" has the paper's constant instead. The asymptotic forms do not hold, and
    are refused, for mu2 = mu1 and for mu2 outside the tilted means H. On a lattice that mu2 misses they hold although
    c_* depends on m and has no limit. They are good where m zeta^2 eta''(zeta) is large and, on a lattice, where the
    sum reaches all of its points: a law whose tilted form lies almost on a coarser lattice needs a larger m.

    Examples
    --------
    >>> import debandit as db
    >>> law = db.theory.BernoulliLaw(0.3)
    >>> round(db.theory.etc_gap(law, mu2=0.5, pulls=20), 6)
    -0.010786
    """
    mu2, pulls = real("mu2", mu2), checked_whole("pulls", pulls, 1, MOST_PULLS)
    checked_choice("ties", ties, TIES)
    checked_choice("form", form, ("exact", "asymptotic", "printed"))
    _check_law(law)
    if form == "exact":
        result = log_exact_gap(law, mu2, pulls, ties)
    else:
        zeta = _zeta(law, mu2)
        constant = c_star(law, mu2=mu2, pulls=pulls, ties=ties, form=form)
        result = float(
            np.log(constant) - pulls * law.rate(mu2) - 0.5 * np.log(2 * np.pi * pulls * law.eta_second(zeta))
        )
    return result if log else float(0.0 - np.exp(result))


def c_star(law: Law, *, mu2: float, pulls: int, ties: str = "first", form: str = "asymptotic") -> float:
    """The constant ``c_* = c_0 |mu1 - mu2|`` of Proposition 2 (eq:c_*, eq:c0).

    Non-lattice laws: ``c_0 = 1 / |zeta|``. Lattice laws of span d: ``c_0 = d e^(-|zeta| delta) / (1 - e^(-|zeta|
    d))``, where delta >= 0 is the distance from m mu2 to the nearest value of the sum in the rare event (arm 1 chosen
    if mu1 < mu2, not chosen if mu1 > mu2). Where means can tie delta is 0 if the tie falls on the side of the rare
    event and d if not; at random, the average of the two c_0. form="printed" is the paper's delta = 0: with ties to
    arm 1 right for mu1 < mu2, too large by ``e^(|zeta| d)`` for mu1 > mu2. The paper takes d from (X - mu2) / d and
    asks for P(X = mu2) in (0, 1), which would exclude Bernoulli arms; d here is the span of X, and the condition is
    not needed.

    Examples
    --------
    >>> import debandit as db
    >>> law = db.theory.BernoulliLaw(0.3)
    >>> round(db.theory.c_star(law, mu2=0.5, pulls=20), 4)
    0.35
    """
    mu2, pulls = real("mu2", mu2), checked_whole("pulls", pulls, 1, MOST_PULLS)
    checked_choice("ties", ties, TIES)
    checked_choice("form", form, ("asymptotic", "printed"))
    _check_law(law)
    zeta, gap = _zeta(law, mu2), abs(mu2 - law.mean)
    if law.span is None:
        return float(gap / abs(zeta))
    place, _ = position(law, mu2, pulls)
    limits = np.array(thresholds(law, mu2, pulls, ties))
    distance = (limits - place if mu2 > law.mean else place - (limits - 1)) * law.span
    if form == "printed":
        distance = np.zeros(1)
    return float(gap * law.span * np.mean(np.exp(-abs(zeta) * distance)) / -np.expm1(-abs(zeta) * law.span))


def theorem2_limit(law: Law, mu2: float) -> float:
    """The limit of the ratio of the bootstrap world's decay rate to the real one (thm:decayrate_subGaussian).

    It is (mu1 - mu2)^2 / (2 sigma1^2 rate(mu2)), in probability, for m -> inf; the rate of the bootstrap is eq:hat-LF.

    1 for normal rewards: otherwise the Gaussian bootstrap has the wrong exponent. Not for mu1 = mu2, nor outside H.

    Examples
    --------
    >>> import debandit as db
    >>> round(db.theory.theorem2_limit(db.theory.BernoulliLaw(0.3), 0.5), 4)
    1.0925
    """
    _check_law(law)
    mu2 = real("mu2", mu2)
    _zeta(law, mu2)
    return float((law.mean - mu2) ** 2 / (2 * law.variance * law.rate(mu2)))


def theorem2_bound(law: Law) -> float:
    """a^2 / sigma1^2, the bound of Theorem 2 (eq:sub-bound) on theorem2_limit, a^2 the smallest variance proxy.

    For all mu2; a Bernoulli arm attains it at mu2 = 1 - p, a normal one everywhere. +inf for a law that is not
    subgaussian.

    Examples
    --------
    >>> import debandit as db
    >>> round(db.theory.theorem2_bound(db.theory.BernoulliLaw(0.3)), 4)
    1.124
    """
    _check_law(law)
    return float(law.variance_proxy / law.variance)


def _zeta(law: Law, mu2: float) -> float:
    zeta = law.zeta(mu2)
    if abs(mu2 - law.mean) <= 1e-12 * np.sqrt(law.variance):
        raise InputError(
            "equals the mean of arm 1, which Proposition 2 and Theorem 2 leave out",
            where="mu2",
            remedy="etc_gap(form='exact') has an answer: the gap then falls like 1 / sqrt(m).",
        )
    return zeta


def _check_law(law: Law) -> None:
    if not isinstance(law, Law):
        raise InputError(f"{shorten(repr(law))} is not a law", where="law", remedy="For example Bernoulli(0.3).")
