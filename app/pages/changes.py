"""Pages about changes: the form with two versions, and what the change does to the training."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from shlex import join
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile

from app.api.common import RequestId, TheService, existing, with_address
from app.change_schemas import (
    ChangeRequest,
    ChangeVerification,
    ProjectVersion,
    VerificationRequest,
)
from app.http.problems import ProblemError, invalid
from app.pages.diffs import hunks
from app.pages.form import LARGEST_FIELD, in_days, sent_on, words_of
from app.pages.result import progress_of
from app.pages.sources import entry_of, sources_of
from app.pages.versions import FileDiff, file_diffs
from app.pages.view import page
from app.present import changes
from app.request.change_versions import as_diagnosis
from app.request.uploads import as_file
from app.schemas import SourceFile
from app.service import Service
from app.store.diagnoses import NEVER
from app.store.request_kinds import DIAGNOSIS, VERIFICATION

router = APIRouter(include_in_schema=False)
TEXTS = ("before", "after", "patch", "traceback")
LINES = ("args", "filename", "module", "time_limit_s", "steps", "torch")
EMPTY_BOXES = {
    "before": "Paste the script before the change.",
    "after": "Paste the changed script, or a patch under “Patch, files, arguments”.",
}


@dataclass(slots=True)
class ChangeFormInput:
    """What stands in the form; it is shown again when something is wrong with it."""

    before: str = ""
    after: str = ""
    patch: str = ""
    traceback: str = ""
    filename: str = ""
    args: str = ""
    module: str = ""
    time_limit_s: str = "20"
    steps: str = ""
    torch: str = ""
    diagnosis: str = ""
    files_before: list[SourceFile] = field(default_factory=list)
    files_after: list[SourceFile] = field(default_factory=list)

    @classmethod
    def again(cls, sent: ChangeRequest) -> ChangeFormInput:
        """What was sent for a verification, to be changed and sent again."""
        return cls(
            before=sent.before.script,
            after=sent.after.script,
            traceback=sent.traceback,
            filename=sent.before.filename,
            args=join(sent.args),
            module=sent.module or "",
            time_limit_s=f"{sent.time_limit_s:g}",
            steps=str(sent.steps or ""),
            torch=sent.torch or "",
            files_before=sent.before.files,
            files_after=sent.after.files,
        )

    def request(self) -> VerificationRequest:
        """The same request that a client of the API would send. Raises `ProblemError`."""
        given = {name: getattr(self, name) for name in (*TEXTS, "filename", "diagnosis")}
        given |= {"module": self.module, "files_before": self.files_before}
        given |= {"args": words_of(self.args), "files_after": self.files_after}
        given |= {"time_limit_s": self.time_limit_s, "steps": self.steps, "torch": self.torch}
        try:
            return VerificationRequest.model_validate({n: v for n, v in given.items() if v})
        except ValidationError as error:
            raise invalid(error.errors()) from error


@router.get("/verify")
async def show(
    service: TheService, source: Annotated[str, Query(alias="from", max_length=64)] = ""
) -> Response:
    """The form: empty, or with everything that was sent for the verification `from`."""
    return _form(service, await _earlier(service, source))


async def _earlier(service: Service, source: str) -> ChangeFormInput:
    sent = await service.asked(source, VERIFICATION) if source else None
    return ChangeFormInput.again(sent) if sent is not None else ChangeFormInput()


def _form(
    service: Service, entered: ChangeFormInput, problem: ProblemError | None = None
) -> Response:
    shown = page(
        "verify.html",
        problem.status if problem else 200,
        entered=entered,
        problem=_plainer(problem),
        torches=list(service.settings.torches),
        keep_days=in_days(service.settings.retention_days),
    )
    shown.headers.update((problem and problem.headers) or {})
    return shown


def _plainer(problem: ProblemError | None) -> str:
    """What is wrong, as the form's reader sees it: a box has a title, no name of a field."""
    if problem is None:
        return ""
    first = (problem.errors or [{}])[0]
    empty = first.get("field") in EMPTY_BOXES and first["message"].startswith("is empty")
    return EMPTY_BOXES[first["field"]] if empty else problem.detail


@router.post("/verify")
async def submit(http: Request, service: TheService) -> Response:
    """Take the form in and go to the result; with a mistake in it, show it again."""
    entered = ChangeFormInput()
    try:
        async with http.form(max_files=130, max_part_size=LARGEST_FIELD) as form:
            entered = await _fields(form, service)
        verification_id = await service.accept_change(http, entered.request())
    except ProblemError as problem:
        return _form(service, await _with_source(service, entered), problem)
    return await sent_on(service, verification_id, VERIFICATION)


async def _with_source(service: Service, entered: ChangeFormInput) -> ChangeFormInput:
    """The form of a diagnosis' page has only the changed version; this one shows both."""
    sent = await service.asked(entered.diagnosis, DIAGNOSIS) if entered.diagnosis else None
    if sent is not None:
        entered.before, entered.files_before = sent.script, sent.files
        entered.filename, entered.args = sent.filename, join(sent.args)
    entered.diagnosis = ""
    return entered


async def _fields(form: FormData, service: Service) -> ChangeFormInput:
    entered = await _earlier(service, str(form.get("from", "")))
    given = {name: value for name, value in form.items() if isinstance(value, str)}
    for name in TEXTS:
        if name in given:
            # A browser sends every line of a text field with a carriage return.
            setattr(entered, name, given[name].replace("\r\n", "\n"))
    for name in (*LINES, "diagnosis"):
        if name in given:
            setattr(entered, name, given[name].strip())
    for name in ("files_before", "files_after"):
        if uploads := [part for part in form.getlist(name) if _is_file(part)]:
            setattr(entered, name, [await _file(part) for part in uploads])
    return entered


def _is_file(part: Any) -> bool:
    return isinstance(part, UploadFile) and bool(part.filename)


async def _file(part: Any) -> SourceFile:
    return as_file(part.filename, await part.read())


@router.get("/v/{verification_id}")
async def result(verification_id: RequestId, http: Request, service: TheService) -> Response:
    """The verdict, or how far the comparison has come."""
    try:
        found = await existing(service, verification_id, VERIFICATION)
    except ProblemError:
        return page("missing.html", 404)
    request = await service.asked(verification_id, VERIFICATION)
    if request is None:  # deleted a moment ago
        return page("missing.html", 404)
    shown = with_address(http, service, found)
    mine = await service.may_delete(http, verification_id)
    if shown.status in ("queued", "running"):
        progress = await progress_of(service, verification_id)
        return page("comparing.html", result=shown, messages=progress, mine=mine)
    sources = [await _sources(v, request, service) for v in (request.before, request.after)]
    may_keep = mine and service.settings.keep_on_request and shown.expires_at < NEVER
    # In a thread: colours take a while.
    return await asyncio.to_thread(_filled, shown, request, sources, mine, may_keep)


async def _sources(
    version: ProjectVersion, request: ChangeRequest, service: Service
) -> tuple[str, Mapping[str, str]]:
    """The name of a version's script, and its texts; a notebook as the script of its cells."""
    sent = as_diagnosis(version, request)
    texts = await sources_of(sent, service.reader)
    return entry_of(sent, texts), texts


def _filled(
    shown: ChangeVerification,
    request: ChangeRequest,
    sources: list[tuple[str, Mapping[str, str]]],
    mine: bool,
    may_keep: bool,
) -> Response:
    (old, before), (new, after) = sources
    diffs: list[FileDiff] = file_diffs(before, after, (old, new), shown.witness)
    return page(
        "verification.html",
        result=shown,
        request=request,
        diffs=diffs,
        better=hunks(shown.better.diff) if shown.better else [],
        changes=changes,
        markdown=changes.change_as_markdown(shown, shown.url),
        mine=mine,
        may_keep=may_keep,
        kept=shown.expires_at >= NEVER,
    )


@router.post("/v/{verification_id}/keep")
async def keep(verification_id: RequestId, http: Request, service: TheService) -> Response:
    """Keep the verification until its sender deletes it."""
    await existing(service, verification_id, VERIFICATION)
    await service.keep(http, verification_id)
    return RedirectResponse(f"/v/{verification_id}#share", 303)


@router.post("/v/{verification_id}/delete")
async def delete(verification_id: RequestId, http: Request, service: TheService) -> Response:
    """Forget the verification and both versions."""
    try:
        await existing(service, verification_id, VERIFICATION)
    except ProblemError:
        return page("missing.html", 404)
    await service.discard(http, verification_id)
    return page("deleted.html")
