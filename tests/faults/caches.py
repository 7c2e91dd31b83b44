"""What is kept of compiled code, killed while it is compiled, shared, and damaged: it never changes an answer."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from faults import Setting, Tries, complaint, fault
from faults.studies import PIPES

SIMULATE = ("simulate", "--world", "bernoulli(means=[0.3,0.6])", "--horizon", "40", "--runs", "2000", "--policy")
SMALLEST = "fixed_weights([0.5, 0.5])"  # of the built-in rules it is compiled in the shortest time
TWO_LOADS = """
import sys
from pathlib import Path
import debandit as db
from faults.caches import DAMAGE, damage
world = db.worlds.Bernoulli([0.3, 0.6])
db.simulate("ucb", world, horizon=40, runs=200, seed=1)
for file in Path(sys.argv[1]).rglob("*.nb?"):
    damage(file, sys.argv[2])
print(db.simulate(sys.argv[3], world, horizon=40, runs=2000, seed=1).sums.tolist())
"""


def command(policy: str = SMALLEST) -> list[str]:
    return [sys.executable, "-m", "debandit", *SIMULATE, policy]


def with_cache(cache: Path | str) -> dict[str, str]:
    """The environment of a process that has this cache."""
    return {**os.environ, "DEBANDIT_CACHE_DIR": str(cache)}


def run(cache, policy=SMALLEST, cwd=None, **options):
    given = {"capture_output": True, "text": True, "env": with_cache(cache), "timeout": 300, "cwd": cwd}
    done = subprocess.run(command(policy), **given, **options)
    assert done.returncode == 0, done.stderr
    return done


def contents(cache):
    return {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}


def truncated(content):
    return content[: len(content) // 2]


def flipped(content):
    return content[:-40] + bytes([content[-40] ^ 1]) + content[-39:]


def emptied(_):
    return b""


def foreign(_):
    return b"something else"


DAMAGE = {function.__name__: function for function in (truncated, flipped, emptied, foreign)}


def damage(file: Path, how: str) -> None:
    file.write_bytes(DAMAGE[how](file.read_bytes()))


@fault("`kill -9` while compiling", "the next run gives the same output, and nothing half written stays")
def killed_compiling(setting: Setting) -> Tries:
    cache = setting.folder / "cache"
    start = time.monotonic()
    wanted = run(cache).stdout
    seconds = time.monotonic() - start
    for turn in range(setting.times):
        if not turn % 3:
            shutil.rmtree(cache)
        process = subprocess.Popen(command(), env=with_cache(cache), **PIPES)
        time.sleep(setting.chance.uniform(0, seconds))
        process.kill()
        process.communicate()
        checked = turn % 3 == 2
        yield complaint(
            same_output=not checked or run(cache).stdout == wanted,
            nothing_half_written=not checked or not [path for path in cache.rglob("*") if ".tmp" in path.name],
        )


@fault("two processes that compile into one cache", "both give the same output, and a third one compiles nothing")
def two_compiling(setting: Setting) -> Tries:
    wanted = run(setting.folder / "alone").stdout
    for number in range(setting.seldom):
        cache = setting.folder / str(number)
        both = []
        for _ in range(2):
            both.append(subprocess.Popen(command(), env=with_cache(cache), text=True, **PIPES))
            time.sleep(setting.chance.uniform(0, 0.5))
        outputs = [process.communicate()[0] for process in both]
        kept = contents(cache)
        third = run(cache)
        yield complaint(
            same_output=outputs == [wanted, wanted] and third.stdout == wanted,
            nothing_is_compiled=contents(cache) == kept and third.stderr == "",
        )


@fault("every file of the cache, cut off, with a flipped bit, empty or foreign", "the output is the same")
def damaged_caches(setting: Setting) -> Tries:
    filled = setting.folder / "filled"
    wanted, cache = run(filled).stdout, setting.folder / "damaged"
    for file, content in contents(filled).items():
        for how in DAMAGE if len(content) > 40 else ("foreign",):
            shutil.copytree(filled, cache)
            damage(cache / file.relative_to(filled), how)
            yield complaint(same_output=run(cache).stdout == wanted)
            shutil.rmtree(cache)


@fault("the cache, damaged between two loads of one process", "the numbers are the same")
def damaged_between(setting: Setting) -> Tries:
    filled, script = setting.folder / "filled", [sys.executable, "-c", TWO_LOADS]
    here = {"cwd": Path(__file__).parents[1], "capture_output": True, "text": True}
    for policy in ("ucb", SMALLEST):
        run(filled, policy)
    nowhere = [*script, setting.folder / "nowhere", "flipped", SMALLEST]
    wanted = subprocess.run(nowhere, env=with_cache(filled), **here).stdout
    for how in DAMAGE:
        cache = shutil.copytree(filled, setting.folder / how)
        done = subprocess.run([*script, cache, how, SMALLEST], env=with_cache(cache), **here)
        yield complaint(it_ends_well=done.returncode == 0, same_numbers=done.stdout == wanted != "")
