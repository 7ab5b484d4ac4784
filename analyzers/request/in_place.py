"""Map causes found with one-line helpers inlined back to the script as it was sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analyzers.explain.inlined import Inlined
from analyzers.explain.pattern import Match
from analyzers.request.causes import Candidate, GraphEvent, RankedCause
from analyzers.request.ranking import by_preference
from analyzers.source.linediff import opcodes
from analyzers.source.project import Project


@dataclass(frozen=True)
class RankedMatch:
    """A match, and the turn in which its candidates are tried."""

    match: Match
    turn: int


def in_pairs(
    found: Sequence[RankedMatch], own: Sequence[RankedMatch]
) -> Iterator[tuple[RankedMatch, RankedMatch | None]]:
    """Yield each match that was found with helpers inlined, and the script's own match of the same
    pattern.
    """
    left = list(own)
    for one in found:
        same = next((other for other in left if other.match.pattern == one.match.pattern), None)
        if same is not None:
            left.remove(same)
        yield one, same


def of_script(project: Project, cause: RankedCause, view: Inlined) -> RankedCause:
    """Return a cause with the code of the script's own lines."""

    def shown(event: GraphEvent | None) -> GraphEvent | None:
        if event is None:
            return None
        place = event.place
        return replace(event, code=project.code(place.file, place.line))

    place = cause.location
    return replace(
        cause,
        code=project.code(place.file, place.line),
        created=shown(cause.created),
        freed_by=shown(cause.freed_by),
        reached_again_by=shown(cause.reached_again_by),
        explanation=view.restored(place.file, cause.explanation)[0],
    )


def in_place(
    project: Project, own: Sequence[Candidate], found: Sequence[Candidate], view: Inlined
) -> list[Candidate]:
    """Return the candidates found with helpers inlined, with their calls restored, and the script's
    own. If a candidate changes what a call denotes, the script's own for the same place goes first.
    """
    return by_preference(_distinct(project, own, found, view))


def _distinct(
    project: Project, own: Sequence[Candidate], found: Sequence[Candidate], view: Inlined
) -> Iterator[Candidate]:
    seen: list[dict[str, str]] = []
    turn = next((candidate.turn for candidate in (*found, *own)), 0)
    chosen = [_chosen(project, candidate, own, view) for candidate in found]
    for candidate in (*chosen, *own):
        if candidate.files not in seen:
            seen.append(candidate.files)
            yield replace(candidate, turn=turn)


def _chosen(
    project: Project, candidate: Candidate, own: Sequence[Candidate], view: Inlined
) -> Candidate:
    again = {path: view.restored(path, text) for path, text in candidate.files.items()}
    made = replace(candidate, files={path: text for path, (text, _) in again.items()})
    gone = [one for _, lost in again.values() for one in lost]
    for other in own if gone else ():
        lines = _changed(project, other)
        helpers = {(one.module.path, one.answer.lineno) for one in gone}
        if other.strategy == candidate.strategy and (
            lines & helpers or lines == _changed(project, made)
        ):
            return other
    return made


def _changed(project: Project, candidate: Candidate) -> set[tuple[str, int]]:
    """Return the lines that a candidate changes or removes, each with its file."""
    found: set[tuple[str, int]] = set()
    for path, text in candidate.files.items():
        parts = opcodes(project.files[path].splitlines(), text.splitlines())
        for tag, start, end, *_ in parts:
            found |= {(path, line + 1) for line in range(start, end) if tag != "equal"}
    return found
