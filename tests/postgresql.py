"""A PostgreSQL server of the tests' own: its files, its port and its password, and nothing is left of it."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

USER, PASSWORD = "tester", "s/cr@t:%7 w?rd"
DEBIAN = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
PLACES = os.pathsep.join([*DEBIAN, os.environ.get("PATH", "")])


class NoServerError(Exception):
    """Why there is no server."""


@contextlib.contextmanager
def server():
    """Start one and give its port; the server refuses to run as root."""
    initdb, pg_ctl = (shutil.which(name, path=PLACES) for name in ("initdb", "pg_ctl"))
    if not (initdb and pg_ctl):
        raise NoServerError("there is no initdb in /usr/lib/postgresql/*/bin or on the PATH")
    someone = _unprivileged() if os.getuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    data, secret, port = folder / "data", folder / "password", _free_port()

    def run(program, *options):
        command = [program, "-D", data, *options]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, **someone)
        if done.returncode:
            raise NoServerError(f"{Path(program).name} says: {done.stdout[-300:]} {done.stderr[-300:]}")

    try:
        secret.write_text(PASSWORD)
        if someone:
            for path in (folder, secret):
                os.chown(path, someone["user"], someone["group"])
        run(initdb, "-U", USER, f"--pwfile={secret}", "-A", "scram-sha-256", "-E", "UTF8", "-N", "--locale=C")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        run(pg_ctl, "-l", folder / "messages", "-o", options, "-w", "start")
        try:
            yield port
        finally:
            run(pg_ctl, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged():
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    raise NoServerError("there is no user postgres or nobody to run it as")


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
