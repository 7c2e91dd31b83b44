"""Tries very many inputs of every generator, and says which of them made trouble: `make fuzz`.

An input depends on its generator and its seed alone. What is done is kept in a file of state: the same command goes on
where it was stopped. An input that made trouble, also by the death of the process, is kept beside it.
"""

import argparse
import importlib
import json
import multiprocessing
import tempfile
import time
from pathlib import Path

from fuzz.properties import judged

SHARES = {  # of a million inputs: the cheaper, the more
    "rules": 760_000,
    "logs": 120_000,
    "results": 70_000,
    "queries": 40_000,
    "studies": 5_000,
    "words": 3_000,
    "answers": 1_500,
    "forms": 500,
}
SECONDS = 40  # of work for one process
PATIENCE = 300  # seconds that one input may take on a busy machine, before its process is killed
COUNTS = ("tried", "accepted", "refused", "troubles")
CORPUS = Path(__file__).with_name("corpus")


def generator(name):
    """The module; `commands` are the words of command lines, each run by a process of its own."""
    return importlib.import_module(f"fuzz.{'processes' if name == 'commands' else name}")


def troubles(name, seeds, folder, count=lambda seed, outcome: None):
    """The seeds of inputs that made trouble, with what was wrong."""
    for seed in seeds:
        count(seed, "tried")
        outcome, what = judged(generator(name), generator(name).made(seed), folder)
        count(seed, outcome)
        if outcome == "trouble":
            yield seed, what


# --- one process -----------------------------------------------------------------------------------------------------


def work(name, first, last, kept, shared):
    """Try inputs for some time; the parent sees which one it is, and how many there were of each kind."""
    end = time.monotonic() + SECONDS

    def count(seed, outcome):
        shared[0] = seed
        shared[1 + COUNTS.index("troubles" if outcome == "trouble" else outcome)] += 1
        shared[5] = outcome != "tried"

    def seeds():
        for seed in range(first, last):
            if time.monotonic() > end:
                return
            yield seed

    with tempfile.TemporaryDirectory() as folder:
        for seed, what in troubles(name, seeds(), Path(folder), count):
            keep(name, seed, what, kept)


def keep(name, seed, what, folder):
    """Say what was wrong, and keep the input."""
    print(f"{name} {seed}: {what}", flush=True)
    trouble = {"generator": name, "seed": seed, "what": what, "input": generator(name).made(seed)}
    (folder / f"{name}-{seed}.json").write_text(json.dumps(trouble, indent=1) + "\n", encoding="ascii")


def block(name, first, last, kept):
    """What one process did: the seed to go on with, and the counts. It is killed if it sleeps, and may die."""
    context = multiprocessing.get_context("spawn")
    shared = context.Array("q", [first, 0, 0, 0, 0, 1], lock=False)
    child = context.Process(target=work, args=(name, first, last, kept, shared))
    child.start()
    try:
        while child.is_alive():
            seen = shared[1]
            child.join(PATIENCE)
            if child.is_alive() and shared[1] == seen:
                child.kill()
                child.join()
    except BaseException:
        child.kill()
        child.join()
        raise
    if not shared[1]:
        raise RuntimeError(f"the process ended with {child.exitcode} before it tried anything")
    if child.exitcode != 0 or not shared[5]:
        keep(name, shared[0], f"the process ended with {child.exitcode}", kept)
        shared[4] += 1
    return shared[0] + 1, dict(zip(COUNTS, shared[1:5], strict=True))


# --- the campaign ----------------------------------------------------------------------------------------------------


def goals(inputs, commands, only):
    """How many inputs of each generator there are to be."""
    found = {name: -(-share * inputs // sum(SHARES.values())) for name, share in SHARES.items()} | {
        "commands": commands
    }
    return {name: goal for name, goal in found.items() if only in (None, name)}


def table(done):
    """What was tried, in Markdown."""
    rows = ["| generator | tried | accepted | refused | troubles | seconds |", "|---|--:|--:|--:|--:|--:|"]
    total = {key: sum(each[key] for each in done.values()) for key in (*COUNTS, "seconds")}
    for name, each in {**done, "all": total}.items():
        rows.append(f"| {name} | " + " | ".join(f"{each[key]:,.0f}" for key in (*COUNTS, "seconds")) + " |")
    return "\n".join(rows)


def run(state, path, wanted):
    """Try what is wanted, a block of each generator in turn."""
    done, kept = state["done"], path.with_name("troubles")
    kept.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        done.setdefault(name, {**dict.fromkeys(COUNTS, 0), "seconds": 0.0, "next": state["seed"]})
    while left := [name for name, goal in wanted.items() if done[name]["tried"] < goal]:
        # the one that is farthest behind
        name = min(left, key=lambda each: done[each]["tried"] / wanted[each])
        part, started = done[name], time.monotonic()
        last = part["next"] + wanted[name] - part["tried"]
        part["next"], counts = block(name, part["next"], last, kept)
        for key in COUNTS:
            part[key] += counts[key]
        part["seconds"] += time.monotonic() - started
        unfinished = path.with_suffix(".new")
        unfinished.write_text(json.dumps(state, indent=1) + "\n", encoding="ascii")
        unfinished.replace(path)
        print(f"{name}: {part['tried']:,} of {wanted[name]:,} tried, {part['troubles']} troubles", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1_000_000, help="of all generators together")
    parser.add_argument(
        "--commands", type=int, default=2000, help="command lines that are run by processes of their own"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first input of each generator")
    parser.add_argument("--only", choices=[*SHARES, "commands"], help="one generator; it takes all of its share")
    parser.add_argument("--state", type=Path, default=Path("debandit-out/fuzz/state.json"), help="what was done so far")
    chosen = parser.parse_args()
    state = {"seed": chosen.seed, "done": {}}
    if chosen.state.exists():
        state = json.loads(chosen.state.read_text(encoding="ascii"))
        if state["seed"] != chosen.seed:
            parser.error(f"{chosen.state} is of a campaign with seed {state['seed']}; name another --state")
    try:
        run(state, chosen.state, goals(chosen.inputs, chosen.commands, chosen.only))
    except KeyboardInterrupt:
        print("stopped; the same command goes on")
    print(f"\nseed {chosen.seed}\n\n{table(state['done'])}")
    failed = sum(each["troubles"] for each in state["done"].values())
    print(f"\n{failed} troubles, kept in {chosen.state.with_name('troubles')}" if failed else "\nno troubles")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
