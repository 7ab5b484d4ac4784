"""The last result in a folder: kept for `gradmend apply` and `gradmend show`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.schemas import Findings, Patch


class NothingKept(Exception):
    """There is no result to speak of; the message says what to do."""


@dataclass(frozen=True)
class Last:
    """Findings with the sources that they speak of, and where these lie."""

    findings: Findings
    sources: dict[str, str]
    places: dict[str, str]
    entry: str

    def patch(self, number: int) -> Patch:
        """Return the patch of this number. Raise `NothingKept`."""
        for patch in self.findings.patches:
            if patch.n == number:
                return patch
        count = len(self.findings.patches)
        raise NothingKept(
            f"there is no fix {number}; the last run found {count}" if count else "no fix was found"
        )

    def changed(self, patch: Patch) -> dict[str, str]:
        """Return the files that a patch changes: name → text."""
        texts = {self.entry: patch.script, **{f.path: f.content for f in patch.files}}
        return {name: text for name, text in texts.items() if self.sources.get(name) != text}


def _places(folder: str | None = None) -> Iterator[Path]:
    """Yield where the result of a folder, by default this one, may be, the best place first."""
    name = hashlib.sha256((folder or os.getcwd()).encode()).hexdigest()[:16] + ".json"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    yield Path(cache, "gradmend", name)
    yield Path(tempfile.gettempdir(), f"gradmend-results-{os.getuid()}", name)


def keep(last: Last) -> bool:
    """Keep it; false where no place takes it."""
    saved = {
        "findings": last.findings.model_dump(mode="json"),
        "sources": last.sources,
        "places": last.places,
        "entry": last.entry,
    }
    for place in _places():
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if place.parent.stat().st_uid != os.getuid():
                continue
            part = place.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(saved))
            part.replace(place)
            return True
        except OSError:
            continue
    return False


def load(folder: str | None = None) -> Last:
    """Return the last result in a folder, by default this one. Raise `NothingKept`."""
    for place in _places(folder):
        try:
            if place.stat().st_uid != os.getuid():
                continue
            saved = json.loads(place.read_text())
        except (OSError, ValueError):
            continue
        saved["findings"] = Findings.model_validate(saved["findings"])
        return Last(**saved)
    raise NothingKept(
        "no result of `gradmend run` is kept for this folder; begin with: gradmend run -- python "
        "train.py (after `gradmend train.py`: gradmend train.py --diff, or --fix)"
    )


def write(last: Last, patch: Patch) -> list[str]:
    """Write a patch into its files, all or none; the paths. Raises `NothingKept` for files that
    are no longer what was run, `OSError` for those that cannot be written."""
    changed = last.changed(patch)
    for name in changed:
        if _text(last.places[name]) != last.sources[name]:
            raise NothingKept(f"{name} has changed since the run; run it again: nothing is written")
    parts = []
    try:
        for name, text in changed.items():
            place = Path(last.places[name])
            part = place.with_name(f".{place.name}.gradmend")
            parts.append((part, place))
            mark = b"\xef\xbb\xbf" if place.read_bytes().startswith(b"\xef\xbb\xbf") else b""
            part.write_bytes(mark + text.encode())
            shutil.copymode(place, part)
        for part, place in parts:
            part.replace(place)
    finally:
        for part, _ in parts:
            part.unlink(missing_ok=True)
    return [os.path.relpath(place) for _, place in parts]


def _text(path: str) -> str:
    from app.request.uploads import decoded

    try:
        return decoded(path, Path(path).read_bytes())
    except OSError:
        return ""
