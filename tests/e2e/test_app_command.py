"""`debandit app` as a process: its address, its end, and what it needs."""

import contextlib
import os
import signal
import socket
import sys
import time
import urllib.request

import pytest
from commands import fails
from faults.serving import served, workers_of

from debandit.app import PORT


@pytest.fixture
def start(tmp_path):
    """Starts the command; gives the process and its address."""
    with contextlib.ExitStack() as stack:
        yield lambda *options: stack.enter_context(served(tmp_path, *options))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def page_at(address):
    end = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(address, timeout=120) as answer:
                return answer.read().decode()
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.1)


def worker_of(process):
    """The number of the process that works for this one."""
    found = workers_of(process)
    return found[0] if found else worker_of(process)


def is_soon_gone(number):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        (signal.SIGINT, 0, "debandit has ended, and nothing was kept\n"),
        (signal.SIGTERM, -signal.SIGTERM, ""),
        (signal.SIGHUP, -signal.SIGTERM, ""),  # the terminal was closed
    ],
)
def test_however_it_is_ended_nothing_is_left(start, tmp_path, how, code, said):
    process, address = start("--port", str(free_port()))
    assert "What are the arms of your experiment worth?" in page_at(address)
    worker = worker_of(process)
    assert len(list(tmp_path.glob("debandit-app-*"))) == 1
    process.send_signal(how)
    assert process.communicate(timeout=120)[0] == said
    assert process.returncode == code
    assert is_soon_gone(worker)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("worker_too", [False, True])
def test_what_a_killed_one_left_goes_with_its_worker_or_with_the_next(start, tmp_path, worker_too):
    process, address = start("--port", str(free_port()))
    page_at(address)
    worker = worker_of(process)
    if worker_too:
        os.kill(worker, signal.SIGKILL)
    process.kill()
    process.wait()  # and its children are buried by nobody else
    assert is_soon_gone(worker)
    assert len(list(tmp_path.glob("debandit-app-*"))) == worker_too
    if worker_too:
        page_at(start("--port", str(free_port()))[1])
        assert len(list(tmp_path.glob("debandit-app-*"))) == 1


def test_only_this_machine_can_reach_it(start):
    """All of 127.* leads here, but nobody listens there; the control is a socket that hears everything."""
    with socket.socket() as everywhere:
        everywhere.bind(("", 0))
        everywhere.listen()
        socket.create_connection(("127.0.0.2", everywhere.getsockname()[1])).close()
    _, address = start("--port", str(free_port()))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", int(address.rpartition(":")[2])))


def test_ports(start):
    """The usual port or another one; a port that is asked for and taken is refused."""
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", PORT))
        except OSError:
            pass  # somebody else has it, which is as good
        else:
            taken.listen()
        port = start()[1].rpartition(":")[2]
        assert int(port) != PORT
        error = fails(2, "app", "--no-browser", "--port", port)
    assert f"--port: the port {port} cannot be used (Address already in use)" in error
    assert "leave --port out" in error


@pytest.mark.parametrize("package", ["uvicorn", "starlette", "python_multipart"])
def test_missing_packages(monkeypatch, package):
    for name in [each for each in sys.modules if each.partition(".")[0] == package or "debandit.app.s" in each]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    error = fails(2, "app", "--no-browser")
    assert f"packages that are not installed ({package}" in error
    assert "pip install 'debandit[app]'" in error
