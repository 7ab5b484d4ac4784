"""Find the causes of evidence, each with candidate patches as whole files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, GraphReuse, KnownError, SilentFault
from analyzers.explain import known
from analyzers.explain.inlined import Inlined, inlined
from analyzers.explain.inlined_evidence import concerns, translated
from analyzers.explain.pattern import (
    CrossedBoundary,
    Match,
    Proposal,
    patterns,
)
from analyzers.explain.renamed import in_read_names
from analyzers.explain.sentences import described
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.blocks import joined
from analyzers.repair.edit_search.transform import edits_for
from analyzers.repair.forbidden import is_forbidden
from analyzers.repair.rewrite import without_retaining
from analyzers.request.causes import OPTIMIZER, Candidate, GraphEvent, RankedCause
from analyzers.request.in_place import RankedMatch, in_pairs, in_place, of_script
from analyzers.request.ranking import MAX_CANDIDATES, by_preference, in_turns
from analyzers.request.traceback_only import explained, is_vague, usual
from analyzers.source.edits import EditConflict, apply, leave_python
from analyzers.source.project import Project
from provenance import BackwardCall, Node

MAX_CAUSES = 4
Proposing = Callable[[Match, Project], Iterator[Proposal]]
"""What proposes edits for a match."""
_FOUND_BY_SEARCH = (
    "Found by search among the edits that the run suggests: no known fix of this cause passed."
)
MAX_PROPOSALS = 2 * MAX_CANDIDATES  # that are looked at, for the preferred ones to be among them


def causes_of(
    project: Project, evidence: Iterable[Evidence], *, searched: bool = False
) -> list[RankedCause]:
    """Return the causes of the evidence, most certain first, with what their patterns propose; or,
    if `searched`, with every edit that the evidence itself suggests. Calls of one-line helpers are
    analyzed as if inlined, too: a match in either text gives one cause.
    """
    proposing = _searched if searched else _proposals
    pieces = tuple(in_read_names(project, piece) for piece in evidence)
    matches = [matches_of(piece, project) for piece in pieces]
    if project.recalled and not any(matches):
        matches = [usual(piece, project) for piece in pieces]
    own = _ordered(matches)
    view = inlined(project) if pieces and not project.recalled else None
    again = [piece for piece in pieces if view is not None and concerns(view, piece)]
    if view is not None and again:
        inside = {id(piece): matches_of(translated(view, piece), view.project) for piece in again}
        both = [inside.get(id(p), found) for p, found in zip(pieces, matches, strict=True)]
        of_view = {id(match) for found in inside.values() for match in found}
        pairs = in_pairs(_ordered(both), own)
        causes = [
            _seen_twice(one, same, project, view, proposing)
            if id(one.match) in of_view
            else _explained(one, project, _candidates(one, project, proposing))
            for one, same in pairs
        ]
        if causes:
            return causes
    return [_explained(one, project, _candidates(one, project, proposing)) for one in own]


def is_recognised(project: Project, piece: Evidence) -> bool:
    """Return True if a cause matches the evidence, in the source as it is or with calls inlined."""
    piece = in_read_names(project, piece)
    if matches_of(piece, project):
        return True
    view = inlined(project)
    return view is not None and bool(matches_of(translated(view, piece), view.project))


def _ordered(found: Iterable[Sequence[Match]]) -> list[RankedMatch]:
    """Return the matches of the evidence in the order in which their causes are shown."""
    turns = enumerate(in_turns(found))
    return [RankedMatch(match, turn) for turn, matches in turns for match in matches][:MAX_CAUSES]


def _seen_twice(
    found: RankedMatch,
    own: RankedMatch | None,
    project: Project,
    view: Inlined,
    proposing: Proposing,
) -> RankedCause:
    """Return the cause of a match with helpers inlined, described as for the script itself if it
    matches there too, with the candidates of both.
    """
    theirs = _candidates(own, project, proposing) if own is not None else []
    candidates = in_place(project, theirs, _candidates(found, view.project, proposing), view)
    if own is not None:
        return _explained(own, project, candidates)
    return of_script(project, _explained(found, view.project, candidates), view)


def matches_of(piece: Evidence, project: Project) -> list[Match]:
    """Return the match of every pattern that applies to a piece of evidence: of an error that the
    message identifies, that of its kind.
    """
    if isinstance(piece, KnownError):
        return [match for match in (known.matched(piece, project),) if match is not None]
    others = (pattern for pattern in patterns().values() if hasattr(pattern, "match"))
    found = (pattern.match(piece, project) for pattern in others)
    return [match for match in found if match is not None]


def _explained(one: RankedMatch, project: Project, candidates: list[Candidate]) -> RankedCause:
    """Return the cause of a match. Of a traceback alone, nothing can be patched and little is
    certain.
    """
    match, recalled = one.match, project.recalled
    evidence, pattern = match.evidence, patterns()[match.pattern]
    title = match.title or pattern.TITLE
    code = project.code(match.location.file, match.location.line)
    created, freed, reached = (None, None, None) if recalled else _graph_events(evidence, project)
    if isinstance(evidence, SilentFault) and match.location == evidence.optimizer_at:
        created = GraphEvent(match.location, code, op=OPTIMIZER)
    return RankedCause(
        pattern=match.pattern,
        title=title,
        certainty=Certainty.USUAL if recalled and is_vague(match) else match.certainty,
        basis="error" if recalled else "read" if evidence.how == "predicted" else "seen",
        how=evidence.how,
        engine=evidence.engine if isinstance(evidence, GraphReuse | SilentFault) else "torch",
        location=match.location,
        code=code,
        carrier=match.carrier,
        boundary=CrossedBoundary() if recalled else match.boundary,
        created=created,
        freed_by=freed,
        reached_again_by=reached,
        explanation=explained(title, match.location, code)
        if recalled
        else explanation_of(match, project),
        parameters=evidence.params if isinstance(evidence, SilentFault) else (),
        silent=isinstance(evidence, SilentFault),
        by_message=isinstance(evidence, KnownError),
        remedy=match.remedy,
        candidates=candidates,
    )


def explanation_of(match: Match, project: Project) -> str:
    """Return what a match shows, in Markdown."""
    if isinstance(match.evidence, KnownError):
        return known.explain(match, project)
    pattern = patterns()[match.pattern]
    if (own := getattr(pattern, "explain", None)) is not None:
        explained: str = own(match, project)
        return explained
    return f"{described(match, project)} {pattern.CONCLUSION}"


def _candidates(one: RankedMatch, project: Project, proposing: Proposing) -> list[Candidate]:
    """Return the proposals for a match as patched files, preferred ones first. Proposals that
    cannot be applied are left out.
    """
    if project.recalled:
        return []
    match, found = one.match, list[Candidate]()
    proposals = proposing(match, project)
    for proposal in (p for one in proposals for p in _released(one, match, project)):
        if is_forbidden(proposal, match.evidence, project):
            continue
        files = patched(project, proposal)
        if files and all(other.files != files for other in found):
            found.append(
                Candidate(
                    match.pattern,
                    proposal.strategy,
                    proposal.title,
                    files,
                    proposal.tradeoff,
                    proposal.rank,
                    one.turn,
                    proposal.last_resort,
                    proposal.half,
                    proposal.whole,
                )
            )
        if len(found) == MAX_PROPOSALS:
            break
    most = MAX_PROPOSALS if proposing is _searched else MAX_CANDIDATES
    return by_preference(found)[:most]


def _proposals(match: Match, project: Project) -> Iterator[Proposal]:
    """Yield the fixes of a match, up to one whose edits conflict."""
    with suppress(EditConflict):
        yield from fixes_of(match, project)


def fixes_of(match: Match, project: Project) -> Iterator[Proposal]:
    """Yield the pattern's own fixes, if what it matched decides about them; else the edits that the
    evidence suggests, those that it prefers if it prefers any.
    """
    pattern = patterns()[match.pattern]
    if (own := getattr(pattern, "fixes", None)) is not None:
        yield from own(match, project)
    else:
        preferred, also = getattr(pattern, "PREFERS", ()), getattr(pattern, "ALSO", ())
        yield from edits_for(match.evidence, project, preferred, also)


def _searched(match: Match, project: Project) -> Iterator[Proposal]:
    """Yield the edits that the evidence suggests, whatever the pattern, but none that is only a
    last resort.
    """
    for proposal in edits_for(match.evidence, project):
        if not proposal.last_resort:
            tradeoff = f"{_FOUND_BY_SEARCH} {proposal.tradeoff}".rstrip()
            yield replace(proposal, tradeoff=tradeoff)


def _released(proposal: Proposal, match: Match, project: Project) -> Iterator[Proposal]:
    """Yield the fix of a fault that a retained graph hid: first with `retain_graph` removed, then
    as it is.
    """
    reuse = match.evidence
    if isinstance(reuse, GraphReuse) and reuse.hidden:
        calls = dict.fromkeys((reuse.freed.at, reuse.reached.at))
        let_go = [edit for at in calls for edit in without_retaining(resolve_location(project, at))]
        yield replace(proposal, edits=joined([*proposal.edits, *let_go]))
    yield proposal


def patched(project: Project, proposal: Proposal) -> dict[str, str]:
    """Return the files that the proposal changes; empty if its edits conflict, change nothing or do
    not give valid Python.
    """
    files: dict[str, str] = {}
    for path in {edit.path for edit in proposal.edits}:
        edits = [edit for edit in proposal.edits if edit.path == path]
        module = project.module(path)
        try:
            text = apply(project.files[path], edits)
        except EditConflict:
            return {}
        if module is None or not leave_python(module, edits, text):
            return {}
        if text != project.files[path]:
            files[path] = text
    return files


def _graph_events(
    evidence: Evidence, project: Project
) -> tuple[GraphEvent | None, GraphEvent | None, GraphEvent | None]:
    """Return the events: created, freed (or changed, or lost), reached again."""
    if isinstance(evidence, GraphReuse):
        edge = next(
            (j for j in evidence.stale_edges if j.holders), next(iter(evidence.stale_edges), None)
        )
        # Lines that ran again before the failing call made the freed graph in that iteration.
        when = evidence.freed.iteration if evidence.remade else None
        made = _node(edge.old, project, when) if edge is not None else None
        return made, _visit(evidence.freed, project), _visit(evidence.reached, project)
    node = getattr(evidence, "node", None)
    made = _node(node, project) if isinstance(node, Node) else None
    changes = getattr(evidence, "changes", ())
    changed = changes[-1] if changes else None
    ended = changed.at if changed is not None else getattr(evidence, "ended_at", None)
    op = changed.op if changed is not None else getattr(evidence, "lost_by", None)
    freed = GraphEvent(ended, project.code(ended.file, ended.line), None, op) if ended else None
    reached = getattr(evidence, "reached", None) or getattr(evidence, "call", None)
    at = evidence.at
    if isinstance(reached, BackwardCall):
        return made, freed, _visit(reached, project)
    return made, freed, GraphEvent(at, project.code(at.file, at.line)) if at else None


def _node(node: Node, project: Project, iteration: int | None = None) -> GraphEvent | None:
    if node.at is None:
        return None
    code = project.code(node.at.file, node.at.line)
    return GraphEvent(node.at, code, iteration, node.op or None)


def _visit(backward_call: BackwardCall, project: Project) -> GraphEvent:
    code = project.code(backward_call.at.file, backward_call.at.line)
    return GraphEvent(backward_call.at, code, backward_call.iteration, backward_call.kind)
