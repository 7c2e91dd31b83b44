"""The page: files that are sent, forms that are filled in, and addresses that lead nowhere."""

import atexit
import functools
import random
import re
import time

from debandit.app import forms
from debandit.policies import RULES, WRAPPERS
from debandit.policies.presets import presets
from fuzz import grammar, logs
from fuzz.properties import need, need_printable

PORT = 8119
FINE = {200, 400, 403, 404, 405, 413}
MISTAKES = ("debandit made a mistake", "could not be done", "the process that did the work", "Traceback")
PATIENCE = 20  # seconds
TASK = re.compile(r'name="task" value="(\w+)"')
TOKEN = re.compile(r'name="token" value="(\w+)"')
ODD = (
    *("", "x", "0", "-1", "1e999", "nan", "9" * 5000, "<b id=evil>", '"><b id=evil>', "\0"),
    *("\x1b[31m", "\u202e", "{[]: 1}", "(" * 3000, "a\nb\r,", '"', "1j", "[1, [2]]", "on", "auto"),
    *("../x", "x" * 20_000, "é", "{{ 7 * 7 }}", "none"),
)
TABLE = "arm,reward,day\n" + "".join(f"{'AB'[i % 3 == 0]},{i * 7 % 5},{i // 10}\n" for i in range(40))
DAYS = "day,variant,users,conversions\n1,old,50,2\n1,new,50,5\n2,old,6,0\n2,new,94,9\n"
OPTIONS = {
    "level": ["0.9", "0.99"],
    "seed": ["1", "7"],
    "interval": ["auto", "wald", "simulated"],
    "control": ["A", "old"],
    "world": ["auto", "gaussian", "efron"],
    "adjust": ["auto", "batches"],
    "unseen": ["0.5, 1"],
    "force": ["on"],
    "method": ["bootstrap", "rao-blackwell"],
    "control_variates": ["on"],
}
PLACES = (
    *("columns", "rule", "options", "report", "report.html", "result.json", "progress?task=look"),
    *("check", "identified", "rule?by=platform&rule=braze", "rule?by=text&wrong=1"),
    *("rule?by=x&rule=../x", "progress?task=x", "..%2f..", "x"),
)


@functools.cache
def client():
    """The page, which ends with this process."""
    from starlette.testclient import TestClient

    from debandit.app.server import App

    browser = TestClient(App(PORT, 300_000).guarded(), base_url=f"http://127.0.0.1:{PORT}")
    atexit.register(browser.__exit__)
    return browser.__enter__()


def columns(rng):
    names = ["arm", "batch", *forms.ROUNDS, *forms.COUNTS, "missing", "available", "batch_by", "arms", "metrics"]
    known = {"missing": ["refuse", "drop"], "available": ["auto", "all"], "arms": ["A,B", "old, new, third"]}
    cells = ["arm", "reward", "day", "variant", "users", "conversions"]
    typed = {name: rng.choice(known.get(name, cells)) for name in rng.sample(names, rng.choice([0, 0, 0, 1, 2]))}
    return typed | {"then": rng.choice(["rule", "rule", "columns"])}


def rule(rng):
    by = rng.choice(["list", "list", "text", "text", "platform", "these"])
    if by in ("text", "these"):
        sound = rng.choice(
            ["uniform", "batched(uniform)", "batched(beta_thompson)", "epsilon_greedy(0.5)", grammar.rule(rng)]
        )
        return {"by": by, "text": sound if rng.random() < 0.8 else grammar.spoiled(sound, rng)}
    known, around = (presets(), []) if by == "platform" else (RULES, rng.sample([*WRAPPERS], rng.choice([0, 1, 1, 2])))
    name = rng.choice([*known])
    typed = {"by": by, "rule": name, **{f"w-{each}": "on" for each in around}}
    if by == "list":
        typed |= {f"o-{key}": value for key, value in grammar.some_options(RULES[name], rng)}
        for each in around:
            typed |= {f"w-{each}-{key}": value for key, value in grammar.some_options(WRAPPERS[each], rng)}
    return typed


def options(rng):
    chosen = rng.sample(list(OPTIONS), rng.choice([0, 1, 2, 3]))
    return {name: rng.choice(OPTIONS[name]) for name in chosen} | {"runs": rng.choice(["20", "50"])}


STEPS = {"columns": columns, "rule": rule, "options": options}


def made(seed):
    rng = random.Random(f"forms {seed}")
    content = (
        rng.choice([TABLE, DAYS, DAYS]).encode()
        if rng.random() < 0.8
        else logs.made(rng.randrange(10**6))["content"].encode("latin-1")
    )
    name = rng.choice(["log.csv", "log.csv", "<b id=evil>.csv", "..\\..\\x", "\x1b.csv", "x" * 300, "-x.csv", "ä"])
    steps = []
    for place in rng.choice(
        [["columns", "rule", "options"]] * 3 + [["rule", "rule", "options", "options"], ["options"]]
    ):
        typed = STEPS[place](rng)
        if rng.random() < 0.25:
            typed[rng.choice([*typed, "by", "rule", "level", "arms", "token", "w-floor", "x"])] = rng.choice(ODD)
        # a browser cannot send half a letter
        steps.append([place, {name: str(text).encode("utf-8", "replace").decode() for name, text in typed.items()}])
    return {"name": name, "content": content.decode("latin-1"), "steps": steps, "seen": rng.sample(PLACES, 2)}


def tried(given, folder):
    browser = client()
    token = TOKEN.search(browser.get("/").text)[1]
    answer = browser.post(
        "/logs", data={"token": token}, files={"file": (given["name"], given["content"].encode("latin-1"))}
    )
    need_page(answer)
    if answer.status_code != 200:
        return False
    place = str(answer.url).removesuffix("/columns")
    for step, typed in given["steps"]:
        answer = browser.post(f"{place}/{step}", data={"token": token, **typed})
        end = time.monotonic() + PATIENCE
        while (waiting := TASK.search(answer.text)) and time.monotonic() < end:
            answer = browser.get(str(answer.url))
        if waiting:  # it is work for a while, as one can read there
            answer = browser.post(f"{place}/cancel", data={"token": token, "task": waiting[1]})
        need_page(answer)
    for address in given["seen"]:
        need_page(browser.get(f"{place}/{address}"))
    browser.post(f"{place}/forget", data={"token": token})
    return answer.url.path.endswith("/report")


def need_page(answer):
    """A page as it should be, in which what was sent is text."""
    need(answer.status_code in FINE, f"status {answer.status_code}: {answer.text[:300]}")
    if answer.headers["content-type"].startswith("text/html"):
        need_printable(answer.text.replace("\r", "").replace("\t", ""), 3_000_000)
        need("<b id=evil>" not in answer.text, "what was sent is markup")
        found = next((mistake for mistake in MISTAKES if mistake in answer.text), None)
        at = answer.text.find(found) if found else 0
        need(not found, f"a mistake of the page: {answer.text[max(0, at - 300) : at + 300]}")
