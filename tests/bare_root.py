"""The files of this machine that Python and torch need, as the root of a container's image."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import IO

_LEFT_OUT = re.compile(r"/(site-packages|dist-packages|test|idlelib|tkinter|config-[^/]*)(/|$)")
_FOUND = re.compile(r"(/\S+) \(0x")  # a shared library, as `ldd` prints it
_USERS = b"root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
_OWN = {"etc/passwd": (_USERS, 0o644), "etc/shadow": (b"root:*:::::::\n", 0o600)}
INTERPRETER = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]


def site() -> str:
    """Where the interpreter itself, without any environment, looks for packages."""
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run([INTERPRETER, "-I", "-c", asked], check=True, capture_output=True)
    return done.stdout.decode().strip()


def write_root(file: IO[bytes]) -> None:
    """Write an archive of the interpreter, its library, torch, and the libraries of all these."""
    contents = {str(INTERPRETER): INTERPRETER, **_standard_library()}
    contents |= {f"{site()}/{name}": path for name, path in _libraries().items()}
    contents |= {str(path): path for path in _shared(contents.values())}
    with tarfile.open(fileobj=file, mode="w", dereference=True) as archive:
        for name, path in contents.items():
            archive.add(path, name, filter=anybody_may_read)
        for name, (content, mode) in _OWN.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, BytesIO(content))
        link = tarfile.TarInfo("usr/local/bin/python")
        link.type, link.linkname = tarfile.SYMTYPE, str(INTERPRETER)
        archive.addfile(link)
    file.seek(0)


def anybody_may_read(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return the entry as root's, for everybody to read."""
    entry.uid = entry.gid = 0
    entry.mode |= 0o755 if entry.isdir() else 0o644
    return entry


def _standard_library() -> dict[str, Path]:
    top = Path(sysconfig.get_path("stdlib"))
    return {str(path): path for path in top.iterdir() if not _LEFT_OUT.search(str(path))}


def _libraries() -> dict[str, Path]:
    """Name → file or directory of torch, NumPy and what they require, in site-packages."""
    found: dict[str, Path] = {}
    todo, seen = ["torch", "numpy"], set[str]()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # required on other machines only
        tops = {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}
        found |= {top: Path(str(distribution.locate_file(top))) for top in tops}
        needs = [need for need in distribution.requires or [] if "extra ==" not in need]
        todo += [re.split(r"[^\w.-]", need)[0] for need in needs]
    return found


def _shared(places: Iterable[Path]) -> set[Path]:
    """The shared libraries, below none of these places, of all that is there."""
    known = list(places)
    objects = [INTERPRETER, *(path for top in known for path in top.rglob("*.so*"))]
    listed = subprocess.run(["ldd", *objects], capture_output=True, text=True, check=False).stdout
    paths = {Path(path) for path in _FOUND.findall(listed)}
    return {path for path in paths if not any(path.is_relative_to(top) for top in known)}
