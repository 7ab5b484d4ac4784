"""The training scripts that a pull request touches: themselves, or what they import."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.command.choosing import sources_in, trains
from app.command.gathering import gather
from app.command.options import BadInput

_STARTED = re.compile(r"^if\s+__name__\s*==", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A script that is started, with all files that it needs; paths are absolute."""

    path: Path
    needs: frozenset[Path]


def entries_in(paths: Iterable[Path], root: Path) -> list[Entry]:
    """Return the scripts among these files and folders that train when they are started.

    Of a folder: what calls `backward()`, and what has a main part and imports such a file; without
    what only others import.
    """
    named, found = [], []
    for path in paths:
        if path.is_dir():
            found += [_entry(file, root) for file in _started(path)]
        elif path.is_file():
            named.append(_entry(path, root))
        else:
            raise BadInput(f"{path}: no such file or folder.")
    training = [one for one in found if any(map(trains, (one.path, *one.needs)))]
    imported = {need for one in training for need in one.needs if need != one.path}
    starts = [one for one in training if one.path not in imported or _has_main(one.path)]
    return list({one.path: one for one in (*named, *starts)}.values())


def _started(folder: Path) -> Iterator[Path]:
    yield from (file for file in sources_in(folder) if trains(file) or _has_main(file))


def _entry(path: Path, root: Path) -> Entry:
    path = path.resolve()
    found = gather(path, path.read_text("utf-8", "replace"), root)
    return Entry(path, frozenset(origin.resolve() for origin in found.origin.values()))


def _has_main(path: Path) -> bool:
    return _STARTED.search(path.read_text("utf-8", "replace")) is not None
