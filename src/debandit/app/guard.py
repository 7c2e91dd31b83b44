"""What stands between the browser and the pages: only this machine, only our own forms, so many bytes, and so long.

Every page of the internet can make a browser send requests to 127.0.0.1. So requests must name this server as their
host (or a page whose name leads here could read along), what changes something must come from one of our own pages,
and has the token of its session.
"""

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost")
FORM_BYTES = 200_000  # of a form without a file
FORM_SECONDS, UPLOAD_SECONDS = 60.0, 600.0  # until all of it has come
DRAINED = 2**32  # bytes: a browser shows an answer only when it has sent everything
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class TooLargeError(Exception):
    """More was sent than is read."""


class Guard:
    """The application behind it sees only requests that may be answered; all answers have the headers above."""

    def __init__(self, app: ASGIApp, *, port: int, upload: str, most: int) -> None:
        self.app, self.upload, self.most = app, upload, most
        self.hosts = {f"{host}:{port}" for host in HOSTS} | (set(HOSTS) if port == 80 else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refused = self._refusal(scope["method"], Headers(scope=scope))
        limits = (self.most, UPLOAD_SECONDS) if scope["path"] == self.upload else (FORM_BYTES, FORM_SECONDS)
        body = _Bounded(receive, *limits)
        answer: ASGIApp = self.app if refused is None else PlainTextResponse(refused, 403)
        await answer(scope, body.receive, _with_headers(send))

    def _refusal(self, method: str, headers: Headers) -> str | None:
        """Why the request is refused, if it is."""
        host = headers.get("host", "").lower()
        if host not in self.hosts or len(headers.getlist("host")) > 1:
            return "This server answers only to its own address on this machine."
        if method not in ("GET", "HEAD", "POST"):
            return "Nothing but GET and POST is known here."
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        ours = site in (None, "same-origin", "none")
        if method == "POST":
            ours = site in (None, "same-origin") and origin in (None, f"http://{host}")
        elif headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document":
            ours = True  # a link may lead here from anywhere; the cookie does not come with it
        return None if ours else "Another site may not send requests to this one."


class _Bounded:
    """The body of a request, if it is no longer than allowed and comes in time."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive, self._most, self._seen, self._whole = receive, most, 0, False
        self._end = asyncio.get_running_loop().time() + seconds

    async def receive(self) -> Message:
        message = await self._next()
        if self._seen <= self._most:
            return message
        while message["type"] == "http.request" and not self._whole and self._seen < DRAINED:
            message = await self._next()
        raise TooLargeError

    async def _next(self) -> Message:
        async with asyncio.timeout_at(None if self._whole else self._end):  # then one waits for the browser to go
            message = await self._receive()
        self._seen += len(message.get("body", b""))
        self._whole = not message.get("more_body")
        return message


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_HEADERS)
        await send(message)

    return sending


class Tokens:
    """Who a browser is, from its cookie, and the token that its forms must have; nothing is kept of either."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def owner(self, cookies: Mapping[str, str], name: str) -> str:
        """The session of a browser: a new one if it has no cookie of ours."""
        who, _, seal = cookies.get(name, "").partition(".")
        return who if who and hmac.compare_digest(seal.encode(), self._seal("cookie", who).encode()) else self.fresh()

    def fresh(self) -> str:
        """A session that nobody has."""
        return secrets.token_urlsafe(18)

    def cookie(self, owner: str) -> str:
        """What the browser keeps."""
        return f"{owner}.{self._seal('cookie', owner)}"

    def token(self, owner: str) -> str:
        """What the forms of a session have."""
        return self._seal("form", owner)

    def right(self, owner: str, token: object) -> bool:
        """Whether a form is one of this session."""
        return hmac.compare_digest(str(token).encode(), self.token(owner).encode())

    def _seal(self, purpose: str, owner: str) -> str:
        return hmac.new(self._secret, f"{purpose} {owner}".encode(), hashlib.sha256).hexdigest()
