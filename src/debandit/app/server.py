"""The pages: what each address shows, and what becomes of each form."""

import asyncio
import csv
import shutil
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from debandit.app import BODY, REPORT, RESULT, forms, pages
from debandit.app.guard import Guard, TooLargeError
from debandit.app.sessions import Analysis
from debandit.app.shared import PATIENCE, UPLOAD, Shared
from debandit.app.wording import described
from debandit.datasets import ALL
from debandit.errors import InputError, printable, shorten
from debandit.policies import RULES
from debandit.policies.presets import presets

_LONGEST_NAME = 100
_AFTER_CANCEL = {"check": "rule", "identify": "rule?by=unknown", "correct": "options"}
Page = Callable[[Request], Awaitable[Response]]


class App(Shared):
    """The pages in the order in which one goes through them."""

    def guarded(self) -> Guard:
        """The application, behind its guard."""

        def get(path: str, page: Page) -> Route:
            return Route(path, page, methods=["GET"])

        def post(path: str, page: Page) -> Route:
            return Route(path, page, methods=["POST"])

        one = f"{UPLOAD}/{{key}}"
        behind = Starlette(
            routes=[
                get("/", self.start),
                post(UPLOAD, self.upload),
                post("/datasets", self.dataset),
                get(f"{one}/columns", self.columns),
                post(f"{one}/columns", self.say_columns),
                get(f"{one}/rule", self.rule),
                post(f"{one}/rule", self.say_rule),
                get(f"{one}/check", self.check),
                get(f"{one}/identified", self.identified),
                get(f"{one}/options", self.options),
                post(f"{one}/options", self.say_options),
                get(f"{one}/report", self.report),
                get(f"{one}/{REPORT}", self.download),
                get(f"{one}/{RESULT}", self.download),
                get(f"{one}/progress", self.progress),
                post(f"{one}/cancel", self.cancel),
                post(f"{one}/forget", self.forget),
                get("/static/report.css", self.style),
                Mount("/static", StaticFiles(packages=[("debandit.app", "static")])),
            ],
            exception_handlers={
                HTTPException: self._failed,
                TooLargeError: self._too_large,
                ClientDisconnect: self._gone,
                TimeoutError: self._too_slow,
                OSError: self._no_room,
                Exception: self._mistake,
            },
            lifespan=self.running,
        )
        return Guard(behind, port=self.port, upload=UPLOAD, most=self.most_bytes)

    # step 1: the log

    async def start(self, request: Request) -> Response:
        """Drop a file, or pick a data set."""
        return self._start(request)

    def _start(self, request: Request, error: Mapping[str, Any] | None = None, status: int = 200) -> Response:
        mine = self.analyses.of(self._owner(request))
        known: dict[str, Any] = {"datasets": ALL.values(), "mine": mine, "most": self.most_bytes, "error": error}
        return self._page(request, "start.html", status, **known)

    async def upload(self, request: Request) -> Response:
        """Keep the file that was sent."""
        owner = self._owner(request)
        async with request.form(max_files=1, max_fields=4) as form:
            self._check_token(owner, form)
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                wrong = InputError("no file was chosen", remedy="Choose one, or drop it on the field.")
                return self._start(request, described(wrong), 400)
            analysis = await asyncio.to_thread(self._kept, owner, file)
        await self.analyses.add(analysis)
        return self._to(analysis, "columns")

    def _kept(self, owner: str, file: UploadFile) -> Analysis:
        with self.analyses.folder_for_one() as folder:
            path = folder / "log"
            with path.open("xb") as kept:
                shutil.copyfileobj(file.file, kept)
                size = kept.tell()
        name = str(file.filename).replace("\\", "/").rpartition("/")[2]
        return Analysis(owner, folder, printable(shorten(name, _LONGEST_NAME)) or "log", path, size)

    async def dataset(self, request: Request) -> Response:
        """Take one of the data sets."""
        owner, form = self._owner(request), await request.form()
        self._check_token(owner, form)
        data = ALL.get(str(form.get("name")))
        if data is None:
            raise HTTPException(404)
        with self.analyses.folder_for_one() as folder:
            analysis = Analysis(owner, folder, data.name, None, policy=str(data.policy))
        analysis.typed["rule"] = forms.typed_of(analysis.policy)
        await self.analyses.add(analysis)
        return self._to(analysis, "columns")

    # step 2: the columns

    async def columns(self, request: Request) -> Response:
        """What was read, and which column is what."""
        analysis = self._analysis(request)
        job = await self._asked(analysis, "look")
        if not job.finished:
            return self._waiting(request, analysis, job)
        if job.state == "failed":
            return self._page(request, "unreadable.html", analysis=analysis, error=job.error)
        typed, columns = analysis.typed.get("columns", {}), analysis.columns
        return self._page(request, "columns.html", analysis=analysis, **pages.columns_form(job.answer, typed, columns))

    async def say_columns(self, request: Request) -> Response:
        """Read it with these columns; go on if they are right."""
        analysis, form = self._analysis(request), await self._form(request)
        if analysis.path is not None:
            typed = _texts(form)
            analysis.typed["columns"] = typed
            try:
                analysis.columns = forms.columns_of(typed, [str(each) for each in form.getlist("metrics")])
            except csv.Error:
                raise HTTPException(400) from None
        job = await self._asked(analysis, "look")
        wrong = job.state == "failed" or "error" in job.answer
        return self._to(analysis, "rule" if form.get("then") == "rule" and job.finished and not wrong else "columns")

    # step 3: the rule

    async def rule(self, request: Request) -> Response:
        """Choose the rule."""
        analysis = self._analysis(request)
        seen = await self._seen(analysis)
        if seen is None:
            return self._to(analysis, "columns")
        typed, asked = analysis.typed.get("rule", {}), request.query_params
        by = asked.get("by", typed.get("by", ""))
        by = by if by in pages.WAYS else "list"
        same = by == typed.get("by")
        name = asked.get("rule", typed.get("rule", "") if same else "")
        known: Mapping[str, Any] = RULES if by == "list" else presets() if by == "platform" else {}
        name = name if name in known else ""
        if not same or name != typed.get("rule", ""):
            typed = {"text": analysis.policy} if by == "text" else {"w-batched": "on"} if seen["batched"] else {}
        job = analysis.last("check")
        error = job.error if "wrong" in asked and job is not None and job.state == "failed" else None
        return self._page(
            request, "rule.html", analysis=analysis, seen=seen, **pages.rule_form(by, name, typed, seen, error)
        )

    async def say_rule(self, request: Request) -> Response:
        """Check the rule against the log, or look for one that fits."""
        analysis, form = self._analysis(request), await self._form(request)
        typed = _texts(form)
        if typed.get("by") == "unknown":
            await self.analyses.ask(analysis, "identify", again=True)
            return self._to(analysis, "identified")
        if typed.get("by") == "these":  # a text of ours
            typed = forms.typed_of(typed.get("text", ""))
        analysis.typed["rule"] = typed
        try:
            analysis.policy = forms.policy_of(typed)
        except InputError:
            return self._to(analysis, "rule")
        await self.analyses.ask(analysis, "check", again=True)
        return self._to(analysis, "check")

    async def check(self, request: Request) -> Response:
        """Whether the rule fits the log."""
        analysis = self._analysis(request)
        if not analysis.policy:
            return self._to(analysis, "rule")
        job = await self._asked(analysis, "check")
        if not job.finished:
            return self._waiting(request, analysis, job)
        if job.state == "failed" and not job.error["refused"]:
            return self._to(analysis, "rule?wrong=1")
        return self._page(request, "check.html", analysis=analysis, job=job)

    async def identified(self, request: Request) -> Response:
        """Rules that explain the log."""
        analysis = self._analysis(request)
        job = analysis.last("identify")
        if job is None or job.state == "cancelled":
            return self._to(analysis, "rule?by=unknown")
        await self.jobs.wait(job, PATIENCE)
        if not job.finished:
            return self._waiting(request, analysis, job)
        return self._page(request, "identified.html", analysis=analysis, job=job)

    # step 4: the options

    async def options(self, request: Request) -> Response:
        """Which interval, which control and so on."""
        analysis = self._analysis(request)
        seen = await self._seen(analysis)
        if seen is None or not analysis.policy:
            return self._to(analysis, "rule")
        job = analysis.last("correct")
        error = job.error if job is not None and job.state == "failed" else None
        known = pages.options_form(analysis.typed.get("options", {}), seen, error)
        cancelled = job is not None and job.state == "cancelled"
        return self._page(request, "options.html", analysis=analysis, cancelled=cancelled, **known)

    async def say_options(self, request: Request) -> Response:
        """Run."""
        analysis = self._analysis(request)
        typed = _texts(await self._form(request))
        analysis.typed["options"] = typed
        analysis.options = forms.options_of(typed)
        if not analysis.policy:
            return self._to(analysis, "rule")
        await self.analyses.ask(analysis, "correct", again=True)
        return self._to(analysis, "report")

    # step 5: the report

    async def report(self, request: Request) -> Response:
        """The report, or how far it is."""
        analysis = self._analysis(request)
        job = analysis.last("correct")
        if job is None or job.state in ("failed", "cancelled"):
            return self._to(analysis, "options")
        await self.jobs.wait(job, PATIENCE)
        if not job.finished:
            return self._waiting(request, analysis, job)
        if job.state != "done":
            return self._to(analysis, "options")
        body = (analysis.folder / BODY).read_text(encoding="utf-8")
        return self._page(request, "report.html", analysis=analysis, title=job.answer["title"], body=body)

    async def download(self, request: Request) -> Response:
        """The report or the result as a file."""
        analysis = self._analysis(request)
        job, file = analysis.last("correct"), request.url.path.rpartition("/")[2]
        if job is None or job.state != "done":
            raise HTTPException(404)
        stem = Path(analysis.name).stem or "log"
        return FileResponse(analysis.folder / file, filename=f"{stem}-{file}")

    # jobs

    async def progress(self, request: Request) -> Response:
        """How far a job is, for the page that waits for it."""
        job = self._analysis(request).jobs.get(request.query_params.get("task", ""))
        if job is None:
            raise HTTPException(404)
        return JSONResponse(job.progress)

    async def cancel(self, request: Request) -> Response:
        """End what is being waited for."""
        analysis, form = self._analysis(request), await self._form(request)
        task = str(form.get("task"))
        job = analysis.jobs.get(task)
        if job is None:
            raise HTTPException(404)
        await self.jobs.cancel(job)
        return RedirectResponse("/", 303) if task == "look" else self._to(analysis, _AFTER_CANCEL[task])

    async def forget(self, request: Request) -> Response:
        """Remove an analysis and its files."""
        analysis = self._analysis(request)
        await self._form(request)
        await self.analyses.forget(analysis)
        return RedirectResponse("/", 303)

    # what goes wrong, and how pages look

    async def style(self, _: Request) -> Response:
        """The report's style, which is that of all pages."""
        return Response((files("debandit.report") / "style.css").read_bytes(), media_type="text/css")

    async def _failed(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return self._page(request, "failed.html", error.status_code, status=error.status_code)

    async def _mistake(self, request: Request, _: Exception) -> Response:
        """A mistake of ours, which the terminal shows."""
        return self._page(request, "failed.html", 500, status=500)

    async def _gone(self, _: Request, __: Exception) -> Response:
        return Response(status_code=400)  # which nobody reads

    async def _too_slow(self, request: Request, _: Exception) -> Response:
        return self._start(request, described(InputError("sending this took too long", remedy="Try it again.")), 408)

    async def _no_room(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, OSError)
        wrong = InputError(f"a file could not be kept or read ({error.strerror})", remedy="Is the disk full?")
        return self._start(request, described(wrong), 507)

    async def _too_large(self, request: Request, _: Exception) -> Response:
        if request.url.path != UPLOAD:
            return self._page(request, "failed.html", 413, status=413)
        remedy = "Compress it, or give counts per batch and arm. debandit app --max-upload MB allows larger files."
        wrong = InputError(f"the file has more than {self.most_bytes / 2**20:,.0f} MB", remedy=remedy)
        return self._start(request, described(wrong), 413)


def _texts(form: FormData) -> dict[str, str]:
    """What was typed."""
    return {name: value for name, value in form.items() if isinstance(value, str)}
