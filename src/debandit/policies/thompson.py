"""Thompson sampling for normal rewards."""

from dataclasses import dataclass
from typing import ClassVar

from debandit.checks import choice, number, whole
from debandit.engine.conditions import Conditions
from debandit.engine.data import Floats, Ints, RuleData, inverse_root, rule_data
from debandit.policies.normal_draws import leads_within
from debandit.policies.policy import Policy, location_and_width


@dataclass(frozen=True)
class ThompsonSampling(Policy):
    """Draw each arm's mean from its posterior and pull the highest draw.

    With the prior N(prior_mean, prior_sd^2), rewards of standard deviation noise_sd and n0 = noise_sd^2 / prior_sd^2,
    the posterior is N((S + n0 prior_mean) / (N + n0), noise_sd^2 / (N + n0)). center="sample" keeps its width but
    centres it on the sample mean S/N, which needs initial_pulls >= 1. `draws` is for batches whose shares were those of
    this many draws, instead of a draw for each user.
    """

    name: ClassVar[str] = "thompson"
    randomised: ClassVar[bool] = True
    draws_means: ClassVar[bool] = True
    prior_mean: float = number(0.0)
    prior_sd: float = number(1.0, low=1e-100)
    noise_sd: float = number(1.0, low=1e-100)
    initial_pulls: int = whole(0)
    center: str = choice("posterior", "sample")
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
