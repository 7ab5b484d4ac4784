"""Patches that could not be run, read again: does the fault go, and does everything still learn?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzers.classify import Candidate
from analyzers.evidence import Reading, SilentFault
from analyzers.reading import read
from analyzers.source import Project


def sound(
    project: Project, candidates: Sequence[Candidate], *, suspecting: str = ""
) -> list[Candidate]:
    """The candidates without those that reading shows to be no repair; all of them where it can
    tell none apart. `suspecting` as for `read`."""
    before = read(project, suspecting=suspecting)
    kept = []
    for candidate in candidates:
        patched = replace(project, files={**project.files, **candidate.files})
        after = read(patched, suspecting=suspecting)
        if _mends(before, after) and before.sources <= after.sources:
            kept.append(candidate)
    return kept or list(candidates)


def _mends(before: Reading, after: Reading) -> bool:
    """Whether fewer errors are predicted; true where reading saw none to begin with."""
    return _errors(before) == 0 or _errors(after) < _errors(before)


def _errors(reading: Reading) -> int:
    return sum(not isinstance(piece, SilentFault) for piece in reading.evidence)
