"""A million users in fifty batches: `debias` in steps of whole batches, against the time of its rounds one by one."""

import time
import warnings

import debandit as db
from debandit.errors import PresetWarning
from debandit.policies import as_policy
from debandit.policies.presets import PREFIX, presets

USERS, BATCH, SHORT = 1_000_000, 20_000, 20_000
MOST = 2.0  # CPU seconds
NORMAL = db.worlds.Normal([0.0, 0.01, 0.02, 0.015], [1.0, 1.0, 1.0, 1.0])
BERNOULLI = db.worlds.Bernoulli([0.100, 0.101, 0.102, 0.099])
RULES = (
    (db.ThompsonSampling(), NORMAL),
    (db.UCB(), NORMAL),
    (db.EpsilonGreedy(), NORMAL),
    (db.BetaThompson(), BERNOULLI),
    (db.GaussianThompson(), BERNOULLI),
    (db.GaussianThompson(), NORMAL),
    (db.InverseGap(), NORMAL),
    (db.LeaderChallenger(), BERNOULLI),
)
WRAPPED = (  # around Thompson sampling with beta posteriors, the slowest of them
    "warm_up({}, rounds=20000)",
    "floor({}, 0.05)",
    "floor({}, 0.05, how=clip)",
    "floor({}, shares=[0.2, 0, 0, 0])",
    "floor({}, decay=0.7, how=clip)",
    "tempered({})",
    "drop({}, below=0.02)",
    "quota({})",
    "gate({}, pulls=10000, successes=1000)",
    "delayed({}, batches=1)",
    "delayed({}, rounds=5000)",
    "quota(warm_up(tempered({}), pulls=5000))",
    "commit_when({}, share=0.95)",
    "commit_when({}, value_remaining=0.005)",
    "stop_when({}, probability=0.99, most=1000000)",
    "stop_when({}, value_remaining=0.001, most=1000000)",
)
NEEDED = {"most": USERS, "below": 0.05}  # options that some presets cannot do without


def seconds(work):
    """Of the second time, when everything is compiled and loaded."""
    work()
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main():
    print("One million users in 50 batches, 4 arms; CPU seconds of all cores.\n")
    print(f"rule, no limits     debias (at most {MOST:.0f})    runs   round by round   ratio   with simulated limits")
    for rule, place in RULES:
        policy = db.Batched(rule, size=BATCH)
        log = db.simulate(policy, place, horizon=USERS, runs=1, seed=5, paths=True).log(0)
        whole, result = seconds(lambda log=log, policy=policy: db.debias(log, policy, interval="none"))
        limits, _ = seconds(lambda log=log, policy=policy: db.debias(log, policy))
        small = db.Batched(rule, size=20)  # below the size from which batches are steps
        each, _ = seconds(lambda small=small, place=place: db.simulate(small, place, horizon=SHORT, runs=256))
        rounds = each / (256 * SHORT) * result.runs * USERS
        met = "met" if whole <= MOST else "missed"
        by_rounds = f"{rounds:12.1f} s  {rounds / whole:6.0f}"
        print(f"{rule.name:17} {whole:6.2f} s {met:12} {result.runs:6,}  {by_rounds}  {limits:18.2f} s")

    print(f"\nwrapper or preset, --interval none          debias (at most {MOST:.0f})    runs")
    for text in WRAPPED:
        without_limits(text, text.format(f"batched(beta_thompson, {BATCH})"))
    warnings.simplefilter("ignore", PresetWarning)
    for preset in presets().values():
        needed = "".join(f", {name}={NEEDED[name]}" for name, option in preset.options.items() if option.needed)
        without_limits(f"{PREFIX}{preset.name}", f"{PREFIX}{preset.name}({BATCH}{needed})")


def without_limits(title, text):
    policy = as_policy(text)
    log = db.simulate(policy, BERNOULLI, horizon=USERS, runs=1, seed=5, paths=True).log(0)
    whole, result = seconds(lambda: db.debias(log, policy, interval="none"))
    print(f"{title:42} {whole:6.2f} s {'met' if whole <= MOST else 'missed':12} {result.runs:6,}")


if __name__ == "__main__":
    main()
