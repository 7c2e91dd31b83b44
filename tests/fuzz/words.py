"""Command lines: all commands with their options, some of them wrong. They print text and end as they should."""

import functools
import io
import json
import random
import re
import shutil
from contextlib import redirect_stderr

import click
import commands

from debandit.cli import commands as group
from fuzz import grammar, logs, results, studies
from fuzz.properties import need, need_json, need_printable, wrong_text

LOG = "arm,reward,day\n" + "".join(f"{'AB'[i % 3 == 0]},{i * 7 % 5},{i // 10}\n" for i in range(40))
DAYS = "day,variant,users,conversions\n1,old,50,2\n1,new,50,5\n2,old,6,0\n2,new,94,9\n"
ODD = (
    *("", "-", "--", "x", "0", "-1", "1e3", "nan", "9" * 5000, "\x1b[31m", "\u202e", "\ud800", "a\0b"),
    *("a\nb", "../x", "/", "*", "é", "1,2", ",", "10001", "99999999999", "%s{0}", "--help", "-h"),
    *("L" * 100_000, "log.csv", "nofile.csv", "my.toml"),
)
SMALL = {  # values of options that mean no long work
    "--runs": ["20", "60", "2", "auto"],
    "--experiments": ["2", "3"],
    "--horizon": ["1", "20", "50"],
    "--threads": ["1", "2"],
    "--seed": ["0", "7", "18446744073709551615", "18446744073709551616"],
    "--level": ["0.95", "0.5", "0.999", "2"],
    "--json": ["out.json", "out.json", "log.csv", "no/out.json", "."],
    "--report": ["out.html", "out.txt"],
    "--plot": ["out.svg", "out.txt", "out.txt", "out.txt"],
    "--save": ["out.csv", "."],
    "--output": ["out"],
    "--unseen": ["0.5,1", "0,-1", "1"],
    "--support": ["0,5", "5,0"],
    "--arms": ["A,B", "A,B,C", "B", 'A,"B'],
    "--control": ["A", "B", "old", "1"],
    "--db": ["sqlite:///log.csv", "sqlite:///no.db", "x", "postgresql://u:secret@/"],
    "--query": ["SELECT * FROM log", "x"],
    "--workers": ["0"],  # processes and clusters take long to start
    "--cluster": [""],
    "--port": ["0"],
    "--max-upload": ["0"],
    "--settings": ["1"],
    "--batch": ["day"],
    "--metric": ["day", "reward"],
}
ARGUMENTS = {
    "study": (["list"], ["new", "new.toml"], ["my.toml"], ["my.toml"], ["my.toml"], ["nothing"], []),
    "report": (["result.json"], ["result.json"], ["log.csv"], []),
    "rules": ([], ["ucb"], ["preset:x"], ["beta_ts(1)"], ["batched"]),
    "presets": ([], ["growthbook"], ["x"]),
    "datasets": ([], ["ecmo"], ["x"]),
    "demo": ([],),
    "app": ([],),
    "simulate": ([],),
    "plan": ([],),
}
LOGS = (["log.csv"], ["log.csv"], ["days.csv"], ["odd.table"], ["ecmo"], ["*.csv"], ["log.csv", "days.csv"], [])
NUMPY = re.compile(r"warning: .*\bencountered\b|Warning: ")


@functools.cache
def flags():
    """The options of each command."""
    found = {}
    for name, command in group.commands.items():
        options = [each for each in command.params if isinstance(each, click.Option)]
        found[name] = {each.opts[-1]: each for each in options}
    return found


def value(flag, option, rng):
    """What one might say with an option; nothing of a flag."""
    if option.is_flag:
        return []
    if flag == "--policy":
        return [
            grammar.rule(rng, 1) if rng.random() < 0.5 else rng.choice(["ucb", "batched(beta_thompson)", "uniform"])
        ]
    if flag == "--world":
        return [rng.choice([grammar.world, grammar.fitted])(rng)]
    if isinstance(option.type, click.Choice):
        return [rng.choice(option.type.choices)]
    return [rng.choice(SMALL.get(flag, ["arm", "reward", "day", "variant", "users", "none"]))]


def words_of(rng):
    """A command with its arguments and options."""
    name = rng.choice([*flags(), "debias", "debias", "check", "simulate"])
    arguments = rng.choice(ARGUMENTS.get(name, LOGS))
    needed = {"simulate": ("--policy", "--world", "--horizon"), "plan": ("--policy", "--world", "--horizon")}
    chosen = [*needed.get(name, ("--policy",) * (name in ("debias", "check", "compare")))]
    chosen += [each for each in ("--runs", "--experiments") if each in flags()[name]]
    likely = [each for each in flags()[name] if each not in chosen]
    chosen += rng.sample(likely, min(len(likely), rng.choice([0, 1, 1, 2, 3])))
    given = [[flag, *value(flag, flags()[name][flag], rng)] for flag in chosen]
    rng.shuffle(given)
    return [name, *arguments, *(word for part in given for word in part)]


def spoil(words, rng):
    """One word is another one, or none, or there is one more."""
    at, how = rng.randrange(len(words)), rng.randrange(6)
    if how == 0:
        del words[at]
    elif how == 1:
        words.insert(at, rng.choice(ODD))
    elif how == 2:
        words[at] = words[at].upper()
    elif how == 3 and at + 1 < len(words):
        words[at : at + 2] = ["=".join(words[at : at + 2])]
    elif how == 4:
        words[at] = grammar.spoiled(words[at], rng)
    else:
        words[at] = rng.choice(ODD)


def made(seed):
    rng = random.Random(f"words {seed}")
    words = words_of(rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        if words:
            spoil(words, rng)
    if "app" in words:  # it would not end
        words = ["app", "--help", *words[1:]]
    number = rng.randrange(10**6)
    files = {
        "odd.table": logs.made(number)["content"] if "odd.table" in words else "",
        "my.toml": studies.made(number)["text"] if "my.toml" in words else "",
        "result.json": results.made(number)["text"] if "result.json" in words else "",
    }
    return {"words": words, "files": {name: text for name, text in files.items() if text}}


def lay(given, folder):
    """A folder with the files of a command, and nothing else."""
    place = folder / "here"
    place.mkdir()
    files = {"log.csv": LOG, "days.csv": DAYS, **given["files"]}
    for name, text in files.items():
        coding = "latin-1" if name == "odd.table" else "utf-8"
        (place / name).write_bytes(text.encode(coding, "surrogatepass" if coding == "utf-8" else "strict"))
    return place


def tried(given, folder):
    place = lay(given, folder)
    try:
        with redirect_stderr(io.StringIO()):
            return need_sound(given, commands.run(*given["words"], cwd=place), place)
    finally:
        remove(place)


def remove(place):
    """The folder, of which nothing is needed any more."""
    shutil.rmtree(place)


def need_sound(given, done, place):
    """What a command printed, its exit code, and the files that it wrote."""
    words, code = given["words"], done.returncode
    need(code in (0, 1, 2, 130), f"exit code {code}: {done.stderr[-500:]}")
    for text in (done.stdout, done.stderr):
        need_printable(text)
        need("Traceback" not in text, f"a traceback: {text[-500:]}")
        need(not NUMPY.search(text), f"a warning of numpy: {text[:300]}")
    need(not (wrong := wrong_text(done.stderr, 20_000)), wrong)
    need(code == 0 or done.stderr or done.stdout, "it failed in silence")
    if code == 0 and words[-2:] == ["--format", "json"]:
        json.loads(done.stdout, parse_constant=_none)
    if (written := place / "out.json").is_file():
        need_json(json.loads(written.read_text(encoding="utf-8"), parse_constant=_none))
    if words[:2] in (["debias", "log.csv"], ["check", "log.csv"], ["describe", "log.csv"], ["compare", "log.csv"]):
        need((place / "log.csv").read_text() == LOG, "the log was replaced")
    return code in (0, 1)


def _none(name):
    need(False, f"{name} in JSON")
