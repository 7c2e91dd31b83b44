"""An A/B test with one row per visitor.

checkout.csv is simulated: 1,000 visitors, and epsilon-greedy showed most of them the better-looking of two checkouts.
"""

import debandit as db

log = db.read_log("checkout.csv", arm="variant", reward="bought")

# First: may this rule have made the log? With a wrong rule the correction would be worthless.
rule = "epsilon_greedy(epsilon=0.1)"
fit = db.check(log, rule)
print(fit, "\n")
assert fit.fits

# Then: what is each variant worth, and how much better than the old checkout (one page) is the new one?
result = db.debias(log, rule, control="one_page")
print(result)

# All numbers are at hand, too: one row per arm.
print(result.to_frame()[["arm", "naive", "quoted", "low", "high"]].round(4))
