"""Describe second uses, in-place changes, missing graphs and silent faults from the evidence."""

from __future__ import annotations

from analyzers.evidence import GraphReuse, InplaceChange, MissingGraph, SilentFault
from analyzers.explain.listed import some
from analyzers.explain.pattern import Match, evidence_in
from analyzers.explain.reuse.describe import account, line
from analyzers.source.project import Project


def described(match: Match, project: Project) -> str:
    """Describe the evidence of a match."""
    match match.evidence:
        case GraphReuse():
            return account(match, project)
        case InplaceChange():
            return changed(match, project)
        case MissingGraph():
            return missing(match, project)
    return measured(match, project)


def changed(match: Match, project: Project) -> str:
    """Describe what saved the tensor, what changed it, and what needed it."""
    evidence = evidence_in(match, InplaceChange)
    who = f"`{match.carrier.name}`" if match.carrier and match.carrier.name else "a tensor"
    if evidence.is_parameter and evidence.parameter:
        who = f"the parameter `{evidence.parameter}`"
    if evidence.kind != "saved":
        return f"At {line(match.location, project)}, {who} is changed in place."
    parts: list[str] = []
    if evidence.node is not None and evidence.node.at is not None:
        op = evidence.node.op.rstrip("0123456789").removesuffix("Backward")
        where = line(evidence.node.at, project)
        parts.append(f"At {where}, `{op}` kept {who} for its backward.")
    places = [c.at for c in evidence.changes if c.at is not None]
    if places:
        text = ", and at ".join(line(place, project) for place in dict.fromkeys(places[:3]))
        parts.append(f"It was changed in place at {text}.")
    if evidence.reached is not None:
        where = line(evidence.reached.at, project)
        parts.append(f"The backward at {where} then needed the value from before the change.")
    return " ".join(parts)


def missing(match: Match, project: Project) -> str:
    """Describe what needed a graph and where the graph ended."""
    evidence = evidence_in(match, MissingGraph)
    who = f"`{match.carrier.name}`" if match.carrier and match.carrier.name else "the tensor"
    text = ""
    if evidence.at is not None:
        text = f"The graph of {who} is needed at {line(evidence.at, project)}."
    if evidence.ended_at is not None and evidence.ended_at != evidence.at:
        text += f" It comes from {line(evidence.ended_at, project)}."
    return text


def measured(match: Match, project: Project, meaning: str = "") -> str:
    """Describe where a silent fault was seen and what was measured; `meaning`: what the figures
    are.
    """
    evidence = evidence_in(match, SilentFault)
    text = f"Seen at {line(match.location, project)}."
    if evidence.params:
        text += f" It concerns {some(evidence.params)}."
    if evidence.figures and meaning:
        text += f" {meaning}: {_measurements(evidence)}."
    if evidence.detail:
        text += f" {evidence.detail[:1].upper()}{evidence.detail[1:].rstrip('.')}."
    return text


def _measurements(evidence: SilentFault) -> str:
    """List what was measured, with the iteration of each figure if some were left out."""
    figures = [f"{figure:g}" for figure in evidence.figures[:6]]
    if len(evidence.iterations) == len(evidence.figures):
        figures = [
            f"{f} at iteration {n}" for f, n in zip(figures, evidence.iterations, strict=False)
        ]
    return ", ".join(figures)
