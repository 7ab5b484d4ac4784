"""What a run observes is among what reading predicts; `known_misses.toml` lists where it is not.

An event is what happened and on which line: the walk that met what another had freed, and that
other; the walk that met what was changed; the call that found no graph; the kind of silent fault.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from analyzers.evidence import (
    Evidence,
    GraphReuse,
    InplaceChange,
    KnownError,
    MissingGraph,
    SilentFault,
)
from analyzers.request.examine import examine
from app.run.run_evidence import observed_evidence
from tests.case_files import Case
from tests.corpus.listing import FAILING, each
from tests.tracing import Tracing

MISSES: dict[str, str] = tomllib.loads((Path(__file__).parent / "known_misses.toml").read_text())

Event = tuple[str | int | None, ...]


def event(piece: Evidence) -> Event:
    match piece:
        case GraphReuse(freed=freed, reached=reached):
            return ("graph-reuse", freed.at.line, reached.at.line)
        case InplaceChange(kind=kind, reached=reached, at=at):
            place = reached.at if reached is not None else at
            return (kind, place.line if place else None)
        case MissingGraph(at=at):
            return ("missing", at.line if at else None)
        case SilentFault(kind=kind):
            return (kind,)
        case KnownError(entry=entry):
            return ("known", entry)


def events(pieces: Iterable[Evidence]) -> set[Event]:
    return {event(piece) for piece in pieces}


@each(FAILING)
def test_reading_predicts_what_the_run_observes(case: Case, traced: Tracing) -> None:
    read = examine(case.stripped, case.entry, case.files, "")
    others = {path: text for path, text in read.files.items() if path != read.entry}
    run = traced(read.files[read.entry], files=others)
    seen = [
        p for p in observed_evidence(run.trace) if not isinstance(p, KnownError)
    ]  # those need no reading
    unforeseen = events(seen) - events(read.reading.evidence)
    if case.name in MISSES:
        assert unforeseen, f"no longer missed: take {case.name} out of known_misses.toml"
    else:
        assert not unforeseen


def test_every_listed_miss_is_a_case_and_has_a_reason() -> None:
    names = {case.name for case in FAILING}
    assert names >= MISSES.keys()
    assert all(len(reason) > 10 for reason in MISSES.values())
