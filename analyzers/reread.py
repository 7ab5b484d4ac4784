"""Patches that could not be run, read again: does the fault go, and does everything still learn?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzers.classify import Candidate
from analyzers.evidence import GraphReuse, Reading
from analyzers.reading import read
from analyzers.source import Project


def sound(
    project: Project, candidates: Sequence[Candidate], *, suspecting: bool = False
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
    """Whether fewer walks meet a freed graph; true where reading saw none to begin with."""
    return _reuses(before) == 0 or _reuses(after) < _reuses(before)


def _reuses(reading: Reading) -> int:
    pieces = (*reading.evidence, *reading.suspected)
    return sum(isinstance(piece, GraphReuse) for piece in pieces)
