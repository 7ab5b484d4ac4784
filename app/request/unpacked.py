"""A project's folder as it is sent: file by file, or as a zip. Paths are kept."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from pathlib import PurePath, PurePosixPath

from app.http.problems import refused
from app.request.uploads import FILES_LIMIT, MOST_FILES, SOURCES, as_file, bytes_of
from app.schemas import DiagnosisRequest, SourceFile

PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Ways of packing that need little memory, whatever the zip says of itself."""

LEFT_OUT = ("__pycache__", "__MACOSX", "node_modules", "venv", "site-packages")
_BEGINNING = b"PK\x03\x04"


def with_unpacked(request: DiagnosisRequest) -> DiagnosisRequest:
    """Return the request with the files of its zips; where no script was sent, one of them is the
    script. A zip that the script names is data. Raises `ProblemError`.
    """
    files = expanded(request.files, f"{request.script}\n{request.module or ''}")
    if files is request.files:
        return request
    update: dict[str, object] = {"files": files}
    if not request.script.strip() and request.module is None:
        main = main_script(files, request.traceback)
        if main is not None:
            files.remove(main)
            update |= {"script": main.content, "filename": main.path}
    return request.model_copy(update=update)


def expanded(files: list[SourceFile], texts: str) -> list[SourceFile]:
    """Return the files, those of zips in place of the zips, unless `texts` (the scripts next to
    them) name a zip. Raises `ProblemError`."""
    zips = [
        file
        for file in files
        if file.encoding == "base64"
        and is_zip(file.path)
        and PurePosixPath(file.path).name not in texts
    ]
    if not zips:
        return files
    kept = {file.path: file for file in files if file not in zips}
    for file in zips:
        inside = from_its_root(unpacked(file.path, bytes_of(file)), texts)
        kept |= {path: as_file(path, data) for path, data in inside.items()}
    return list(kept.values())


def is_zip(name: str, data: bytes = b"") -> bool:
    """Return True for a zip by its name, or by its first bytes (those of a script that is none)."""
    return name.lower().endswith(".zip") or data.startswith(_BEGINNING)


def unpacked(name: str, data: bytes) -> dict[str, bytes]:
    """The files of a zip by path, without caches and what is hidden. Raises `ProblemError`."""
    if len(data) > FILES_LIMIT:
        raise refused(name, f"is {len(data):,} bytes long; the limit is {FILES_LIMIT:,}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _members(name, archive)
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise refused(name, f"is no zip that can be opened ({str(error).lower()})") from None


def _members(name: str, archive: zipfile.ZipFile) -> dict[str, bytes]:
    members = [m for m in archive.infolist() if not m.is_dir() and wanted(m.filename)]
    if len(members) > MOST_FILES + 1:  # one of them is the script
        why = f"holds {len(members)} files; the limit is {MOST_FILES} and the script"
        raise refused(name, f"{why}: leave out what the script does not import")
    found: dict[str, bytes] = {}
    left = FILES_LIMIT
    for member in members:
        if member.compress_type not in PLAIN or member.flag_bits & 1:
            raise refused(name, f"{member.filename[:80]!r} is encrypted or packed unusually")
        with archive.open(member) as packed:
            found[member.filename] = packed.read(left + 1)
        left -= len(found[member.filename])
        if left < 0:
            raise refused(name, f"holds more than {FILES_LIMIT:,} bytes; leave the data out")
    return found


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


def main_script(files: Iterable[SourceFile], traceback: str) -> SourceFile | None:
    """The script among several: the first that the traceback names, else one with a backward."""
    scripts: Sequence[SourceFile] = [file for file in files if file.path.endswith(SOURCES)]

    def unfitness(script: SourceFile) -> tuple[float, bool]:
        at = traceback.find(PurePath(script.path).name)
        return at if at >= 0 else inf, ".backward(" not in script.content

    return min(scripts, key=unfitness, default=None)
