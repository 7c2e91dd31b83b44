"""The texts of rules and worlds: each is read or refused, says itself, and is the same on 1 or 2 threads."""

import random
import zlib

import numpy as np

import debandit as db
from debandit.policies import as_policy
from debandit.worlds import as_bootstrap, as_world
from fuzz import grammar
from fuzz.properties import need, need_printable

PLAYED = 0.004  # the share of the sound ones that are played, which takes longer
KINDS = {
    "policy": (grammar.rule, as_policy),
    "world": (grammar.world, as_world),
    "fitted": (grammar.fitted, as_bootstrap),
}


def made(seed):
    rng = random.Random(f"rules {seed}")
    kind = rng.choice(["policy", "policy", "policy", "world", "world", "fitted"])
    text = KINDS[kind][0](rng)
    return {"kind": kind, "text": text if rng.random() < 0.3 else grammar.spoiled(text, rng)}


def tried(given, folder):
    kind, text = given["kind"], given["text"]
    read = KINDS[kind][1]
    found = read(text)
    need_printable(str(found))
    need(str(read(str(found))) == str(found), f"{str(found)[:200]!r} is something else when it is read again")
    if zlib.crc32(text.encode("utf-8", "surrogatepass")) % 1000 < 1000 * PLAYED and kind != "fitted":
        play(found, kind)
    return True


def play(found, kind):
    """Some short runs, on one thread and on two."""
    if kind == "policy":
        pairs = [(found, grammar.world(random.Random(arms), arms, found.binary_rewards)) for arms in (2, 3)]
    else:
        need(found.means.size < 10**6, "a huge world")
        pairs = [("batched(uniform, 7)", found), ("epsilon_greedy", found)]
    for policy, world in pairs:
        try:
            one, two = (db.simulate(policy, world, horizon=30, runs=70, threads=threads) for threads in (1, 2))
        except db.DebanditError as error:
            need_printable(str(error))
            continue
        need(np.array_equal(one.sums, two.sums) and np.array_equal(one.pulls, two.pulls), "two threads differ from one")
        need(np.isfinite(one.sums).all() and one.pulls.min() >= 0, "sums that are none")
