"""Before an experiment: which rule, and how long?

Two variants with conversion rates of 10 and 13 %. Thompson sampling sends more users to the better one; an even split
estimates the difference more precisely. How much does each cost, and how much does it tell?
"""

import debandit as db

plans = db.plan(
    ["batched(beta_thompson, size=250)", "batched(uniform, size=250)"],
    "bernoulli(means=[0.10, 0.13])",
    horizon=2000,
    experiments=10,  # for a real plan take 100 or more; that takes ten times as long
    runs=50,
    seed=1,
)
print(plans)
