"""How likely a Beta arm is to be best: by other arithmetic, and at the ends of what can occur."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from debandit.policies import beta_draws
from debandit.policies.beta_draws import highest_beta

# Parameters a and c of the arms, and their chances, to 12 digits, by the code before this one, with its panels
# halved: 12 nodes, 11 to 17 ends for each arm, from the lowest of any arm on, normalised numerically. The states are
# those of batched Thompson sampling with many and with few users, and extremes.
FROZEN = (
    ((856, 1332), (8628, 13188), (0.347562976691, 0.652437023309)),
    ((440, 1789), (4762, 18013), (0.0943412447688, 0.905658755231)),
    ((2790, 719), (44531, 11964), (0.835948567101, 0.164051432899)),
    ((3, 3), (4, 4), (0.5, 0.5)),
    ((10, 36), (37, 101), (0.231950014982, 0.768049985018)),
    ((3, 1), (3, 3), (0.821428571429, 0.178571428571)),
    ((37, 30, 10), (1180, 1261, 488), (0.798558872426, 0.114912481475, 0.0865286460996)),
    ((657, 101, 376), (9967, 1846, 6059), (0.79295675948, 0.0331031536958, 0.173940086824)),
    ((1981, 426, 402), (31196, 7285, 6716), (0.807821913879, 0.0554265348394, 0.136751551281)),
    ((4, 1, 13), (4, 3, 1), (0.00714236183344, 0.00170535033235, 0.991152287834)),
    ((3, 32, 3), (8, 15, 5), (0.00512619112059, 0.946477376167, 0.0483964327122)),
    ((1, 43, 1), (4, 12, 5), (0.00321413683404, 0.995917320057, 0.000868543108752)),
    ((11, 185, 10, 132), (497, 4490, 407, 3276), (0.0079114099623, 0.557868901386, 0.0270979776904, 0.407121710962)),
    (
        (234, 572, 99, 1532),
        (7632, 17389, 3641, 44909),
        (0.0505849255292, 0.216992673549, 0.0095683971313, 0.722854003791),
    ),
    (
        (46, 523, 196, 790),
        (1433, 12311, 5093, 18616),
        (0.0171849044213, 0.470516080038, 0.0597061668871, 0.452592848654),
    ),
    ((7, 3, 3, 8), (2, 10, 3, 2), (0.434418703587, 7.52477880375e-05, 0.0403200374735, 0.525186011151)),
    ((3, 5, 61, 2), (6, 5, 12, 4), (0.000851157309274, 0.0126898279121, 0.982089265453, 0.00436974932537)),
    ((114, 2, 4, 32), (52, 11, 7, 26), (0.951549166864, 4.1774021335e-05, 0.0158344742647, 0.0325745848502)),
    (
        (88, 147, 13, 64, 299),
        (1963, 2905, 460, 1213, 5658),
        (0.0328377451627, 0.190764030863, 0.00329364015803, 0.412446043762, 0.360658540054),
    ),
    (
        (56, 25, 68, 89, 28),
        (4108, 2011, 4934, 6514, 2177),
        (0.229701868813, 0.145131919485, 0.243281700098, 0.20090093354, 0.180983578065),
    ),
    (
        (45, 33, 9, 5, 123),
        (857, 738, 235, 205, 2160),
        (0.272927693467, 0.0658781382723, 0.0784142731791, 0.00937150332127, 0.57340839176),
    ),
    (
        (3, 1, 1, 1, 18),
        (5, 4, 5, 3, 5),
        (0.0157943475599, 0.00440546596513, 0.0014251307041, 0.0147836863497, 0.963591369421),
    ),
    (
        (1, 1, 1, 1, 33),
        (4, 5, 3, 5, 10),
        (0.00429183218878, 0.00126557420508, 0.0154133454085, 0.00126557420508, 0.977763673993),
    ),
    (
        (14, 2, 5, 5, 3),
        (5, 3, 7, 3, 3),
        (0.592117919643, 0.0485002715008, 0.0131962444033, 0.246796588136, 0.0993889763174),
    ),
    ((10000000, 10003000, 9990000), (10000000, 10000000, 10000000), (0.314960327184, 0.67833967495, 0.00669999786569)),
    ((0.05, 0.05, 0.05), (0.05, 1, 10), (0.68328504279, 0.188736351989, 0.127978605221)),
    ((3, 0.05), (2, 10000000), (1, 4.30499735305e-22)),
    ((10000, 5, 5), (100000, 60, 45), (0.325377387376, 0.198246014697, 0.476376597927)),
    ((400000, 505000, 40), (4000000, 5000000, 380), (1.51631758126e-06, 0.41989218111, 0.580106302572)),
    (
        (1, 1, 1, 1, 1),
        (1, 1, 1, 1, 500),
        (0.249999999906, 0.249999999906, 0.249999999906, 0.249999999906, 3.76418775156e-10),
    ),
    ((1, 20000), (1, 200000), (0.909090909091, 0.0909090909091)),
    ((0.3, 7000, 7.3, 61.3), (2, 30000, 22, 230), (0.185058794247, 0.0338263738451, 0.542832708516, 0.238282123392)),
)
CLOSE = 2e-10  # the promise is 1e-9


@pytest.mark.parametrize(("a", "c", "chances"), FROZEN)
def test_chances_are_those_of_finer_panels(a, c, chances):
    found = highest_beta(np.array([a], float), np.array([c], float))[0]
    np.testing.assert_allclose(found, chances, rtol=0, atol=CLOSE)


def test_states_do_not_depend_on_their_neighbours():
    """Beyond rounding: how many rows go together decides how sums are made."""
    for arm_count in (2, 3, 4, 5):
        rows = [row for row in FROZEN if len(row[0]) == arm_count]
        a, c, chances = (np.array([row[i] for row in rows] * 40, float) for i in range(3))
        np.testing.assert_allclose(highest_beta(a, c), chances, rtol=0, atol=CLOSE)


def test_coarse_panels_would_be_noticed(monkeypatch):
    """Control: with panels twice as long some of the frozen chances are off."""
    monkeypatch.setattr(beta_draws, "DROPS", beta_draws.DROPS[1:])
    errors = [np.abs(highest_beta(np.array([a], float), np.array([c], float))[0] - p).max() for a, c, p in FROZEN]
    assert max(errors) > 1e-9


def second_is_higher(a1, c1, a2, c2):
    """P(Beta(a2, c2) > Beta(a1, c1)) for whole numbers, a sum of a2 rational terms.

    In a row of a1 + c1 - 1 and a2 + c2 - 1 ordered uniforms the draws are the a1-th and a2-th smallest of their kind:
    fewer than a2 of the second kind lie below that of the first.
    """
    one, two = a1 + c1 - 1, a2 + c2 - 1
    rest = one - a1 + two
    below, above, ways = 1, math.comb(rest, two), 0  # (a1 - 1 + i choose i) and (rest - i choose two - i)
    for i in range(a2):
        ways += below * above
        below, above = below * (a1 + i) // (i + 1), above * (two - i) // (rest - i)
    return float(Fraction(ways, math.comb(one + two, two)))


def test_two_arms_with_whole_numbers():
    """If they shall be fine, also the smallest chances, relatively."""
    few = [(a1, c1, a2, c2) for a1, c1, a2, c2 in itertools.product((1, 2, 7, 40), repeat=4)]
    states = np.array(
        [*few, (300, 20, 30, 60), (310, 9_700, 335, 9_900), (2_000, 2_000, 2_100, 2_000), (1, 900, 1, 800)]
    )
    a, c, exact = states[:, ::2] * 1.0, states[:, 1::2] * 1.0, [second_is_higher(*map(int, each)) for each in states]
    np.testing.assert_allclose(highest_beta(a, c)[:, 1], exact, rtol=0, atol=CLOSE)
    np.testing.assert_allclose(highest_beta(a, c, fine=True)[:, 1], exact, rtol=1e-8)


def test_arms_without_a_hope():
    """No chance is negative or 0, and the others' are as if the arm did not exist."""
    a, c = np.array([[900.0, 950.0, 5.0], [9e6, 9.001e6, 1e6]]), np.array([[100.0, 98.0, 4_000.0], [1e6, 1e6, 9e6]])
    three, two = highest_beta(a, c), highest_beta(a[:, :2], c[:, :2])
    assert (three[:, 2] > 0).all()
    assert (three[:, 2] < 1e-100).all()
    np.testing.assert_allclose(three[:, :2], two, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("arm_count", [3, 5, 12, 50])
def test_any_parameters_sum_to_one(arm_count):
    rng = np.random.default_rng(91)
    a, c = 10 ** rng.uniform(np.log10(beta_draws.LEAST), 7, (2, 100, arm_count))
    np.testing.assert_allclose(highest_beta(a, c).sum(axis=-1), 1, rtol=0, atol=1e-9)
    a, c = 10 ** rng.uniform(np.log10(beta_draws.LEAST), 7, (2, 100, 1))
    tied = highest_beta(np.repeat(a, arm_count, axis=1), np.repeat(c, arm_count, axis=1))
    np.testing.assert_allclose(tied, 1 / arm_count, rtol=0, atol=1e-10)


@pytest.mark.parametrize("arm_count", [2, 5, 6, 8, 9])
def test_ties_at_few_pulls(arm_count):
    """The product of the others' F bends most there, within the longest panels; the largest error found is 2e-10."""
    grid = np.array([0.05, 0.3, 0.99, 1, 1.1, 1.26, 1.5, 2, 5])
    a, c = (np.repeat(each.reshape(-1, 1), arm_count, axis=1) for each in np.meshgrid(grid, grid))
    np.testing.assert_allclose(highest_beta(a, c), 1 / arm_count, rtol=0, atol=CLOSE)
