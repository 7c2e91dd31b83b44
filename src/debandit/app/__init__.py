"""The page for people who do not type commands: `debandit app`.

`server` has the addresses, `pages` and `templates/` what they show, `forms` and `wording` the fields and their words;
`jobs` hands work to `worker` processes, which do the `tasks`; `sessions` keeps what was asked for until it ends, and
`guard` stands between the browser and all of it.
"""

import contextlib
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable

from debandit.errors import InputError

PORT = 8117
MOST_MEGABYTES = 512  # of a file
REPORT, BODY, RESULT = "report.html", "body.html", "result.json"  # what a correction leaves in its folder


def serve(port: int | None, most_bytes: int, say: Callable[[str], None], *, open_browser: bool) -> None:
    """Show the page on this machine until Ctrl-C; without a port it is the usual one, or any other that is free."""
    try:
        import python_multipart  # noqa: F401
        import uvicorn

        from debandit.app.server import App
    except ImportError as error:
        what = f"the page needs packages that are not installed ({error.name})"
        raise InputError(what, remedy="Install them with: pip install 'debandit[app]'") from None
    with _listening(port) as listener:
        number: int = listener.getsockname()[1]
        address = f"http://127.0.0.1:{number}"
        config = uvicorn.Config(
            App(number, most_bytes).guarded(),
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=100,
            timeout_graceful_shutdown=3,
        )
        say(f"debandit is at {address} (Ctrl-C ends it)")
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        _end_with_the_terminal()
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    say("debandit has ended, and nothing was kept")


def _end_with_the_terminal() -> None:
    """A terminal that is closed ends it as well; whoever asked otherwise, with nohup, is heard."""
    if os.name == "posix" and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def _listening(port: int | None) -> socket.socket:
    """A socket that only this machine can reach."""
    for number in (PORT, 0) if port is None else (port,):
        listener = socket.socket()
        if os.name == "posix":  # elsewhere it means that others may take the port away
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", number))
            listener.listen()
        except OSError as error:
            listener.close()
            reason = error.strerror
            continue
        return listener
    remedy = "Name another one, or leave --port out."
    raise InputError(f"the port {port} cannot be used ({reason})", where="--port", remedy=remedy)
