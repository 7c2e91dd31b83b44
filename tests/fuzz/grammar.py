"""Texts of rules and worlds: as the catalogue allows them, and spoiled."""

import dataclasses

from debandit import worlds
from debandit.checks import checked_choice, checked_number, checked_whole
from debandit.policies import ALIASES, OTHER_NAMES, RULES, WRAPPERS, presets

LISTS = {  # options that have no declared limits
    "size": ("5", "10", "[5, 10]", "(7, 7, 7)", "None"),
    "weights": ("[0.5, 0.5]", "[0.5, 0.2, 0.3]", "[1, 3]"),
    "shares": ("[0.1, 0.2]", "[0.05, 0.05, 0.1]", "None"),
    "power": ("1", "0.5", "None"),
    "decay": ("0.5", "1", "None"),
    "probability": ("0.1", "0.05", "0.9"),
    "share": ("0.9", "0.95"),
    "window": ("0", "10"),
    "most": ("30", "100"),
}
EITHER = {  # options of which a wrapper takes one, mostly
    "commit_when": ("share", "probability", "value_remaining", "failures"),
    "stop_when": ("share", "probability", "value_remaining", "failures", "most"),
    "floor": ("probability", "shares", "decay"),
    "delayed": ("rounds", "batches"),
    "warm_up": ("rounds", "pulls"),
}
ODD = (
    *("{[]: 1}", "{[1]}", "[[]]", "()", "{}", "None", "True", "...", "1j", "b'x'", "nan", "inf", "-1", "-0.0", "1e400"),
    *("9223372036854775808", "-9223372036854775809", "1e308", "5e-324", "[1e308, 1e308]", "'\\ud800'", "'\\x00'"),
    *("ucb(c=1)", "[[0.5, 0.5], [1]]", "[1]", "[[[1]]]", "'first'", "x.y", "x", "lambda: 1", "__import__('os')", "**x"),
    *("*x", "f'{1}'", "0x" + 5000 * "f", 5000 * "9", "1_000", "٣", "ärm", "\u202e", "\x1b[31m", "\0", "1 if 1 else 2"),
    *("[x for x in (1,)]", "-" * 300 + "1", "(" * 300 + ")" * 300, "'" + 3000 * "x" + "'", "[" + 2000 * "1," + "]"),
    *("{**{}}", "1 < 2", "not 1", "ucb", "uniform", "100000000", "100000001", "1e70", "1e71", "2**8", "'\\N{BELL}'"),
)
MARKS = (
    *"()[]{},='\":;.#\\ \n\t\r\0",
    "==",
    "**",
    "//",
    "\u2028",
    "\ud800",
    "\ufeff",
    "é",
    "＝",
    "preset:",
    "{x}",
    "a.py",
)


def option(field, rng):
    """A value of a rule's option within its limits, mostly small, as text."""
    check, limits = field.metadata.get("check"), field.metadata.get("limits", ())
    if check is checked_choice:
        return rng.choice(limits[0])
    if check is checked_whole:
        return str(min(max(rng.choice([0, 1, 2, 3, 10]), limits[0]), limits[1]))
    if check is checked_number and field.name not in LISTS:
        return repr(min(max(rng.choice([0, 1, 2, 0.1, 0.5, round(rng.random(), 3)]), limits[0]), limits[1]))
    return rng.choice(LISTS.get(field.name, ("0.1", "1", "[1, 2]")))


def call(name, first, options, rng):
    """`name(first, key=value)`; a lone name has no brackets, mostly."""
    given = [*first, *(f"{key}={value}" for key, value in options)]
    return name if not given and rng.random() < 0.8 else f"{name}({', '.join(given)})"


def some_options(rule, rng):
    """Some options of a rule or a wrapper."""
    fields = [each for each in dataclasses.fields(rule) if each.name != "policy" and each.init]
    needed = [each for each in fields if each.default is dataclasses.MISSING]
    either = EITHER.get(rule.name, ()) if rng.random() < 0.95 else ()
    one = rng.choice(either) if either else ""
    chosen = [
        each
        for each in fields
        if each in needed or each.name == one or (rng.random() < 0.3 and each.name not in either)
    ]
    return [(each.name, option(each, rng)) for each in chosen]


def rule(rng, depth=3):
    """The text of a rule, which is mostly one."""
    if rng.random() < 0.07:
        name, preset = rng.choice(list(presets.presets().items()))
        return "preset:" + call(name, (), [(o, rng.choice(LISTS.get(o, ("0.9", "10")))) for o in preset.options], rng)
    known = RULES | OTHER_NAMES
    name = rng.choice([*known, *ALIASES])
    text = call(name, (), some_options(known[name], rng) if name in known else [], rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2, depth])):
        wrapper = rng.choice([*WRAPPERS, "batched", "batched"])
        text = call(wrapper, [text], some_options(WRAPPERS[wrapper], rng), rng)
    return text


def numbers(rng, count, low=0.0, high=1.0):
    """A list of them, as text."""
    return f"[{', '.join(str(round(rng.uniform(low, high), 2)) for _ in range(count))}]"


def world(rng, arms=None, binary=None):
    """The text of a world with so many arms, whose rewards are 0/1 or not."""
    arms = arms or rng.choice([2, 2, 3, 4])
    samples = f"[{', '.join(numbers(rng, rng.randrange(1, 5)) for _ in range(arms))}]"
    kinds = {
        "bernoulli": f"bernoulli(means={numbers(rng, arms)})",
        "normal": f"normal(means={numbers(rng, arms, -1, 2)}, sds={numbers(rng, arms)})",
        "uniform": f"uniform(means={numbers(rng, arms)}, half_widths={numbers(rng, arms)})",
        "empirical": f"empirical(samples={samples})",
        "smoothed": f"smoothed(samples={samples}, sds={numbers(rng, arms)})",
        "multiplier": f"multiplier(samples={samples}, weights={rng.choice(['gaussian', 'rademacher'])})",
    }
    binary = rng.random() < 0.4 if binary is None else binary
    text = kinds["bernoulli"] if binary else rng.choice(list(kinds.values()))
    if rng.random() < 0.15:
        return f"drifting({text}, effects={numbers(rng, rng.randrange(1, 4), -1, 1)}, size={rng.choice([5, 10])})"
    return text


def fitted(rng):
    """The text of a bootstrap world."""
    options = {"smoothed": ("", "(sd=0.5)", "(sd=0)"), "multiplier": ("", "(weights=rademacher)")}
    name = rng.choice(list(worlds.FITTED))
    return name + rng.choice(options.get(name, ("",)))


def spoiled(text, rng):
    """The text with something wrong in it, or two things."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = rng.choice(SPOILERS)(text, rng)
    return text


def odd_value(text, rng):
    places = [at for at, mark in enumerate(text) if mark in "=,(["]
    if not places:
        return f"{text}({rng.choice(ODD)})"
    at = rng.choice(places) + 1
    end = min((end for mark in ",)]" if (end := text.find(mark, at)) >= 0), default=len(text))
    return text[:at] + rng.choice(ODD) + text[end:]


def mark(text, rng):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice([*MARKS, chr(rng.randrange(0x3000))]) + text[at + rng.randrange(2) :]


def cut(text, rng):
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice([1, 3, 10, 10**6]) :]


def twice(text, rng):
    at, length = rng.randrange(len(text) + 1), rng.choice([1, 5, 20])
    return text[: at + length] + text[at:]


def nested(text, rng):
    times, around = rng.choice([1, 2, 5, 40, 40, 120, 500]), rng.choice([*WRAPPERS, "drifting", "batched", "", "["])
    return f"{around}(" * times + text + ")" * (times - rng.choice([0, 0, 0, 1]))


def renamed(text, rng):
    name = text.partition("(")[0]
    other = [name.upper(), name[:-1], name + "s", name.title(), name[::-1], "", "__class__", rng.choice([*RULES])]
    return text.replace(name, rng.choice(other), 1)


def longer(text, rng):
    return rng.choice([text * 50, text + " " * 5000, 20_000 * "x" + text, text.replace(")", ", 1" * 2000 + ")", 1)])


SPOILERS = (odd_value, odd_value, odd_value, odd_value, mark, mark, cut, twice, nested, renamed, renamed)
SPOILERS += SPOILERS + SPOILERS + (longer,)
