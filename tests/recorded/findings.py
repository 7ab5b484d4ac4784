"""What the service says of a case, as text: a reviewer reads how it changes as a diff.

A file holds the findings of a pattern's cases; `make record` renews it.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.digests import ROOT, digest_of
from tests.recorded.recorder import Recorder

HINT = "the findings are not what they were: `make record` renews them, review the difference"
KEPT = ROOT / "tests/findings"
LOOSE = ROOT / ".cache/findings"
_HEADING = re.compile(r"^## (.+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Kept:
    """Where the findings of a test's case are kept."""

    file: str
    name: str

    @property
    def text(self) -> str | None:
        """The findings on record; None if there are none."""
        return load(self.file).get(self.name)


@dataclass(frozen=True)
class Recorded:
    """Compares findings with those on record, or records them."""

    recorder: Recorder
    kept: Kept

    def check(self, text: str) -> None:
        """Hold the findings of the test's case against those on record. Those of a new case are
        only reported as not recorded."""
        if self.recorder.mode == "record":
            assert not self.recorder.crowded, "a run timed out while others had the processors"
            save(self.kept.file, self.kept.name, text)
        elif (before := self.kept.text) is None:
            self.recorder.missing.add(f"findings of {self.kept.name} in {self.kept.file}")
        else:
            difference = _difference(before, text.strip("\n"))
            assert not difference, f"{HINT}\n{difference}"


def kept_of(item: pytest.Item) -> Kept | None:
    """Return where a test's findings are kept: `@pytest.mark.findings("failing")` says in which
    folder, its parameter `case` or `item` of which pattern and under which name."""
    mark = item.get_closest_marker("findings")
    if mark is None:
        return None
    parameters: dict[str, Any] = item.callspec.params  # type: ignore[attr-defined]
    case = parameters.get("case") or parameters["item"]
    folder = getattr(case, "folder", "")
    return Kept(f"{mark.args[0]}/{folder}" if folder else mark.args[0], case.name)


def _difference(before: str, now: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), "recorded", "now", n=1)
    return "\n".join(lines)


def load(file: str) -> dict[str, str]:
    """Return the findings of a file by the name of their case."""
    path = KEPT / f"{file}.txt"
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _loaded(path, stamp)


@lru_cache(maxsize=256)
def _loaded(path: Path, _stamp: int) -> dict[str, str]:
    return _parsed(path.read_text("utf-8")) if path.is_file() else {}


def save(file: str, name: str, text: str) -> None:
    """Write the findings of one case, to be gathered with those of others."""
    path = LOOSE / file / digest_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_written({name: text}), "utf-8")


def gather() -> list[str]:
    """Move what was saved into the files; return the names of what changed."""
    changed: list[str] = []
    for folder in sorted({path.parent for path in LOOSE.rglob("*") if path.is_file()}):
        file = folder.relative_to(LOOSE).as_posix()
        before, after = load(file), dict(load(file))
        for path in sorted(folder.iterdir()):
            after |= _parsed(path.read_text("utf-8"))
        _keep(KEPT / f"{file}.txt", after)
        changed += [f"{file}: {name}" for name in after if after[name] != before.get(name)]
        for path in folder.iterdir():
            path.unlink()
    return changed


def prune(file: str, names: set[str]) -> None:
    """Leave only the findings of these cases in a file."""
    _keep(KEPT / f"{file}.txt", {n: text for n, text in load(file).items() if n in names})


def _keep(path: Path, findings: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_written(findings), "utf-8")


def _written(findings: dict[str, str]) -> str:
    return "".join(f"## {name}\n{text.rstrip()}\n" for name, text in sorted(findings.items()))


def _parsed(text: str) -> dict[str, str]:
    _, *parts = _HEADING.split(text)
    return {name: body.strip("\n") for name, body in zip(parts[::2], parts[1::2], strict=True)}
