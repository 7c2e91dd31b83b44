"""The method in half a page, for people who have not heard of it, and where it comes from."""

from debandit.tables import Part

_BIAS = (
    "A bandit chooses its arms by the rewards that it saw before. An arm with bad luck at first is given up, and "
    "its mean keeps the bad luck. So sample means are biased, mostly downward, and most for the arms that were "
    "given up (Nie et al., 2018; Shin et al., 2019)."
)
_OF_BOOTSTRAP = (
    "debandit builds a world from the log, in which the true means are known, and runs the same rule in it many "
    "times. How far the sample means are off there, on average, is the estimate of how far they are off here, and "
    "it is taken away (Chen et al., 2022).",
    "The quoted mean uses only runs in which the arm came out at the same place as in the log: it is the number "
    "to quote from one experiment, where one looks at an arm because of its place (Shin et al., 2020). The corrected "
    "mean uses all runs, as the paper does: take it to put many experiments together. Neither is exact, because the "
    "world is made from the data.",
)
_OF_REORDERING = (
    "A rule without randomness pulls each arm a few times in any case, and nothing in the rewards made it do so. The "
    "mean of these first pulls is unbiased. debandit takes it over all orders of the rewards that would have led the "
    "rule to the same numbers of pulls: each of them was as likely as the one that came. This is exactly unbiased, but "
    "scatters more than the sample mean.",
)
_ON_THE_RULE = (
    "All of it rests on the rule. If another one chose the arms, the correction is worthless. That is why the "
    "rule is checked against the log."
)
_REFERENCES = {
    "Nie et al., 2018": "X. Nie, X. Tian, J. Taylor and J. Zou (2018). Why adaptively collected data have negative "
    "bias and how to correct for it. AISTATS, PMLR 84.",
    "Shin et al., 2019": "J. Shin, A. Ramdas and A. Rinaldo (2019). Are sample means in multi-armed bandits positively "
    "or negatively biased? NeurIPS 32.",
    "Shin et al., 2020": "J. Shin, A. Ramdas and A. Rinaldo (2020). On conditional versus marginal bias in multi-armed "
    "bandits. ICML, PMLR 119.",
    "Chen et al., 2022": "N. Chen, X. Gao and Y. Xiong (2022). Debiasing samples from online learning using bootstrap. "
    "AISTATS, PMLR 151, 8514-8533.",
}


def method_parts(*, reordered: bool) -> list[Part]:
    """How the numbers came about; those of the method rao-blackwell came from `reordered` rewards."""
    texts = [_BIAS, *(_OF_REORDERING if reordered else _OF_BOOTSTRAP), _ON_THE_RULE]
    cited = [entry for key, entry in _REFERENCES.items() if any(key in text for text in texts)]
    return [*(Part("method", text) for text in texts), *(Part("reference", entry) for entry in cited)]
