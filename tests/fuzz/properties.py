"""What must be true of every answer to any input."""

import json
import math
import re
import resource
import warnings

import debandit as db
from debandit.errors import CacheWarning, LogWarning, PresetWarning

LONGEST_MESSAGE, LONGEST_SECONDS, MOST_MEMORY = 6000, 10, 1_000_000_000
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")  # not \n
OURS = (CacheWarning, LogWarning, PresetWarning)


class TroubleError(Exception):
    """What must not happen."""


def judged(generator, given, folder):
    """What became of an input: accepted, refused, or trouble; and which trouble."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of numpy, say
            for ours in OURS:
                warnings.simplefilter("ignore", ours)
            outcome, what = "accepted" if generator.tried(given, folder) else "refused", ""
    except db.DebanditError as error:
        outcome, what = "refused", wrong_text(str(error)) or ""
    except TroubleError as error:
        outcome, what = "trouble", str(error)
    except Exception as error:
        outcome, what = "trouble", f"{type(error).__name__}: {str(error)[:300]}"
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime  # of all threads
    grown = (after.ru_maxrss - before.ru_maxrss) * 1024
    if seconds > LONGEST_SECONDS:
        what = f"it took {seconds:.0f} seconds"
    if grown > MOST_MEMORY:
        what = f"it took {grown:,} bytes"
    return ("trouble", what) if what else (outcome, "")


def need(holds, what):
    """That must be so."""
    if not holds:
        raise TroubleError(what)


def wrong_text(text, longest=LONGEST_MESSAGE):
    """What is wrong with a text that is printed, if anything."""
    if found := OBEYED.search(text):
        return f"a text that cannot be printed: {text[max(0, found.start() - 200) : found.end() + 100]!r}"
    return f"a text of {len(text):,} characters: {text[:300]}" if len(text) > longest else None


def need_printable(text, longest=10**6):
    """A text for people."""
    need(not (wrong := wrong_text(text, longest)), wrong)


def need_json(document):
    """A document that is JSON, in which no number is NaN or infinite; it comes back as it is read again."""
    text = json.dumps(document, allow_nan=False)
    text.encode("ascii")
    return json.loads(text)


def need_same(one, other, what, near=0.0):
    """Two documents with the same keys and values; numbers may differ by this share."""
    if wrong := next(unlike(one, other, near), None):
        raise TroubleError(f"{what}: {wrong}")


def unlike(one, other, near=0.0, place=""):
    """Where two documents differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from unlike(one[key], other[key], near, f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from unlike(*pair, near, f"{place}.{i}")
    elif type(one) is not type(other) or not (
        math.isclose(one, other, rel_tol=near, abs_tol=near) if isinstance(one, float) else one == other
    ):
        yield f"{place}: {str(one)[:100]!r} and {str(other)[:100]!r}"
