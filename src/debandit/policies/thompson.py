"""Thompson sampling for normal rewards."""

from dataclasses import dataclass
from typing import ClassVar

from debandit.checks import SMALLEST, choice, number, whole
from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, RuleData, inverse_root, rule_data
from debandit.policies.normal_draws import leads_within
from debandit.policies.policy import Lines, Policy, location_and_width


@dataclass(frozen=True)
class ThompsonSampling(Policy):
    """Draw each arm's mean from its posterior, for normal rewards, and pull the arm with the highest draw.

    center="sample" keeps the posterior's width but centres it on the sample mean, which needs initial_pulls >= 1.
    """

    name: ClassVar[str] = "thompson"
    title: ClassVar[str] = "Thompson sampling, normal rewards"
    formula: ClassVar[Lines] = (
        "argmax_k θ_k,  θ_k ~ N(m_k, noise_sd² / (N_k + n0))",
        "m_k = (S_k + n0 prior_mean) / (N_k + n0),  n0 = noise_sd² / prior_sd²",
    )
    source: ClassVar[str] = (
        "Thompson (1933), On the likelihood that one unknown probability exceeds another in view of the evidence "
        "of two samples, Biometrika 25; with normal priors: Agrawal and Goyal (2013), Further optimal regret "
        "bounds for Thompson sampling, AISTATS 16"
    )
    randomised: ClassVar[bool] = True
    draws_means: ClassVar[bool] = True
    prior_mean: float = number(0.0)
    prior_sd: float = number(1.0, low=SMALLEST)
    noise_sd: float = number(1.0, low=SMALLEST)
    initial_pulls: int = whole(0)
    center: str = choice(
        "posterior", "sample", text="where draws are centred: on the posterior mean or on the sample mean"
    )
    draws: int = whole(0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(
            self.center == "posterior" or self.initial_pulls >= 1,
            "center='sample' needs initial_pulls >= 1: an arm without a pull has no sample mean",
        )

    def conditions(self, arm_count: int, horizon: int) -> Conditions:
        return Conditions(self.opening, draws=self.draws)

    def rule(self, arm_count: int, horizon: int) -> RuleData:
        prior_pulls = (self.noise_sd / self.prior_sd) ** 2
        shrink = prior_pulls if self.center == "posterior" else 0.0
        return rule_data(
            prior_pulls=shrink,
            prior_sum=shrink * self.prior_mean,
            width=lambda pulls: self.noise_sd * inverse_root(pulls, prior_pulls),
            noisy=True,
        )

    def leads_within(self, share: float, arms: Ints, pulls: Ints, sums: Floats, above: float = 0.0) -> Floats:
        return leads_within(share, arms, *location_and_width(self.rule(pulls.shape[-1], 0), pulls, sums), above)
