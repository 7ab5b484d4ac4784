"""The form: a script, a traceback, or both; or one of the examples."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import PurePath
from shlex import join, split
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile

from analyzers.explain.pattern import patterns
from analyzers.notebooks.notebook import is_notebook
from app.api.common import TheService
from app.http.problems import ProblemError, invalid, refused
from app.pages.examples import Example, examples
from app.pages.view import page
from app.request.limits import NOTHING_SENT
from app.request.unpacked import from_its_root, is_zip, main_script, unpacked
from app.request.uploads import SOURCES, as_file, decoded
from app.schemas import DiagnosisRequest, SourceFile
from app.service import TOKEN_COOKIE, Service
from app.store.request_kinds import DIAGNOSIS, RequestKind

LARGEST_FIELD = 2 * 2**20
NOTES = (".txt", ".log")
NO_SCRIPT = (
    "no Python script (.py), notebook (.ipynb) or traceback; attach or paste the script that fails"
)
_SIGNS = ("Traceback", "Error")
router = APIRouter(include_in_schema=False)


@dataclass(slots=True)
class FormInput:
    """What stands in the form; it is shown again when something is wrong with it."""

    script: str = ""
    traceback: str = ""
    filename: str = ""
    args: str = ""
    module: str = ""
    read_only: bool = False
    time_limit_s: str = "20"
    torch: str = ""
    trace: str = ""
    files: list[SourceFile] = field(default_factory=list)
    source: str = ""  # the id of the result that this goes on from

    @classmethod
    def again(cls, diagnosis_id: str, sent: DiagnosisRequest) -> FormInput:
        """What was sent for a result, to be changed and sent again."""
        return cls(
            script=sent.script,
            traceback=sent.traceback,
            filename=sent.filename,
            args=join(sent.args),
            module=sent.module or "",
            read_only=sent.run == "never",
            time_limit_s=f"{sent.time_limit_s:g}",
            torch=sent.torch or "",
            trace=sent.trace,
            files=list(sent.files),
            source=diagnosis_id,
        )

    def request(self) -> DiagnosisRequest:
        """The same request that a client of the API would send. Raises `ProblemError`."""
        try:
            return DiagnosisRequest.model_validate(
                {
                    "script": self.script,
                    **({"filename": self.filename} if self.filename else {}),
                    "files": self.files,
                    "args": words_of(self.args),
                    "module": self.module or None,
                    "traceback": self.traceback,
                    "trace": self.trace,
                    "run": "never" if self.read_only else "auto",
                    "time_limit_s": self.time_limit_s or "20",
                    "torch": self.torch or None,
                }
            )
        except ValidationError as error:
            raise invalid(error.errors()) from error


def words_of(line: str) -> list[str]:
    """Arguments as a shell would split them."""
    try:
        return split(line)
    except ValueError as error:
        raise refused("arguments", f"cannot be split: {str(error).lower()}") from None


@router.get("/")
async def show(
    service: TheService, source: Annotated[str, Query(alias="from", max_length=64)] = ""
) -> Response:
    """The form: empty, or with everything that was sent for the result `from`."""
    return _form(service, await _earlier(service, source))


async def _earlier(service: Service, source: str) -> FormInput:
    """What was sent for an earlier result; nothing where there is none any more."""
    known = source.isascii() and source.isprintable()
    sent = await service.request(source) if source and known else None
    return FormInput.again(source, sent) if sent is not None else FormInput()


def _form(service: Service, entered: FormInput, problem: ProblemError | None = None) -> Response:
    shown = page(
        "form.html",
        problem.status if problem else 200,
        entered=entered,
        problem=_plainer(problem),
        patterns=len(patterns()),
        examples=examples(),
        torches=list(service.settings.torches),
        assistant=service.assistant.host if service.assistant else "",
        keep_days=in_days(service.settings.retention_days),
    )
    shown.headers.update((problem and problem.headers) or {})
    return shown


def _plainer(problem: ProblemError | None) -> str:
    """What is wrong, as the form's reader sees it: an empty form has no field `script`."""
    if problem is None:
        return ""
    empty = problem.errors and problem.errors[0]["message"] == NOTHING_SENT
    return "Paste a script or a traceback first." if empty else problem.detail


def in_days(days: float) -> str:
    return "a day" if days == 1 else f"{days:g} days"


@router.post("/")
async def submit(http: Request, service: TheService) -> Response:
    """Take the form in and go to the result; with a mistake in it, show it again."""
    entered = FormInput()
    try:
        async with http.form(max_files=65, max_part_size=LARGEST_FIELD) as form:
            entered = _example(form) or await _fields(form, service)
            await _take_uploads(entered, form)
        diagnosis_id = await service.accept(http, entered.request())
    except ProblemError as problem:
        return _form(service, entered, problem)
    return await sent_on(service, diagnosis_id, DIAGNOSIS)


async def sent_on(
    service: Service, diagnosis_id: str, kind: RequestKind[Any, Any, Any]
) -> Response:
    """On to the result; the browser keeps, for that page alone, what deletes it."""
    address = f"{kind.page}{diagnosis_id}"
    there = RedirectResponse(address, 303)
    there.set_cookie(
        TOKEN_COOKIE,
        await service.token(diagnosis_id) or "",
        max_age=round(service.settings.retention_days * 86400),
        path=address,
        secure=service.settings.public_url.startswith("https:"),
        httponly=True,
        samesite="strict",
    )
    return there


def _example(form: FormData) -> FormInput | None:
    name = form.get("example")
    if not name:
        return None
    found = _known(str(name))
    return FormInput(found.script, found.traceback)


def _known(name: str) -> Example:
    for known in examples():
        if known.name == name:
            return known
    raise ProblemError(404, "not-found", "There is no such example.")


async def _fields(form: FormData, service: Service) -> FormInput:
    """What was typed, over what was sent for the result that this goes on from."""
    entered = await _earlier(service, str(form.get("from", "")))
    given = {name: value for name, value in form.items() if isinstance(value, str)}
    for name in ("script", "traceback"):
        if name in given:
            # A browser sends every line of a text field with a carriage return.
            setattr(entered, name, given[name].replace("\r\n", "\n"))
    for name in ("filename", "args", "module", "time_limit_s", "torch"):
        if name in given:
            setattr(entered, name, given[name].strip())
    if entered.filename.endswith(".ipynb") and not is_notebook(entered.script):
        entered.filename = ""  # of a notebook that was in the box before
    if "script" in given:  # the whole form: a box that is not ticked is not sent
        entered.read_only = bool(given.get("read_only"))
    return entered


async def _take_uploads(entered: FormInput, form: FormData) -> None:
    """Add the uploads. Next to a pasted script they are further files; alone, one of them is the
    script."""
    typed = bool(entered.script or entered.module)
    sent = await _uploaded(form, f"{entered.script}\n{entered.module}")
    uploads = [as_file(path, data) for path, data in sent.items()]
    traced = form.get("trace")
    if isinstance(traced, UploadFile) and traced.filename:
        entered.trace = decoded("trace", await traced.read())
    notes = [upload for upload in uploads if _is_note(upload)]
    if not entered.traceback and notes:
        entered.traceback = notes[0].content
        uploads.remove(notes[0])
    if not typed or _is_left_over(entered, uploads):
        main = main_script(uploads, entered.traceback)
        if main:
            entered.script, entered.filename = main.content, main.path
            uploads.remove(main)
    uploaded = {upload.path for upload in uploads}
    entered.files = [f for f in entered.files if f.path not in uploaded] + uploads
    if uploads and not (entered.script or entered.traceback or entered.module):
        named = f"{uploads[0].path} is" if len(uploads) == 1 else f"the {len(uploads)} files are"
        raise refused("files", f"{named} {NO_SCRIPT}")


def _is_left_over(entered: FormInput, uploads: list[SourceFile]) -> bool:
    """Whether the text in the box has nothing to do with what was attached: a notebook, or a
    project that has a training script of its own and that the text neither imports nor is in."""
    if entered.source or entered.module:
        return False
    if any(upload.path.endswith(".ipynb") for upload in uploads):
        return not is_notebook(entered.script)
    scripts = [one for one in uploads if one.path.endswith(".py")]
    names = {part for one in scripts for part in PurePath(one.path).with_suffix("").parts}
    known = any(re.search(rf"\b{re.escape(name)}\b", entered.script) for name in names)
    is_in = any(one.content.strip() == entered.script.strip() for one in scripts)
    trains = any(".backward(" in one.content for one in scripts)
    return len(scripts) > 1 and trains and not known and not is_in


async def _uploaded(form: FormData, typed: str) -> dict[str, bytes]:
    """What was attached, by path, zips unpacked. The folder that holds all of a zip, or all that
    was dropped, is the project's root; one that a script next to it imports keeps its name."""
    alone: dict[str, bytes] = {}
    folders: dict[str, bytes] = {}
    zips: list[dict[str, bytes]] = []
    for part in form.getlist("files"):
        if not isinstance(part, UploadFile) or not part.filename:
            continue
        data = await part.read()
        if is_zip(part.filename):
            zips.append(await asyncio.to_thread(unpacked, part.filename, data))
        else:
            (folders if "/" in part.filename else alone)[part.filename] = data
    scripts = [data.decode("utf-8", "replace") for n, data in alone.items() if n.endswith(SOURCES)]
    texts = "\n".join([typed, *scripts])
    found = alone
    for project in (folders, *zips):
        found |= from_its_root(project, texts)
    return found


def _is_note(upload: SourceFile) -> bool:
    """Whether a text is a traceback rather than data."""
    return upload.path.endswith(NOTES) and any(word in upload.content for word in _SIGNS)
