"""Describe a reused graph in sentences that use only facts of the evidence."""

from __future__ import annotations

import ast
from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import GraphReuse
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.locating import taken_on
from analyzers.explain.source_locations import resolve_location
from analyzers.source.backward import BACKWARD_CALLS, backward_root
from analyzers.source.project import Project
from provenance import BackwardCall, CodeLine


def matched(
    story: ReuseFeatures,
    pattern: str,
    certainty: Certainty,
    location: CodeLine | None = None,
    **facts: object,
) -> Match:
    """Return a match on a reuse, with its carrier and boundary."""
    carrier = story.carriers[0] if story.carriers else None
    if carrier is not None and (taken := taken_on(story)) is not None:
        carrier = replace(carrier, place=taken)
    place = location or (carrier.place if carrier else None) or story.reuse.reached.at
    return Match(
        pattern, certainty, story.reuse, place, carrier, story.boundary, {"story": story, **facts}
    )


def story_in(match: Match) -> ReuseFeatures:
    """Return the features of the reuse that was matched."""
    story = match.facts["story"]
    assert isinstance(story, ReuseFeatures)
    return story


def line(at: CodeLine, project: Project) -> str:
    """Return a place with its code: ``line 41 (`loss.backward()`)``."""
    code = project.code(at.file, at.line)
    return f"{numbered(at, project)} (`{code}`)" if code else numbered(at, project)


def numbered(at: CodeLine, project: Project) -> str:
    """Return `line 41`, with its file if the project has several; in a notebook:
    `cell 4, line 3`.
    """
    module = project.module(at.file)
    cell = module.cell_at(at.line) if module is not None and project.notebook else None
    if cell is not None:
        return cell.place(at.line)
    alone = len(project.modules) == 1 and at.file == project.entry
    return f"line {at.line}" if alone else f"line {at.line} of `{at.file}`"


def _same_line(one: CodeLine, other: CodeLine) -> bool:
    return (one.file, one.line) == (other.file, other.line)


def _when(call: BackwardCall) -> str:
    """Return in which iteration a backward call ran; '' for the first."""
    return f" in iteration {call.iteration}" if call.iteration > 1 else ""


def makes_none(place: CodeLine, project: Project) -> bool:
    """Return True for a line that only calls backward on a name: it makes no graph, but something
    was synthesized for the name there.
    """
    where = resolve_location(project, place)
    backward = where.call(*BACKWARD_CALLS) if where is not None else None
    match where.statement if where is not None else None:
        case ast.Expr(value=ast.Call() as alone) if alone is backward:
            return isinstance(backward_root(alone), ast.Name | ast.Attribute)
    return False


def account(match: Match, project: Project) -> str:
    """Return what happened to the graph, in the script's own names and lines."""
    story = story_in(match)
    reuse: GraphReuse = story.reuse
    parts: list[str] = []
    edge = story.edge
    who = f"`{match.carrier.name}`" if match.carrier else "A tensor"
    if edge is not None and edge.old.at is not None:
        made = f"made at {line(edge.old.at, project)}"
        if makes_none(edge.old.at, project):
            made = "made by a forward pass that was not sent"
        parts.append(f"{who} holds a graph that was {made}.")
    used = f"The backward at {line(reuse.freed.at, project)} used that graph{_when(reuse.freed)}"
    again = f"needed it again{_when(reuse.reached)}"
    if edge is not None and edge.new is not None and edge.new.at is not None and match.carrier:
        named = numbered if edge.old.at and _same_line(edge.old.at, edge.new.at) else line
        again += f", through {named(edge.new.at, project)}"
    if _same_line(reuse.freed.at, reuse.reached.at):
        parts.append(f"{used}{'' if reuse.hidden else ', freed it,'} and {again}.")
    else:
        parts.append(f"{used}{'' if reuse.hidden else ' and freed it'}.")
        parts.append(f"The backward at {line(reuse.reached.at, project)} {again}.")
    if match.boundary.place is not None and match.boundary.kind in ("loop", "epoch"):
        where = line(match.boundary.place, project)
        parts.append(f"The loop at {where} passes it from one iteration to the next.")
    if reuse.hidden:
        parts.append(
            "`retain_graph=True` keeps it, so nothing is raised: each step uses gradients "
            "of weights that have changed since."
        )
    return " ".join(parts)
