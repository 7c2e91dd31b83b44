"""Seeded results that no later version may change: two runs of 60 rounds, of every kind of rule, world and wrapper.

They were computed with version 0.1.0. A sum may differ in its last bits on a processor that fuses other operations.
"""

import numpy as np
import pytest
from catalogue import OTHERS, RULES, WORLDS
from object_rules import Explorer

import debandit as db

WRAPPINGS = {
    "plain": lambda p: p,
    "batched7": lambda p: db.Batched(p, size=7),
    "turns": lambda p: db.WarmUp(p, pulls=4),
    "uniform": lambda p: db.WarmUp(p, rounds=9),
    "both": lambda p: db.WarmUp(db.Batched(p, size=10), rounds=6),
    "floor": lambda p: db.Floor(p, 0.1),
    "all": lambda p: db.Floor(db.WarmUp(db.Batched(p, size=10), pulls=2), 0.05),
    "all2": lambda p: db.Floor(db.WarmUp(db.Batched(p, size=10), rounds=5), 0.05),
}
FROZEN = [
    (
        "ucb",
        "normal",
        "plain",
        [[9, 42, 9], [2, 44, 14]],
        [
            [10.175857108519088, 63.25787610715112, 9.546502562161823],
            [0.4407947009151624, 63.46168108349371, 16.870018124522282],
        ],
    ),
    (
        "thompson",
        "empirical",
        "plain",
        [[3, 2, 55], [0, 11, 49]],
        [[3.992824869264234, 3.981467606151166, 97.54123821309165], [0.0, 17.22152400882816, 88.42618288276475]],
    ),
    (
        "epsilon-wide",
        "smoothed",
        "plain",
        [[32, 14, 14], [9, 8, 43]],
        [
            [41.419870051572936, 12.692668125670881, 28.75873544504321],
            [9.922495076169445, 5.258984757132902, 77.02856599683969],
        ],
    ),
    ("beta", "bernoulli", "plain", [[2, 36, 22], [4, 36, 20]], [[0.0, 21.0, 12.0], [0.0, 20.0, 9.0]]),
    ("ucb-random", "bernoulli", "plain", [[1, 58, 1], [58, 1, 1]], [[0.0, 38.0, 0.0], [19.0, 0.0, 0.0]]),
    (
        "ucb",
        "multiplier-rademacher",
        "plain",
        [[21, 8, 31], [51, 8, 1]],
        [
            [24.916598242453396, 7.20887304713501, 36.96713698332153],
            [62.12437703969724, 5.170585360816482, -0.8540538373272011],
        ],
    ),
    (
        "etc-short",
        "normal",
        "plain",
        [[54, 3, 3], [3, 3, 54]],
        [
            [55.20184536482736, 4.430639914975677, 3.603470818247003],
            [4.662477950637042, 4.899811221386438, 46.67413107350755],
        ],
    ),
    ("kl-ucb", "bernoulli", "plain", [[3, 47, 10], [5, 46, 9]], [[0.0, 31.0, 4.0], [1.0, 31.0, 3.0]]),
    (
        "exp3",
        "normal",
        "batched7",
        [[13, 23, 24], [4, 16, 40]],
        [
            [15.74218946281458, 35.96841859856553, 32.11426493437384],
            [5.381217020152823, 24.605218131153418, 67.35978643038763],
        ],
    ),
    (
        "softmax",
        "normal",
        "both",
        [[3, 32, 25], [7, 34, 19]],
        [
            [-0.24091695289091708, 49.31071064439083, 38.559559566053814],
            [11.22511498329536, 52.44842550887541, 25.301185234895847],
        ],
    ),
    (
        "thompson-prior",
        "normal",
        "all",
        [[9, 20, 31], [31, 23, 6]],
        [
            [9.23168245609836, 27.598891657277814, 32.1684053831954],
            [38.604191434923365, 33.254939905906554, 5.002634399947145],
        ],
    ),
    (
        "elimination",
        "normal",
        "uniform",
        [[4, 4, 52], [5, 5, 50]],
        [
            [2.252416784509093, 4.7476937239831525, 76.41389108643139],
            [6.324177672194763, 5.952230420574089, 72.44588324896674],
        ],
    ),
    (
        "decaying",
        "normal",
        "floor",
        [[14, 17, 29], [7, 42, 11]],
        [
            [13.881273033798577, 22.101697825187216, 50.12133413284648],
            [9.302293595437618, 67.34291512144705, 12.328208761695421],
        ],
    ),
    (
        "top-two",
        "normal",
        "turns",
        [[5, 19, 36], [12, 39, 9]],
        [
            [3.7809325426080482, 28.45378793018463, 54.62325212941888],
            [14.517396904614323, 64.80558388048091, 10.125042033901408],
        ],
    ),
    (
        "explorer",
        "normal",
        "floor",
        [[11, 15, 34], [22, 29, 9]],
        [
            [10.583900706222977, 24.256748748881613, 59.43506245627867],
            [25.601916644156105, 50.905521793489655, 3.313030431125193],
        ],
    ),
    ("urn", "bernoulli", "all2", [[16, 24, 20], [13, 22, 25]], [[5.0, 17.0, 14.0], [4.0, 14.0, 11.0]]),
]


@pytest.mark.parametrize(("rule", "world", "wrapping", "pulls", "sums"), FROZEN)
def test_seeded_runs_are_what_they_were(rule, world, wrapping, pulls, sums):
    policy = WRAPPINGS[wrapping](Explorer() if rule == "explorer" else (RULES | OTHERS)[rule][0])
    runs = db.simulate(policy, WORLDS[world], horizon=60, runs=2, seed=7, paths=True)
    np.testing.assert_array_equal(runs.pulls, pulls)
    np.testing.assert_allclose(runs.sums, sums, rtol=1e-12)
    other = db.simulate(policy, WORLDS[world], horizon=60, runs=2, seed=8)  # control
    assert (other.sums != sums).any()
