"""A process that works for the page: `python -m debandit.app.worker`, one task after the other.

A task is a line of JSON on standard input; on standard output come lines that say how far it is, and one with the
answer. A process can be ended at any moment, whatever it is doing, and takes what it used with it.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import IO, Any

from debandit.app.sessions import remove_left_over
from debandit.app.wording import described
from debandit.errors import DebanditError

Say = Callable[[dict[str, Any]], None]
_SECONDS_BETWEEN = 0.1  # two words on how far it is
_SECONDS_UNTIL_IT_IS_GONE = 0.5  # a process that is being killed, with its locks


class Progress:
    """How far a task is, for whoever waits for it."""

    def __init__(self, say: Say) -> None:
        self._say, self._before, self._done, self._total, self._last = say, 0, 0, 0, 0.0

    def stage(self, name: str) -> None:
        """What is done now."""
        self._before = self._done = self._total = 0
        self._say({"stage": name, "done": 0, "total": 0})

    def runs(self, done: int, total: int) -> None:
        """This many of that many runs are done; of a later round of runs they come on top."""
        if done < self._done:
            self._before += self._total
        self._done, self._total = done, total
        now = time.monotonic()
        if now - self._last > _SECONDS_BETWEEN or done == total:
            self._last = now
            self._say({"done": self._before + done, "total": self._before + total})


def answer(request: dict[str, Any], say: Say) -> dict[str, Any]:
    """What becomes of a task: its answer, or what is wrong."""
    from debandit.app import tasks
    from debandit.engine.spread import watched

    progress = Progress(say)
    try:
        with watched(progress.runs):
            return {"answer": tasks.ALL[request["task"]](request, progress)}
    except DebanditError as error:
        found = error
    except MemoryError:
        found = DebanditError("not enough memory", remedy="Ask for fewer arms, rounds or runs.")
    except OSError as error:
        found = DebanditError(f"the work could not be done ({error.strerror})", remedy="Is the disk full?")
    except Exception as error:  # a mistake of ours: the page says so, and the terminal shows where
        traceback.print_exc()
        what = f"debandit made a mistake ({type(error).__name__}: {error})"
        found = DebanditError(what, remedy="The terminal has the details. Please report it.")
    return {"error": described(found, request["path"] or "", request["name"])}


def main() -> None:
    """Work until nobody is there to ask for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed is not an answer
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, tasks), daemon=True).start()
    from debandit.app.tasks import prepare

    prepare()
    while True:
        request = json.loads(tasks.get())

        def say(message: dict[str, Any]) -> None:
            print(json.dumps(message), file=out, flush=True)

        say(answer(request, say))


def _listen(given: IO[str], tasks: "queue.SimpleQueue[str]") -> None:
    """Hear of tasks; when nobody can ask for any more, a task that is being done is of no use, either.

    That is so if the server was killed, and could not remove what it kept.
    """
    for line in given:
        tasks.put(line)
    time.sleep(_SECONDS_UNTIL_IT_IS_GONE)
    remove_left_over()
    os._exit(0)


if __name__ == "__main__":
    main()
