"""What clients send, checked: every limit has a clear answer, and nothing is cut silently."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile

from app.launch import with_entry
from app.problems import ProblemError, invalid, refused
from app.reader import Reader, ReadingLimit
from app.schemas import DiagnosisRequest, SourceFile
from app.uploads import as_file, bytes_of, decoded

KIB = 1024
LIMITS = {"script": 256 * KIB, "traceback": 128 * KIB, "trace": 4096 * KIB}
FILES_LIMIT = 2048 * KIB
AT_ONCE = 256 * KIB  # so much JSON is parsed within milliseconds, whatever it holds
PARSING_S = 10.0
MOST_FILES = 64
NAME_BYTES = 255  # what Linux takes as the name of a file
PATH_BYTES = 1024
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


async def read_request(request: Request, parser: Reader) -> DiagnosisRequest:
    """What a JSON body or a form asks for, not yet checked. Raises `ProblemError`.

    Parsing holds up whatever else goes on in a process, so a large body is parsed by `parser`.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in FORMS:
        async with request.form(max_files=80, max_fields=160, max_part_size=2**23) as form:
            return await _from_form(form)
    if media_type == "application/json" or not media_type:
        body = await request.body()
        if len(body) <= AT_ONCE:
            return parse_json(body)
        try:
            return await parser.call(parse_json, body, timeout=PARSING_S)
        except ReadingLimit as limit:
            raise refused("body", f"is too intricate ({limit})") from None
    raise ProblemError(
        415,
        "unsupported-media-type",
        f"Content-Type {media_type!r} is not read; send application/json or multipart/form-data.",
    )


def check(request: DiagnosisRequest) -> DiagnosisRequest:
    """The request with the script that it asks to run, when every text is within its limit and
    every path is harmless."""
    request = with_entry(request)
    if not request.script.strip() and not request.traceback.strip():
        raise refused("script", "is empty; send the script that fails, its traceback, or both")
    for name, limit in LIMITS.items():
        _check_text(name, getattr(request, name), limit)
    total = 0
    for file in request.files:
        total += _check_file(file)
    if total > FILES_LIMIT:
        raise _too_large("files", total, FILES_LIMIT)
    for argument in request.args:
        _check_text("args", argument, LIMITS["script"])
    _check_paths([request.filename, *(file.path for file in request.files)])
    return request


def _check_text(name: str, text: str, limit: int) -> int:
    """The text's size in bytes, once it is known to be clean and small enough."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise refused(name, f"line {line} holds half a surrogate pair, not a character") from None
    if size > limit:
        raise _too_large(name, size, limit)
    if (at := text.find("\0")) >= 0:
        raise refused(name, f"line {text.count(chr(10), 0, at) + 1} holds a NUL byte; is it text?")
    return size


def _check_file(file: SourceFile) -> int:
    """The size in bytes of a further file."""
    name = f"files: {file.path}"
    if file.encoding == "utf-8":
        return _check_text(name, file.content, FILES_LIMIT)
    size = len(bytes_of(file))
    if size > FILES_LIMIT:
        raise _too_large(name, size, FILES_LIMIT)
    return size


def _check_paths(paths: Iterable[str]) -> None:
    seen: set[PurePosixPath] = set()
    for text in paths:
        path = PurePosixPath(text)
        if (why := _fault(text, path)) is not None:
            raise refused("filename" if not seen else "files", f"path {text[:80]!r} {why}")
        if path in seen:
            raise refused("files", f"path {text[:80]!r} is there twice")
        seen.add(path)
    for path in seen:
        if not seen.isdisjoint(path.parents):
            raise refused("files", f"path {str(path)!r} lies below another file")


def _fault(text: str, path: PurePosixPath) -> str | None:
    """What is wrong with a path, if anything."""
    if not text.isprintable() or "\\" in text:
        return "holds a backslash or an unprintable character; use `package/module.py`"
    if path.is_absolute() or ":" in text.partition("/")[0]:
        return "is absolute; send it relative to the project's directory"
    if ".." in path.parts:
        return "leaves the project's directory; send it relative to that"
    if not path.parts:
        return "names no file"
    if len(text.encode()) > PATH_BYTES or any(len(p.encode()) > NAME_BYTES for p in path.parts):
        return f"is longer than a file system takes ({NAME_BYTES} bytes a name)"
    return None


def parse_json(body: bytes) -> DiagnosisRequest:
    """The request that a JSON body holds, not yet checked. Raises `ProblemError`."""
    try:
        value = json.loads(body)
    except RecursionError:
        raise ProblemError(400, "not-json", "The body nests too deeply.") from None
    except ValueError as error:
        raise ProblemError(400, "not-json", f"The body is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ProblemError(422, "invalid-request", 'Send a JSON object: {"script": "…"}.')
    return _validated(value)


async def _from_form(form: FormData) -> DiagnosisRequest:
    fields: dict[str, Any] = {}
    files: list[dict[str, Any]] = []
    args: list[str] = []
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if not value.filename and not value.size:
                continue  # a browser's file field that was left empty
            data = await value.read()
            if name == "files":
                files.append(as_file(value.filename or "", data).model_dump())
                continue
            text = decoded(name, data)
            if name == "script" and value.filename:
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
    lists = {name: value for name, value in (("files", files), ("args", args)) if value}
    return _validated({**given, **lists})


def _validated(value: dict[str, Any]) -> DiagnosisRequest:
    _expect_known(value, DiagnosisRequest, "body")
    files = value.get("files")
    for at, file in enumerate(files[:MOST_FILES] if isinstance(files, list) else ()):
        _expect_known(file, SourceFile, f"files.{at}")
    try:
        return DiagnosisRequest.model_validate(value)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False, include_input=False)) from None


def _expect_known(value: Any, model: type[BaseModel], where: str) -> None:
    """Raise `ProblemError` for an object with more fields than there are: validation would tell
    of each one of them."""
    if isinstance(value, dict) and len(value) > len(model.model_fields):
        unknown = next(name for name in value if name not in model.model_fields)
        raise refused(where, f"has {len(value)} fields; {unknown[:80]!r}, for one, is not known")


def _too_large(field: str, size: int, limit: int) -> ProblemError:
    why = f"is {size} bytes long; at most {limit} are taken"
    errors = [{"field": field, "message": why}]
    return ProblemError(413, "too-large", f"{field}: {why}.", errors=errors)
