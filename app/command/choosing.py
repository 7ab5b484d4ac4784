"""Which scripts are meant by the files and folders that were named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from app.command.options import STANDARD_INPUT, BadInput
from app.request.uploads import SOURCES

_TRAINS = re.compile(rb"\.backward\s*\(|\bautograd\.grad\s*\(|\bdef training_step\b")
_FOREIGN = {"__pycache__", "node_modules", "site-packages", "build", "dist"}


def scripts_of(paths: tuple[Path, ...], exclude: tuple[str, ...] = ()) -> list[Path]:
    """The scripts to diagnose: each file that was named, and of each folder those files that train
    something, but for what `exclude` names. Raises `BadInput` for a folder without any."""
    found: list[Path] = []
    for path in paths:
        found += _training(path, exclude) if path.is_dir() else [path]
    if STANDARD_INPUT in found and len(found) > 1:
        raise BadInput("Standard input is one script; give `-` alone.")
    return list(dict.fromkeys(found))


def _training(folder: Path, exclude: tuple[str, ...]) -> list[Path]:
    sources = [path for path in sources_in(folder) if not _excluded(path, folder, exclude)]
    training = [path for path in sources if trains(path)]
    if not training:
        if not sources:
            raise BadInput(f"{folder}: there is no Python file in it.")
        raise BadInput(
            f"{folder}: none of its {len(sources)} Python files calls `backward()`; name the "
            "script that you start."
        )
    return training


def _excluded(path: Path, folder: Path, exclude: tuple[str, ...]) -> bool:
    """Whether a pattern fits the path, or a folder on it."""
    inner = path.relative_to(folder)
    names = [inner.as_posix(), *(part.as_posix() for part in inner.parents), *inner.parts]
    return any(fnmatch(name, pattern.rstrip("/")) for name in names for pattern in exclude)


def sources_in(folder: Path) -> Iterator[Path]:
    """Python files and notebooks, without hidden folders, environments and what was installed."""
    for place, folders, files in os.walk(folder):
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _FOREIGN)
        yield from (Path(place, name) for name in sorted(files) if name.endswith(SOURCES))


def trains(path: Path) -> bool:
    """Return whether a file runs backward."""
    try:
        return _TRAINS.search(path.read_bytes()) is not None
    except OSError:
        return False
