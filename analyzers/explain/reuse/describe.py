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


def line(place: CodeLine, project: Project) -> str:
    """Return `line 41` with its code; with the file too if the project has several. In a notebook:
    `cell 4, line 3`.
    """
    code = project.code(place.file, place.line)
    module = project.module(place.file)
    cell = module.cell_at(place.line) if module is not None and project.notebook else None
    where = f"line {place.line}"
    if cell is not None:
        where = cell.place(place.line)
    elif len(project.modules) > 1 or place.file != project.entry:
        where += f" of `{place.file}`"
    return f"{where} (`{code}`)" if code else where


def call(backward_call: BackwardCall, project: Project) -> str:
    """Return a backward call's line, with its number if it ran several times."""
    times = f" (pass {backward_call.iteration})" if backward_call.iteration > 1 else ""
    return line(backward_call.at, project) + times


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
    used = f"The backward at {call(reuse.freed, project)} used that graph up"
    parts.append(f"{used}, and it was freed." if not reuse.hidden else f"{used}.")
    again = f"The backward at {call(reuse.reached, project)} needed it again"
    if edge is not None and edge.new is not None and edge.new.at is not None and match.carrier:
        again += f" through {line(edge.new.at, project)}"
    parts.append(again + ".")
    if match.boundary.place is not None and match.boundary.kind in ("loop", "epoch"):
        where = line(match.boundary.place, project)
        parts.append(f"It went from one pass to the next of the loop at {where}.")
    if reuse.hidden:
        parts.append(
            "`retain_graph=True` keeps it, so that nothing is raised: each step is taken along "
            "gradients of weights that are no more."
        )
    return " ".join(parts)
