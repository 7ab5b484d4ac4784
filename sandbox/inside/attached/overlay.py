"""Patched sources take the place of files that stay as they are."""

from __future__ import annotations

import builtins
import importlib.machinery
import io
import linecache
import os
import sys
from collections.abc import Container
from pathlib import Path
from typing import Any

RUNNER = str(Path(__file__).with_name("runner.py"))
texts: dict[str, bytes] = {}


def install(overlay: dict[str, str]) -> None:
    """Run other sources in place of files; `overlay`: user's file → file with the source to run."""
    for path, text in overlay.items():
        texts[os.path.realpath(path)] = Path(text).read_bytes()
        _show(os.path.realpath(path))
    loader: Any = importlib.machinery.SourceFileLoader
    get_code, get_data = loader.get_code, loader.get_data

    def patched_code(self: Any, fullname: str) -> Any:
        text = texts.get(os.path.realpath(self.path))
        return get_code(self, fullname) if text is None else self.source_to_code(text, self.path)

    def patched_data(self: Any, path: str) -> Any:
        text = texts.get(os.path.realpath(path))
        return get_data(self, path) if text is None else text

    loader.get_code, loader.get_data = patched_code, patched_data
    _lead_readers({os.path.realpath(path): text for path, text in overlay.items()})
    through_runner(texts)


def _lead_readers(places: dict[str, str]) -> None:
    """Give patched sources to those who read a source themselves, as pytest does.

    Compiled forms of the original are hidden from them.
    """
    was: Any = io.open

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, str | os.PathLike) and not set(mode) & set("wax+"):
            path = os.path.realpath(file)
            if _source_of(path) in places:
                raise FileNotFoundError(2, "No such file or directory", str(file))
            file = places.get(path, file)
        return was(file, mode, *args, **kwargs)

    io.open = builtins.open = opened


def _source_of(path: str) -> str | None:
    """Return the source whose compiled form this file is, or None."""
    folder, name = os.path.split(path)
    if not name.endswith(".pyc") or os.path.basename(folder) != "__pycache__":
        return None
    return os.path.join(os.path.dirname(folder), name.partition(".")[0] + ".py")


def _show(path: str) -> None:
    """Let tracebacks and `inspect` show the lines that run."""
    if os.path.isfile(path):
        status = os.stat(path)
        lines = texts[path].decode("utf-8-sig", "replace").splitlines(keepends=True)
        linecache.cache[path] = (status.st_size, status.st_mtime, lines, path)


def text_of(path: str) -> bytes:
    """Return the source to run for a file."""
    text = texts.get(os.path.realpath(path))
    return Path(path).read_bytes() if text is None else text


def through_runner(scripts: Container[str]) -> None:
    """Restart with a script that runs the patched source if the main script is one of these.

    The interpreter reads a main script itself, so it has no other substitute.
    """
    words = list(getattr(sys, "orig_argv", []))
    script = sys.argv[0] if sys.argv else ""
    at = len(words) - len(sys.argv)
    if script in ("", "-c", "-m", RUNNER) or at < 1 or os.path.realpath(script) not in scripts:
        return
    os.execv(sys.executable, [*words[:at], RUNNER, *words[at:]])
