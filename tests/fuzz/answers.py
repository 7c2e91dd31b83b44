"""Small experiments, also degenerate ones: what is said of them does not depend on names, units, origin or threads."""

import contextlib
import json
import random
import warnings

import numpy as np
from units import BOUNDED, in_unit, parts, told

import debandit as db
from debandit.policies import as_policy
from debandit.policies.wrappers import Wrapper
from debandit.report import report_of
from debandit.settings import INTERVALS
from fuzz import grammar
from fuzz.properties import need, need_json, need_printable, need_same

NAMES, OTHERS = ("cherry", "apple", "damson", "berry"), ("vixen", "zebu", "wolf", "yak")
REWARDS = {
    "0/1": lambda rng: float(rng.random() < 0.4),
    "eighths": lambda rng: rng.randrange(-8, 25) / 8,
    "normal": lambda rng: rng.gauss(1, 1),
    "mostly 0": lambda rng: rng.choice([0.0, 0.0, 0.0, rng.expovariate(1)]),
    "all alike": lambda rng: 0.75,
    "far out": lambda rng: rng.choice([rng.random()] * 9 + [1e6]),
    "far away": lambda rng: 1e9 + rng.random(),
    "tiny": lambda rng: rng.random() * 2.0**-100,
}
ALSO = {"check": db.check, "compare": db.compare, "identify": lambda log, _: db.identify(log), "describe": db.describe}


def made(seed):
    rng = random.Random(f"answers {seed}")
    policy = a_rule(rng)
    arms, rounds = 2 if policy.two_arms else rng.choice([2, 2, 3, 4]), rng.choice([2, 4, 10, 30, 60])
    options = {"runs": rng.choice([2, 40, 70]), "seed": rng.randrange(5), "world": grammar.fitted(rng)}
    options["interval"] = rng.choice([*INTERVALS, *["auto"] * 6])
    options["control"] = rng.choice([None, None, 0, 1])
    options["adjust"] = rng.choice(["auto", "auto", "auto", "batches", "none"])
    options["unseen"] = rng.choice([None, [0.5, 0.5]])
    options["level"] = rng.choice([0.95, 0.5, 0.999])
    given = {"policy": str(policy), "count": arms, "options": options, "power": rng.choice([-150, -3, 5, 150])}
    given["also"] = rng.choice([None, None, *ALSO, "report"])
    if rng.random() < 0.6 and not policy.needs_batches:  # as the rule makes it
        world = grammar.world(rng, arms, policy.binary_rewards or None)
        given |= {"world": world, "horizon": rounds, "seed": rng.randrange(1000)}
    else:
        reward = REWARDS["0/1" if policy.binary_rewards else rng.choice(list(REWARDS))]
        given["arms"] = [rng.randrange(arms) for _ in range(rounds)]
        given["rewards"] = [reward(rng) for _ in range(rounds)]
        options["force"] = rng.random() < 0.9
    given["batch"] = rng.choice([5, 10]) if policy.needs_batches or rng.random() < 0.05 else None
    return given


def a_rule(rng):
    """One of the texts that are rules."""
    while True:
        with contextlib.suppress(db.DebanditError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return as_policy(grammar.rule(rng))


def tried(given, folder):
    policy = as_policy(given["policy"])
    arms, rewards = experiment(given, policy)

    def log(names, unit=1.0, origin=0.0):
        batches = given["batch"] and [str(i // given["batch"]) for i in range(len(arms))]
        labels = names[: given["count"]]
        return db.ExperimentLog([labels[k] for k in arms], rewards * unit + origin, labels=labels, batches=batches)

    def options(names, unit=1.0, origin=0.0):
        more = dict(given["options"])
        more["control"] = None if more["control"] is None else names[more["control"]]
        more["unseen"] = more["unseen"] and (more["unseen"][0] * unit + origin, more["unseen"][1] * unit)
        return more

    result = db.debias(log(NAMES), policy, threads=1, **options(NAMES))
    document = told_of(result, folder)
    need_same(need_json(db.debias(log(NAMES), policy, threads=2, **options(NAMES)).document()), document, "two threads")
    other = db.debias(log(OTHERS), policy, threads=1, **options(OTHERS)).document()
    need_same(nameless(other, OTHERS), nameless(document, NAMES), "other names")
    rule = innermost(policy)
    if not result.settings.binary and rule.name not in BOUNDED and np.abs(rewards).max() > 0:
        need_same_in_unit(
            document,
            2.0 ** given["power"],
            lambda u: db.debias(log(NAMES, u), in_unit(policy, u), threads=1, **in_world_of(options(NAMES, u), u)),
        )
        need_same_elsewhere(policy, log, options)
    also(given["also"], log(NAMES), policy, result)
    return True


def experiment(given, policy):
    """Arms and rewards."""
    if "arms" in given:
        return np.array(given["arms"]), np.array(given["rewards"])
    runs = db.simulate(
        policy, given["world"], horizon=given["horizon"], runs=1, seed=given["seed"], paths=True, threads=1
    )
    made = runs.path_arms[0] >= 0
    return runs.path_arms[0][made], runs.path_rewards[0][made]


def told_of(result, folder):
    """The document of a result, whose texts can be printed, and which is the same when it is read again."""
    need_printable(str(result))
    need_printable(result.details())
    document = need_json(result.document())
    result.to_json(folder / "result.json")
    need_same(need_json(db.Debiased.from_json(folder / "result.json").document()), document, "read again")
    return document


def nameless(document, names):
    """The document with numbers for the names of the arms."""
    text = json.dumps({**document, "settings": {**document["settings"], "log_sha256": ""}})
    for k, name in enumerate(names):
        text = text.replace(name, f"arm {k}")
    return json.loads(text)


def innermost(policy):
    """The rule without what is around it."""
    return innermost(policy.policy) if isinstance(policy, Wrapper) else policy


def in_world_of(options, unit):
    """The world, in whose text a standard deviation is in the unit of the rewards."""
    return options | {"world": options["world"].replace("sd=0.5", f"sd={0.5 * unit!r}")}


def need_same_in_unit(document, unit, debias):
    """In another unit, a power of two, the bits are the same."""
    found, wanted = (parts(told(each, u)) for each, u in ((need_json(debias(unit).document()), 1.0), (document, unit)))
    wrong = [(key, wanted.get(key), value) for key, value in found.items() if wanted.get(key) != value]
    need(not wrong, f"in units of {unit}: {wrong[:1]}")


def need_same_elsewhere(policy, log, options):
    """With another origin means move by that, and biases stay: but for rounding, and what it may do in one run."""
    rule = innermost(policy)
    if "value_remaining" in str(policy) or rule.name not in (
        "ucb",
        "etc",
        "greedy",
        "uniform",
        "epsilon_greedy",
        "softmax",
    ):
        return
    plain = {"world": "efron", "interval": "none", "runs": 70, "adjust": "none"}
    here, there = (
        db.debias(log(NAMES, origin=o), policy, threads=1, **(options(NAMES, origin=o) | plain)) for o in (0.0, 16.0)
    )
    near = 1e-9 * (1 + np.nanmax(np.abs(here.naive))) + np.nanmax(here.sd) / here.runs
    need(np.nanmax(np.abs(there.naive - here.naive - 16)) < near, f"naive means move by {there.naive - here.naive}")
    need(np.nanmax(np.abs(there.bias - here.bias)) <= near, f"biases {here.bias} and elsewhere {there.bias}")


def also(name, log, policy, result):
    """Something else about the same log."""
    if name == "report":
        need_printable(report_of(result))
    elif name:
        found = ALSO[name](log, *([] if name == "describe" else [policy]))
        need_json(found.document())
        need_printable(str(found))
