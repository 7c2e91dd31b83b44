"""The command lines of `words`, each as a command of its own with little memory."""

import resource
import subprocess
import sys

from fuzz import words

MEMORY, SECONDS = 3_000_000_000, 120
LONGEST = 40_000  # characters of a word, of up to three bytes each: the system takes 128 KB


def made(seed):
    """The command lines, without what no command can be given."""
    given = words.made(10**9 + seed)
    plain = [word.replace("\0", "").encode("utf-8", "replace").decode()[:LONGEST] for word in given["words"]]
    return given | {"words": plain}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def tried(given, folder):
    place = words.lay(given, folder)
    command = [sys.executable, "-m", "debandit", *given["words"]]
    try:
        done = subprocess.run(command, capture_output=True, cwd=place, timeout=SECONDS, preexec_fn=limited)
        done.stdout, done.stderr = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        return words.need_sound(given, done, place)
    finally:
        words.remove(place)
