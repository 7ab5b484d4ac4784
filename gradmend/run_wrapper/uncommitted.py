"""Which uncommitted change brought a fault, where the committed version of the files does not fail.

The last commit is run as fixes are: sources in memory. Then each change is taken back by itself,
those on the way of the failing value first, until the error is gone.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from app.request.uploads import decoded
from app.schemas import Cause
from gradmend.run_wrapper.diagnosing import FailedRun
from gradmend.run_wrapper.rerun import Again
from sandbox.protocol import Job

MOST = 4  # changes that are taken back, one by one
GIT_S = 10


@dataclass(frozen=True)
class ReplacedLines:
    """Lines that replaced others: `line` is the first of the new ones, `taken_back` the file
    without the change."""

    file: str
    line: int
    old: str
    new: str
    taken_back: str

    def distance(self, places: Sequence[tuple[str, int]]) -> int:
        """Return the distance in lines from the nearest of these; large for other files."""
        last = self.line + self.new.count("\n")
        near = [max(self.line - n, n - last, 0) for file, n in places if file == self.file]
        return min(near, default=1 << 30)


async def changed_since_commit(seen: FailedRun) -> dict[str, str]:
    """Return the texts of the last commit, of those files that differ from it; nothing where there
    is no repository.
    """
    committed = await asyncio.to_thread(_committed, seen)
    return {name: text for name, text in committed.items() if text != seen.sources[name]}


async def brought_by(
    again: Again, seen: FailedRun, cause: Cause, changed: Mapping[str, str]
) -> str | None:
    """Return a sentence that names the one of these changes; None if the commit fails too."""
    if not await _holds(again, seen, changed):
        return None
    places = [*_path(cause)]
    hunks = [one for name, old in changed.items() for one in _hunks(name, old, seen.sources[name])]
    hunks.sort(key=lambda hunk: hunk.distance(places))
    for hunk in hunks[:MOST]:
        if len(hunks) == 1 or await _holds(again, seen, {hunk.file: hunk.taken_back}):
            return _described(hunk)
    return (
        f"the last commit does not fail: a change in {', '.join(changed)} since brought the fault"
    )


def _described(hunk: ReplacedLines) -> str:
    now = hunk.new.strip().partition("\n")[0]
    before = hunk.old.strip().partition("\n")[0]
    if now and before:
        change = f"`{before}` became `{now}`"
    else:
        change = f"`{now or before}` is {'new' if now else 'gone'}"
    return f"{hunk.file}:{hunk.line} brought the fault: {change}; the last commit does not fail"


async def _holds(again: Again, seen: FailedRun, files: Mapping[str, str]) -> bool:
    """Return True if the command passes the call that failed, with these files."""
    job = Job(files=dict(files), entry=seen.entry, stop_after_backwards=seen.calls + 1)
    result = await again.run(job)
    ended = result.trace.ended if result.trace is not None else None
    return result.raised is None and ended is not None and ended.backwards >= seen.calls


def _path(cause: Cause) -> Iterator[tuple[str, int]]:
    """Yield the locations that the cause mentions."""
    yield cause.location.file, cause.location.line
    for event in (cause.created, cause.freed_by, cause.reached_again_by):
        if event is not None:
            yield event.file, event.line


def _committed(seen: FailedRun) -> dict[str, str]:
    """Return the texts of the last commit, of those files that it holds."""
    found: dict[str, str] = {}
    for name in seen.sources:
        path = Path(seen.process.files[name])
        text = _git(path.parent, "show", f"HEAD:./{path.name}")
        if text is None and not found and _git(path.parent, "rev-parse", "HEAD") is None:
            return {}  # no work tree at all
        if text is not None:
            found[name] = decoded(path.name, text)
    return found


def _git(folder: Path, *words: str) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, check=False, timeout=GIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _hunks(name: str, old: str, new: str) -> Iterator[ReplacedLines]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            back = "".join([*after[:k], *before[i:j], *after[m:]])
            yield ReplacedLines(
                name, min(k + 1, len(after)), "".join(before[i:j]), "".join(after[k:m]), back
            )
