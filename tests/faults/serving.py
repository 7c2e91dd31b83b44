"""`debandit app` as a process, a browser that sends what one of people would, and what is done to both."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from faults import Setting, Tries, complaint, disks, fault, outputs

REQUESTS = 1000
MOST_GROWTH = 8.0  # MB of the server's memory, which Python's own caches take in part
PATIENCE = 10.0  # seconds for what is closed by and by
TOKEN = re.compile(r'name="token" value="(\w+)"')
POLICY = {"by": "text", "text": "uniform"}


@contextlib.contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """The command, which keeps its files in this folder, and its address."""
    command = [sys.executable, "-m", "debandit", "app", "--no-browser", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(folder)}, **pipes)
    try:
        line = process.stdout.readline()
        assert line.startswith("debandit is at http://127.0.0.1:"), line
        yield process, line.split()[3]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def workers_of(process: subprocess.Popen) -> list[int]:
    """The numbers of the processes that work for this one."""
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
    return [int(number) for number in found.stdout.split()]


class Answer(NamedTuple):
    status: int
    place: str
    text: str


class Browser:
    """As much of one as the page needs: a cookie, forms, files, and redirections."""

    def __init__(self, address: str) -> None:
        self._host, self._cookie, self.requests = address.partition("//")[2], "", 0
        self._token = TOKEN.search(self.get("/").text)[1]

    def get(self, place: str, **headers: str) -> Answer:
        return self._ask("GET", place, b"", headers)

    def post(self, place: str, **typed: str) -> Answer:
        body = urlencode({"token": self._token, **typed}).encode()
        return self._ask("POST", place, body, {"Content-Type": "application/x-www-form-urlencoded"})

    def send(self, content: str) -> Answer:
        """Send a file."""
        part = "--x\r\nContent-Disposition: form-data; name="
        body = f'{part}"token"\r\n\r\n{self._token}\r\n{part}"file"; filename="log.csv"\r\n\r\n{content}\r\n--x--\r\n'
        return self._ask("POST", "/logs", body.encode(), {"Content-Type": "multipart/form-data; boundary=x"})

    def patiently(self, answer: Answer) -> Answer:
        """What comes when nobody has to wait any more."""
        end = time.monotonic() + 300
        while "data-progress" in answer.text and time.monotonic() < end:
            answer = self.get(answer.place)
        return answer

    def _ask(self, method: str, place: str, body: bytes, headers: dict[str, str]) -> Answer:
        connection = http.client.HTTPConnection(self._host, timeout=300)
        self.requests += 1
        try:
            connection.request(method, place, body, {"Cookie": self._cookie, **headers})
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        finally:
            connection.close()
        self._cookie = answer.headers.get("Set-Cookie", self._cookie).partition(";")[0]
        if answer.status == 303:
            return self.get(answer.headers["Location"])
        return Answer(answer.status, place, text)

    def logged(self) -> str:
        """The place of a log that was sent and read, with its rule checked."""
        place = self.patiently(self.send(outputs.ROWS)).place.removesuffix("/columns")
        self.patiently(self.post(f"{place}/rule", **POLICY))
        return place

    def corrected(self, place: str, runs: int) -> Answer:
        return self.post(f"{place}/options", runs=str(runs), seed="1", control_variates="on")


@fault("`kill -9` of the process that works for `debandit app`", "the page says so; the next try gives the same result")
def killed_app_workers(setting: Setting) -> Tries:
    with served(setting.folder) as (process, address):
        browser = Browser(address)
        place = browser.logged()
        browser.patiently(browser.corrected(place, 300))
        wanted = json.loads(browser.get(f"{place}/result.json").text)
        for _ in range(setting.times):
            waiting = browser.corrected(place, 10**8)
            time.sleep(setting.chance.uniform(0, 1))
            for worker in workers_of(process):
                os.kill(worker, signal.SIGKILL)
            told = browser.patiently(waiting)
            browser.patiently(browser.corrected(place, 300))
            result = browser.get(f"{place}/result.json")
            yield complaint(
                it_is_said="the process that did the work has ended" in told.text,
                same_result=result.status == 200 and json.loads(result.text) == wanted,
            )


@fault("a full disk under `debandit app`", "the page says so, and goes on when there is room")
def full_app(setting: Setting) -> Tries:
    with disks.small_disk(setting.folder / "disk") as disk, served(disk) as (_, address):
        browser = Browser(address)
        for _ in range(setting.seldom if disks.may_mount() else 0):
            disks.with_room(disk, 0)
            refused = browser.send(outputs.ROWS)
            disks.make_room(disk)
            yield complaint(
                it_is_said=refused.status == 507 and "Is the disk full?" in refused.text,
                it_goes_on=browser.get(f"{browser.logged()}/check").status == 200,
            )


def _used(process: subprocess.Popen) -> tuple[float, int]:
    """Memory in MB, and how many files are open."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024, len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


def _visit(browser: Browser, *, correct: bool) -> None:
    """What one does on the page, and what one should not."""
    place = browser.patiently(browser.send(outputs.ROWS)).place.removesuffix("/columns")
    for path in ("/", "/static/app.css", "/nothing", f"{place}/columns", f"{place}/rule?by=list&rule=ucb"):
        browser.get(path)
    browser.get("/", Host="evil.example")
    browser.post(f"{place}/columns", arm="nothing")
    browser.post(f"{place}/columns", arm="arm", reward="reward", then="rule")
    if correct:
        browser.patiently(browser.post(f"{place}/rule", **POLICY))
        browser.patiently(browser.corrected(place, 50))
        browser.get(f"{place}/report.html")
    browser.post(f"{place}/forget")


@fault(f"{REQUESTS:,} requests to `debandit app`", "neither memory nor open files grow, and nothing is kept")
def soaked(setting: Setting) -> Tries:
    with served(setting.folder) as (process, address):
        browser = Browser(address)
        for _ in range(3):
            _visit(browser, correct=True)
        first, browser.requests, visits = _used(process), 0, 0
        while browser.requests < REQUESTS:
            _visit(browser, correct=not visits % 10)
            visits += 1
        growth, files = (after - before for after, before in zip(_used(process), first, strict=True))
        patience = time.monotonic() + PATIENCE
        while (
            files > 0 and time.monotonic() < patience
        ):  # the last connection, or a worker's pipe, may be about to close
            time.sleep(0.1)
            files = _used(process)[1] - first[1]
        (folder,) = setting.folder.glob("debandit-app-*")
        setting.notes.append(f"of {first[0]:.0f} MB: {growth:+.1f} MB; of {first[1]} open files: {files:+}")
        yield complaint(
            memory_stays=growth <= MOST_GROWTH,
            files_are_closed=files <= 0,
            nothing_is_kept=[path.name for path in folder.iterdir()] == ["lock"],
            workers_are_few=len(workers_of(process)) <= 3,
        )
