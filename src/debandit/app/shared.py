"""What all pages share: who asks, for which analysis, and how pages are made and go wrong."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from debandit.app import pages
from debandit.app.guard import Tokens
from debandit.app.jobs import AT_ONCE, SECONDS, Job, Jobs
from debandit.app.sessions import Analyses, Analysis

UPLOAD = "/logs"
PATIENCE = 1.5  # seconds that a page waits for a job before it says that one has to wait
_MINUTES_BETWEEN_SWEEPS = 5


class Shared:
    """What all requests share."""

    def __init__(self, port: int, most_bytes: int, at_once: int = AT_ONCE, seconds: float = SECONDS) -> None:
        self.port, self.most_bytes, self.limits = port, most_bytes, (at_once, seconds)
        self.tokens, self.cookie = Tokens(), f"debandit-{port}"
        self.jobs: Jobs
        self.analyses: Analyses

    @contextlib.asynccontextmanager
    async def running(self, _: Starlette) -> AsyncIterator[None]:
        """While the server runs; when it ends nothing is left of it."""
        self.jobs = Jobs(*self.limits)
        self.analyses = Analyses(self.jobs, self.most_bytes)
        self.jobs.get_ready()
        sweeper = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            sweeper.cancel()
            await self.jobs.close()
            self.analyses.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(60 * _MINUTES_BETWEEN_SWEEPS)
            await self.analyses.forget_old()

    async def _asked(self, analysis: Analysis, task: str) -> Job:
        """The job, for which one waits a little."""
        job = await self.analyses.ask(analysis, task)
        await self.jobs.wait(job, PATIENCE)
        return job

    async def _seen(self, analysis: Analysis) -> dict[str, Any] | None:
        """What is in the log, if it could be read."""
        job = analysis.last("look")
        return None if job is None or job.state != "done" or "error" in job.answer else job.answer

    def _waiting(self, request: Request, analysis: Analysis, job: Job) -> Response:
        return self._page(request, "waiting.html", analysis=analysis, job=job, task=job.request["task"])

    def _page(
        self, request: Request, template: str, code: int = 200, *, analysis: Analysis | None = None, **known: Any
    ) -> Response:
        owner = self._owner(request)
        text = pages.render(template, token=self.tokens.token(owner), analysis=analysis, **known)
        response = Response(text, code, media_type="text/html")
        response.set_cookie(self.cookie, self.tokens.cookie(owner), httponly=True, samesite="strict")
        return response

    def _to(self, analysis: Analysis, place: str) -> Response:
        return RedirectResponse(f"{UPLOAD}/{analysis.key}/{place}", 303)

    def _owner(self, request: Request) -> str:
        if not hasattr(request.state, "owner"):
            request.state.owner = self.tokens.owner(request.cookies, self.cookie)
        return str(request.state.owner)

    def _analysis(self, request: Request) -> Analysis:
        found = self.analyses.find(request.path_params["key"], self._owner(request))
        if found is None:
            raise HTTPException(404)
        return found

    async def _form(self, request: Request) -> FormData:
        form = await request.form(max_files=0)
        self._check_token(self._owner(request), form)
        return form

    def _check_token(self, owner: str, form: FormData) -> None:
        if not self.tokens.right(owner, form.get("token")):
            raise HTTPException(403)
