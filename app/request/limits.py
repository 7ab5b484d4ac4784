"""What is asked, checked: every limit has a clear answer, and nothing is cut silently."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from app.http.problems import ProblemError, refused, stated
from app.request.launch import with_entry
from app.request.unpacked import with_unpacked
from app.request.uploads import FILES_LIMIT, MOST_FILES, bytes_of
from app.schemas import DiagnosisRequest, SourceFile

NOTHING_SENT = "is empty; send the script that fails, its traceback, or both"
KIB = 1024
LIMITS = {"script": 256 * KIB, "traceback": 128 * KIB, "trace": 4096 * KIB}
INSTEAD = {
    "script": "; send only the part that trains",
    "traceback": "; send only its last lines",
    "files": "; leave out what the script does not import",
}
"""What to send in place of a field that is too large."""
NAME_BYTES = 255  # what Linux takes as the name of a file
PATH_BYTES = 1024


def check(request: DiagnosisRequest) -> DiagnosisRequest:
    """Return the request with zips unpacked, and with the script that it asks to run.

    Raise `ProblemError` if a text exceeds its limit or a path is unsafe.
    """
    request = with_entry(with_unpacked(request))
    if not request.script.strip() and not request.traceback.strip():
        raise refused("script", NOTHING_SENT)
    for name, limit in LIMITS.items():
        check_text(name, getattr(request, name), limit)
    if len(request.files) > MOST_FILES:
        raise refused("files", f"are {len(request.files)}; the limit is {MOST_FILES}")
    total = 0
    for file in request.files:
        total += _check_file(file)
    if total > FILES_LIMIT:
        raise _too_large("files", total, FILES_LIMIT)
    for argument in request.args:
        check_text("args", argument, LIMITS["script"])
    _check_paths([request.filename, *(file.path for file in request.files)])
    return request


def check_text(name: str, text: str, limit: int) -> int:
    """Return the text's size in bytes. Raise `ProblemError` if it is not clean or too large."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise refused(name, f"line {line} holds half a surrogate pair, not a character") from None
    if size > limit:
        raise _too_large(name, size, limit)
    if (at := text.find("\0")) >= 0:
        raise refused(
            name, f"line {text.count(chr(10), 0, at) + 1} holds a NUL byte: a binary file, not text"
        )
    return size


def _check_file(file: SourceFile) -> int:
    """Return the size in bytes of a further file."""
    name = f"files: {file.path}"
    if file.encoding == "utf-8":
        return check_text(name, file.content, FILES_LIMIT)
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
    """Return what is wrong with a path, or None."""
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


def _too_large(field: str, size: int, limit: int) -> ProblemError:
    why = f"is {size:,} bytes long; the limit is {limit:,}{INSTEAD.get(field, '')}"
    errors = [{"field": field, "message": why}]
    return ProblemError(413, "too-large", f"{stated(field, why)}.", errors=errors)
