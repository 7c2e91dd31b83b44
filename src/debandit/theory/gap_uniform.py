"""The exact gap for a uniform arm."""

from fractions import Fraction
from math import comb, factorial, log

import numpy as np

from debandit.theory.checks import Floats
from debandit.theory.laws import Uniform

FEW = 16  # up to here the spline of the sum is summed in exact fractions, beyond it the Fourier integral converges fast


def log_uniform_gap(law: Uniform, mu2: float, pulls: int) -> float:
    """ln |E[(mu1 - Xbar_m) 1{Xbar_m > mu2}]|; the law is symmetric, so mu2 and 2 mu1 - mu2 have the same gap."""
    room = min(law.high - mu2, mu2 - law.low) / (2 * law.half)  # from mu2 to the nearer end, at most 1/2
    if room <= 0:
        return -np.inf
    if pulls <= FEW:
        return log(2 * law.half) + _log_spline_gap(Fraction(room), pulls)
    return log(law.half) + _log_fourier_gap(1 - 2 * room, pulls)


def _log_spline_gap(room: Fraction, pulls: int) -> float:
    """On (0, 1), mu2 = 1 - room, by the law of Irwin and Hall, in fractions because the terms alternate:
    E[(S - s)_+^i] / i! = sum_k (-1)^k C(m, k) (m - s - k)_+^(m+i) / (m + i)!."""
    tail, excess = Fraction(0), Fraction(0)
    for k in range(int(pulls * room) + 1):
        base = pulls * room - k
        tail += (-1) ** k * comb(pulls, k) * base**pulls / factorial(pulls)
        excess += (-1) ** k * comb(pulls, k) * base ** (pulls + 1) / factorial(pulls + 1)
    gap = (Fraction(1, 2) - room) * tail + excess / pulls
    return log(gap.numerator) - log(gap.denominator)


def _log_fourier_gap(mu2: float, pulls: int) -> float:
    """On (-1, 1), mu2 >= 0. Tilted by any y > 0 the sum is Y + m mu2, Y with characteristic function phi, and

        G = -exp(-m (y mu2 - eta(y))) (mu2 A + B / m),
        A = int_0^inf e^(-y x) f_Y(x) dx = (1 / 2 pi) int phi(t) / (y + it) dt,

    B the same with x e^(-y x), that is 1 / (y + it)^2. y is zeta(mu2), but at least one standard deviation of phi from
    the pole.
    """
    law = Uniform(-1.0, 1.0)
    y = max(law.zeta(mu2), float(np.sqrt(3 / pulls)))
    points, weights = _nodes(y, law.eta_second(y), pulls)
    ratio = (np.cos(points) + 1j * np.sin(points) / np.tanh(y)) * (y / (y + 1j * points))  # M(y + it) / M(y)
    phi = np.exp(pulls * (np.log(ratio) - 1j * points * mu2))
    pole = 1 / (y + 1j * points)
    first, second = (float(np.dot(weights, (phi * kernel).real)) / np.pi for kernel in (pole, pole**2))
    return float(np.log(mu2 * first + second / pulls) - pulls * (y * mu2 - law.eta(y)))


def _nodes(y: float, curvature: float, pulls: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes on panels one standard deviation of phi wide, up to where |phi| < e^-42, for
    |M(y + it) / M(y)| <= y coth y / |y + it|."""
    width = 1 / np.sqrt(pulls * curvature)
    end = np.sqrt((y / np.tanh(y)) ** 2 * np.exp(84 / pulls) - y**2)
    edges = np.linspace(0.0, end, int(np.ceil(end / width)) + 1)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * nodes).ravel(), (half[:, None] * weights).ravel()
