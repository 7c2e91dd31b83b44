"""Measure how often `debandit identify` names the rule that made a log; prints the tables of docs/identify.md.

python docs/scripts/measure_identify.py [--common 100] [--rare 50] [--around 20] [--seed 717]
"""

import argparse
from collections import Counter
from collections.abc import Iterator

import debandit as db
from debandit.identification import Identified
from debandit.policies import Policy, as_policy
from debandit.tables import Column, render

ON_A_SCALE = {2: "normal(means=[1, 1.5], sds=[1, 1])", 3: "normal(means=[1, 1.5, 1.2], sds=[1, 1, 1])"}
BINARY = {2: "bernoulli(means=[.3, .4])", 3: "bernoulli(means=[.3, .4, .35])"}
COMMON = [
    "etc(pulls=10)",
    "etc(pulls=5)",
    "ucb(c=1)",
    "ucb(c=2)",
    "epsilon_greedy(epsilon=0.05)",
    "epsilon_greedy(epsilon=0.2)",
    "thompson",
    "thompson(noise_sd=2)",
]
RARE = [
    "softmax",
    "decaying_epsilon_greedy",
    "uniform",
    "greedy",
    "gaussian_thompson",
    "top_two_thompson(leader=0.8)",
    "successive_elimination(sd=0.2)",
    "fixed_weights",
]
RARE_BINARY = ["beta_thompson", "exp3", "ucb_tuned", "kl_ucb", "play_the_winner", "ts_postdiff"]
WEIGHTS = {2: "fixed_weights(weights=(0.3, 0.7))", 3: "fixed_weights(weights=(0.5, 0.2, 0.3))"}
AROUND = [
    "beta_thompson",
    "epsilon_greedy(epsilon=0.2)",
    "batched(beta_thompson, size=100)",
    "batched(beta_thompson, size=500)",
    "batched(ucb, size=50)",
    "floor(beta_thompson, probability=0.05)",
    "gate(beta_thompson, pulls=100)",
    "warm_up(beta_thompson, rounds=500)",
    "floor(warm_up(batched(beta_thompson, size=200), rounds=400), probability=0.05)",
]
ROUNDS, ROUNDS_AROUND = 200, 2000
KINDS = {"beta_thompson": "thompson", "gate": "warm_up"}  # that tell nearly the same
WORDS = ("clear", "some doubt", "cannot tell", "none fits")
COUNTED = ("rule", "around", *WORDS, "clear, but wrong")


def answers(policy: Policy, world: str, rounds: int, logs: int, seed: int) -> Iterator[Identified]:
    """What is said of some logs of the rule."""
    runs = db.simulate(policy, world, horizon=rounds, runs=logs, seed=seed, paths=True)
    for i in range(logs):
        yield db.identify(runs.log(i))


def of_plain_rules(texts: list[str], worlds: dict[int, str], logs: int, seed: int, words: Counter) -> list[dict]:
    """How often each is named with two and three arms; `words` counts what was said when it was right or wrong."""
    rows = []
    for text in texts:
        row = {"rule": text} | dict.fromkeys(map(str, worlds))
        for arms, world in worlds.items():
            policy = as_policy(WEIGHTS[arms] if text == "fixed_weights" else text)
            if policy.name == "ts_postdiff" and arms > 2:
                continue
            right = 0
            for found in answers(policy, world, ROUNDS, logs, seed):
                named = found.policy.core.name == policy.name
                words[found.verdict, named] += 1
                right += named
            row[str(arms)] = right / logs
        print(row, flush=True)
        rows.append(row)
    return rows


def of_layers(policy: Policy) -> list[str]:
    """The kinds of wrappers around a rule."""
    return sorted(KINDS.get(layer.name, layer.name) for layer in getattr(policy, "layers", ()))


def around(text: str, world: str, logs: int, seed: int) -> dict:
    """How often a rule and what is around it are named, and what was said."""
    policy, count = as_policy(text), Counter()
    core = KINDS.get(policy.core.name, policy.core.name)
    for found in answers(policy, world, ROUNDS_AROUND, logs, seed):
        named = KINDS.get(found.policy.core.name, found.policy.core.name) == core
        same = of_layers(found.policy) == of_layers(policy)
        count.update({"rule": named, "around": same, found.verdict: 1})
        count["clear, but wrong"] += found.verdict == "clear" and not (named and same)
    print(text, dict(count), flush=True)
    return {"policy": text} | {key: count[key] for key in COUNTED}


def main() -> None:
    """Print four tables."""
    parser = argparse.ArgumentParser(description="Measure how often identify names the rule.")
    parser.add_argument("--common", type=int, default=100, help="logs of each common rule and number of arms")
    parser.add_argument("--rare", type=int, default=50, help="logs of each rare one")
    parser.add_argument("--around", type=int, default=20, help="longer logs of each rule with something around it")
    parser.add_argument("--seed", type=int, default=717)
    given = parser.parse_args()
    of_common, of_rare = Counter(), Counter()
    arms = (Column("rule", "rule", "text"), Column("2", "2 arms", "share"), Column("3", "3 arms", "share"))
    common = of_plain_rules(COMMON, ON_A_SCALE, given.common, given.seed, of_common)
    rare = of_plain_rules(RARE, ON_A_SCALE, given.rare, given.seed, of_rare)
    rare += of_plain_rules(RARE_BINARY, BINARY, given.rare, given.seed, of_rare)
    for rows in (common, rare):
        print(f"\n{render(rows, arms, 0)}")
    print(f"\n{'words':12} wrong, common rules; wrong, rare rules")
    for word in WORDS:
        wrong = [f"{of[word, False]} of {of[word, False] + of[word, True]}" for of in (of_common, of_rare)]
        print(f"{word:12} {'; '.join(wrong)}")
    found = [around(text, world, given.around, given.seed) for world in BINARY.values() for text in AROUND]
    print()
    print(render(found, (Column("policy", "made by", "text"), *(Column(key, key, "count") for key in COUNTED)), 0))


if __name__ == "__main__":
    main()
