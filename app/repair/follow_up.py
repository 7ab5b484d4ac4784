"""Find the faults that a patched run shows after the first one is fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from analyzers.evidence import Evidence, GraphReuse, InplaceChange, SilentFault
from analyzers.explain.listed import lowered
from analyzers.request.causes import (
    Candidate,
    GraphEvent,
    RankedCause,
    classify,
)
from analyzers.request.ranking import MAX_CANDIDATES, candidates_of
from analyzers.source.linediff import original_line
from analyzers.source.project import Project
from app.repair.original import Original
from app.repair.tested_candidate import TestedCandidate
from app.request.case import READING_LIMIT_S, Case
from app.request.reader import Reader, ReadingLimit
from app.run.outcome import len_backwards, silent_kinds
from app.run.run_evidence import observed_evidence
from app.run.tracing import NO_GRADIENT, run_for_changes
from provenance import CodeLine
from sandbox.protocol import Session

LOOKS = 2  # slower runs per round that locate where patched runs lose a graph
SPARING = 2  # patches of a later fault that are tried without the first patch


@dataclass(frozen=True, eq=False)
class LaterFault:
    """A fault that shows after another was fixed.

    `causes` explain it. `candidates` are its patches: alone, if they may make the first patch
    unnecessary, and on top of the first.
    """

    causes: list[RankedCause]
    candidates: list[Candidate]


@dataclass
class Faults:
    """The faults that patched runs showed, without duplicates. `first`: the script's own fault.
    `propose` finds their causes with candidates; `met` holds the keys of faults seen before.
    """

    original: Original
    case: Case
    session: Session
    reader: Reader
    first: Evidence
    propose: Callable[[Project, Iterable[Evidence]], list[RankedCause]] = classify
    met: set[tuple[object, ...]] = field(default_factory=set)

    async def later_faults(self, trials: Sequence[TestedCandidate]) -> list[LaterFault]:
        """Return the faults of patched runs that got further than before or that show a fault not
        seen yet.
        """
        self.met = self.met or {self._signature(self.first, {})}
        found: list[LaterFault] = []
        room, met = MAX_CANDIDATES, set(self.met)
        tried = [trial.candidate.files for trial in trials]
        looks = LOOKS
        for trial in trials:
            evidence = self._new_in(trial, met)
            shown = await self._shown_by(trial) if evidence and room else ()
            if not evidence and room and looks and self._may_have_moved(trial):
                looks -= 1
                evidence = shown = self._moved(await self._shown_by(trial))
            causes = await self._causes_of(shown, trial.candidate.files)
            if trial.candidate.half:
                causes = [_as_sent(cause, trial.candidate, self.case.project) for cause in causes]
            candidates = [c for c in candidates_of(causes) if not c.last_resort][:room]
            if candidates:
                alone = await self._sparing(trial.candidate, shown)
                alone = [one for one in alone if one.files not in tried]
                tried += [one.files for one in alone]
                both = [_on_top(trial.candidate, c) for c in candidates]
                found.append(LaterFault(causes, [*alone, *both]))
                room -= len(candidates) + len(alone)
                self.met.add(self._signature(evidence[0], trial.candidate.files))
        return found

    def _new_in(self, trial: TestedCandidate, met: set[tuple[object, ...]]) -> tuple[Evidence, ...]:
        run, before = trial.run, self.original.failing_call
        if trial.candidate.last_resort or run.trace is None:
            return ()
        found, calls = observed_evidence(run.trace), len_backwards(run)
        known = bool(found) and self._signature(found[0], trial.candidate.files) in met
        if run.status != "raised":  # one more silent fault, or another one of the script
            return found if found and not known and self._is_left(found[0]) else ()
        if trial.candidate.half:
            return () if known else found
        known = known and calls == before
        silent = isinstance(self.first, SilentFault)  # no call of the original shows how far it got
        return () if known or (calls < before and not silent) else found

    def _signature(self, piece: Evidence, changed: Mapping[str, str]) -> tuple[object, ...]:
        """Return a key that identifies a fault in these changed files: its kind, its carriers, and,
        as the same name may be changed in place on several lines, the line as it was sent. A line
        of the patch counts as that of the first fault.
        """
        at = _changed_at(piece)
        if at is not None and at.file in changed:
            sent, patched = self.case.project.files.get(at.file, ""), changed[at.file]
            line = original_line(sent.splitlines(), patched.splitlines(), at.line)
            at = replace(at, line=line) if line else _changed_at(self.first)
        place = (at.file, at.line) if at is not None else ()
        return *_signature(piece), *place

    def _may_have_moved(self, trial: TestedCandidate) -> bool:
        """Return True if the same parameters get no gradient in a patched run, perhaps because of a
        later cut.
        """
        of_this_kind = isinstance(self.first, SilentFault) and self.first.kind == NO_GRADIENT
        finished = trial.run.status == "finished" and not trial.candidate.last_resort
        return of_this_kind and finished and _keeps_lines(trial.candidate, self.case.project)

    def _moved(self, shown: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        """Return what a patched run shows if its graph is lost on another line than before."""
        lost = [one.at for one in (self.first, *shown) if isinstance(one, SilentFault)]
        lines = [(at.file, at.line) for at in lost if at is not None]
        return shown if len(set(lines)) > 1 else ()

    def _is_left(self, fault: Evidence) -> bool:
        """Return True if a silent fault is the script's own and not one that
        the patch introduced.
        """
        if not isinstance(fault, SilentFault):
            return False
        return isinstance(self.first, SilentFault) or fault.kind in silent_kinds(self.original.run)

    async def _shown_by(self, trial: TestedCandidate) -> tuple[Evidence, ...]:
        """Return what a patched run raised, with the same slower run for
        details as the original's.
        """
        project, run = self.case.project, trial.run
        patched = replace(project, files={**project.files, **trial.candidate.files})
        if self.original.time_left_s > run.ran_s:
            run = await run_for_changes(replace(self.case, project=patched), run, self.session)
        return observed_evidence(run.trace) if run.trace is not None else ()

    async def _causes_of(
        self, shown: tuple[Evidence, ...], changed: Mapping[str, str]
    ) -> list[RankedCause]:
        """Return the causes of the evidence, in the project with these changed files."""
        if not shown:
            return []
        project = replace(self.case.project, files={**self.case.project.files, **changed})
        try:
            return await self.reader.call(self.propose, project, shown, timeout=READING_LIMIT_S)
        except ReadingLimit:
            return []

    async def _sparing(self, first: Candidate, shown: tuple[Evidence, ...]) -> list[Candidate]:
        """Return the first patches of the later fault, applied to the files as sent, which may make
        the first patch unnecessary. The first patch must keep all line numbers.
        """
        if first.half or not _keeps_lines(first, self.case.project):
            return []
        found = candidates_of(await self._causes_of(shown, {}))
        return [replace(c, pattern=first.pattern) for c in found if not c.last_resort][:SPARING]


def _as_sent(cause: RankedCause, half: Candidate, sent: Project) -> RankedCause:
    """Return a cause that a partial patch reveals, with the code of the lines as they were sent if
    the patch keeps line numbers.
    """
    combined = replace(cause, explanation=f"{half.title}, and it shows: {cause.explanation}")
    if not _keeps_lines(half, sent):
        return combined

    def quoted(event: GraphEvent | None) -> GraphEvent | None:
        if event is None:
            return None
        return replace(event, code=sent.code(event.place.file, event.place.line))

    return replace(
        combined,
        created=quoted(cause.created),
        freed_by=quoted(cause.freed_by),
        reached_again_by=quoted(cause.reached_again_by),
    )


def _keeps_lines(patch: Candidate, sent: Project) -> bool:
    """Return True if a patch leaves every line at its number."""
    files = patch.files.items()
    return all(text.count("\n") == sent.files[path].count("\n") for path, text in files)


def _changed_at(piece: Evidence) -> CodeLine | None:
    """Return the line of a write that was refused; else that which made what was changed."""
    if not isinstance(piece, InplaceChange):
        return None
    return piece.node.at if piece.node is not None else piece.at


def _signature(piece: Evidence) -> tuple[object, ...]:
    """Return a key that identifies a fault although lines have moved: its kind and its carriers."""
    if isinstance(piece, GraphReuse):
        names = {holder.path for edge in piece.stale_edges for holder in edge.holders}
        return GraphReuse, frozenset(names)
    figures = piece.figures if isinstance(piece, SilentFault) else ()  # less may be retained now
    return type(piece), frozenset(holder.path for holder in piece.holders), figures


def _on_top(first: Candidate, second: Candidate) -> Candidate:
    """Return two patches as one, under the pattern of the fault that was met first; under the
    second's own if the first is only a partial patch.
    """
    alike = first.title == second.title
    title = first.title if alike else f"{first.title}; {lowered(second.title)}"
    return replace(
        second,
        pattern=second.pattern if first.half else first.pattern,
        files={**first.files, **second.files},
        title=title,
        strategy="+".join(dict.fromkeys((first.strategy, second.strategy))),
        tradeoff=" ".join(filter(None, dict.fromkeys((first.tradeoff, second.tradeoff)))),
        rank=first.rank + second.rank,
        half=False,
    )
