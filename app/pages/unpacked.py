"""A project's folder as it is sent: file by file, or as a zip. Paths are kept."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from app.http.problems import refused
from app.request.limits import FILES_LIMIT

PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Ways of packing that need little memory, whatever the zip says of itself."""

LEFT_OUT = ("__pycache__", "__MACOSX", "node_modules", "venv", "site-packages")


def unpacked(name: str, data: bytes) -> dict[str, bytes]:
    """The files of a zip by path, without caches and what is hidden. Raises `ProblemError`."""
    if len(data) > FILES_LIMIT:
        raise refused(name, f"is {len(data)} bytes long; at most {FILES_LIMIT} are taken")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return dict(_members(name, archive))
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise refused(name, f"is no zip that can be opened ({str(error).lower()})") from None


def _members(name: str, archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    left = FILES_LIMIT
    for member in archive.infolist():
        if member.is_dir() or not wanted(member.filename):
            continue
        if member.compress_type not in PLAIN or member.flag_bits & 1:
            raise refused(name, f"{member.filename[:80]!r} is encrypted or packed unusually")
        with archive.open(member) as packed:
            content = packed.read(left + 1)
        left -= len(content)
        if left < 0:
            raise refused(name, f"holds more than {FILES_LIMIT} bytes; leave the data out")
        yield member.filename, content


def wanted(path: str) -> bool:
    """Whether a file of a folder belongs to the project."""
    parts = PurePosixPath(path).parts
    return not any(part.startswith(".") or part in LEFT_OUT for part in parts)


def from_its_root(files: Mapping[str, bytes], texts: str = "") -> dict[str, bytes]:
    """Return the files without the one folder that holds them all, unless `texts` (the scripts next
    to it) name that folder, as in `from models.net import Net`."""
    tops = {path.partition("/")[0] for path in files if "/" in path}
    if len(tops) != 1 or any("/" not in path for path in files):
        return dict(files)
    if re.search(rf"\b{re.escape(*tops)}\b", texts):
        return dict(files)
    return {path.partition("/")[2]: content for path, content in files.items()}
