"""A real trial: ECMO for newborns (Bartlett et al., 1985), by the randomised play-the-winner rule.

Eleven babies got ECMO and lived; one got conventional treatment and died.
"""

import debandit as db

trial = db.datasets.ecmo
print(trial.description, "\n")

# The rule gave ECMO to more and more babies because it worked. An ordinary test ignores that; this p-value comes from
# running the rule in worlds in which both treatments are equally good.
result = db.debias(trial.log, trial.policy, control="conventional")
print(result)

ecmo = result.labels.index("ECMO")
print(f"\nDo the treatments differ? p = {result.differences.p_value[ecmo]:.2f}")

# How would such a trial go if 90 % lived with ECMO, and 40 % without? (These two rates are made up.)
world = db.worlds.Bernoulli([0.9, 0.4])
runs = db.simulate(trial.policy, world, horizon=12, runs=20_000, seed=1)
print(f"On average {runs.pulls[:, 0].mean():.1f} of 12 babies would get ECMO.")
