"""The paper's formulas for explore-then-commit, and exact values for two Bernoulli arms; no simulation inside.

Every docstring has the formula and the paper's label.
"""

from debandit.theory.bootstrap import log_bias, log_bias_gradient, mb_bias, theorem1_ratio
from debandit.theory.discrete import Discrete
from debandit.theory.dynamic import MeanDistribution, TwoArms, exact_counts, exact_two_arms
from debandit.theory.etc_bernoulli import etc_bias_bernoulli
from debandit.theory.etc_normal import etc_bias
from debandit.theory.from_callable import FromCallable
from debandit.theory.gap import c_star, etc_gap, theorem2_bound, theorem2_limit
from debandit.theory.law import BernoulliLaw, Law, NormalLaw, UniformLaw

__all__ = [
    "BernoulliLaw",
    "Discrete",
    "FromCallable",
    "Law",
    "MeanDistribution",
    "NormalLaw",
    "TwoArms",
    "UniformLaw",
    "c_star",
    "etc_bias",
    "etc_bias_bernoulli",
    "etc_gap",
    "exact_counts",
    "exact_two_arms",
    "log_bias",
    "log_bias_gradient",
    "mb_bias",
    "theorem1_ratio",
    "theorem2_bound",
    "theorem2_limit",
]
