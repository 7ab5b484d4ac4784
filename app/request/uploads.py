"""Files that clients send: text where they are text, base64 where they are data."""

from __future__ import annotations

import tokenize
from base64 import b64decode, b64encode
from collections.abc import Iterable
from io import BytesIO

from app.http.problems import refused
from app.schemas import SourceFile

SOURCES = (".py", ".ipynb")
FILES_LIMIT = 2 * 2**20  # bytes of all further files
MOST_FILES = 64


def as_file(path: str, data: bytes) -> SourceFile:
    """Return an uploaded file. Raise `ProblemError` for source that is not text."""
    if path.endswith(SOURCES):
        return SourceFile.model_construct(path=path, content=decoded(path, data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return SourceFile.model_construct(path=path, content=text)
    return SourceFile.model_construct(
        path=path, content=b64encode(data).decode(), encoding="base64"
    )


def decoded(name: str, data: bytes) -> str:
    """Return uploaded source as text: UTF-8, or what a Python source declares in its first
    lines."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        line = data.count(b"\n", 0, at) + 1
        why = f"is not UTF-8 text: byte {data[at]:#04x} in line {line}; save it as UTF-8"
        raise refused(name, why) from None


def texts_of(files: Iterable[SourceFile]) -> dict[str, str]:
    """Return path → text of those files that are text."""
    return {file.path: file.content for file in files if file.encoding == "utf-8"}


def bytes_of(file: SourceFile) -> bytes:
    """Return the content of a base64 file. Raise `ProblemError` for what is not base64."""
    try:
        return b64decode("".join(file.content.split()), validate=True)
    except ValueError:
        raise refused(
            f"files: {file.path}", 'is not base64; send text with `encoding: "utf-8"`'
        ) from None
