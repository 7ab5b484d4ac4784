"""What clients send, as a JSON body or a form, made a request."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile

from app.http.problems import UNKNOWN, ProblemError, invalid, refused
from app.request.reader import Reader, ReadingLimit
from app.request.unpacked import is_zip
from app.request.uploads import MOST_FILES, as_file, decoded
from app.schemas import DiagnosisRequest, SourceFile

AT_ONCE = 256 * 1024  # so much JSON is parsed within milliseconds, whatever it holds
PARSING_S = 10.0
M = TypeVar("M", bound=BaseModel)
SCRIPTS = ("script", "before")  # texts whose file's name is that of the script
LISTS = ("files", "files_before", "files_after")
PROJECTS = {"script": "files", "before": "files_before", "after": "files_after"}
"""The list of files that takes a project which is sent as a zip in place of its script."""
_WANTED = 'Send a JSON object: {{"{}": "…"}}.'
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


async def read_request(request: Request, parser: Reader) -> DiagnosisRequest:
    """Return what a request for a diagnosis asks for, not yet checked. Raise `ProblemError`."""
    return await read_body(request, parser, DiagnosisRequest)


async def read_body(request: Request, parser: Reader, model: type[M]) -> M:
    """Return a JSON body or a form as a value of this model, its limits not yet checked.

    Parsing blocks the process, so `parser` parses a large body. Raise `ProblemError`.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in FORMS:
        async with request.form(max_files=80, max_fields=160, max_part_size=2**23) as form:
            return await _from_form(form, model)
    if media_type == "application/json" or not media_type:
        body = await request.body()
        if len(body) <= AT_ONCE:
            return parse_json(body, model)
        try:
            return await parser.call(partial(parse_json, model=model), body, timeout=PARSING_S)
        except ReadingLimit as limit:
            raise refused("body", f"is too intricate ({limit})") from None
    raise ProblemError(
        415,
        "unsupported-media-type",
        f"Content-Type {media_type!r} is not read; send application/json or multipart/form-data "
        "(a zip in its field `files`).",
    )


def parse_json(body: bytes, model: type[M]) -> M:
    """Return the value that a JSON body holds, not yet checked. Raise `ProblemError`."""
    first = next(iter(model.model_fields))
    if not body.strip():
        raise ProblemError(400, "not-json", f"The body is empty. {_WANTED.format(first)}")
    try:
        value = json.loads(body)
    except RecursionError:
        raise ProblemError(400, "not-json", "The body nests too deeply.") from None
    except ValueError as error:
        raise ProblemError(400, "not-json", f"The body is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ProblemError(422, "invalid-request", _WANTED.format(first))
    return _validated(value, model)


async def _from_form(form: FormData, model: type[M]) -> M:
    fields: dict[str, Any] = {}
    files: dict[str, list[dict[str, Any]]] = {}
    args: list[str] = []
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if not value.filename and not value.size:
                continue  # a browser's file field that was left empty
            data = await value.read()
            into = PROJECTS.get(name, name) if is_zip(value.filename or "", data) else name
            if into in LISTS:
                files.setdefault(into, []).append(as_file(value.filename or "", data).model_dump())
                continue
            # A field that there is not is refused by its name, whatever it holds.
            text = decoded(name, data) if name in model.model_fields else UNKNOWN
            if name in SCRIPTS and value.filename:
                fields.setdefault("filename", value.filename)
        elif name == "args":
            args.append(value)
            continue
        else:
            text = value.replace("\r\n", "\n")  # forms send line ends so, whatever was typed
            if not text and name in fields:
                continue
        if name in fields and fields[name] and name != "filename":
            raise refused(name, "was sent twice")
        fields[name] = text
    given = {name: value for name, value in fields.items() if value}
    return _validated({**given, **files, **({"args": args} if args else {})}, model)


def _validated(value: dict[str, Any], model: type[M]) -> M:
    _expect_known(value, model, "body")
    for name in LISTS:
        files = value.get(name)
        for at, file in enumerate(files[:MOST_FILES] if isinstance(files, list) else ()):
            _expect_known(file, SourceFile, f"{name}.{at}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        raise invalid(errors, fields=tuple(model.model_fields)) from None


def _expect_known(value: Any, model: type[BaseModel], where: str) -> None:
    """Raise `ProblemError` for an object with more fields than there are: validation would tell
    of each one of them."""
    if isinstance(value, dict) and len(value) > len(model.model_fields):
        unknown = next(name for name in value if name not in model.model_fields)
        raise refused(where, f"has {len(value)} fields; {unknown[:80]!r}, for one, is not known")
