"""Explain errors whose message identifies the kind of fault: find where the
source shows the cause.
"""

from __future__ import annotations

import ast

from analyzers.advice import Hint, hints_of
from analyzers.certainty import Certainty
from analyzers.evidence import KnownError
from analyzers.explain.listed import some
from analyzers.explain.pattern import GraphCarrier, Match, pattern_for
from analyzers.explain.reuse.describe import line
from analyzers.explain.source_locations import resolve_location
from analyzers.messages import Message, catalogue
from analyzers.source.backward import BACKWARD_CALLS, backward_root
from analyzers.source.callees import is_call
from analyzers.source.project import Project, spelled
from analyzers.tracebacks import ParsedTraceback, TracebackFrame
from provenance import CodeLine

HINTS = "hints"


def matched(error: KnownError, project: Project) -> Match | None:
    """Return a match of the error's kind at the first line that the causes of the message find,
    else where it was raised; None if no pattern is of the kind, or neither line is known.
    """
    entry, pattern = catalogue()[error.entry], pattern_for(error.kind)
    found = list(hints_of(entry, project, as_error(error)))
    first = next((hint for hint in found if hint.place is not None and hint.blames), None)
    at = first.place if first is not None else error.at
    if pattern is None or at is None:
        return None
    certainty = Certainty.LIKELY if first is not None else Certainty.POSSIBLE
    best = first or next(iter(found), None)
    remedy = "" if best is None else best.text if best.place == at else with_line(best)
    name = _name_at(error, at, project) if error.names or first is not None else ""
    carrier = GraphCarrier(name, at) if name else None
    facts: dict[str, object] = {HINTS: found}
    return Match(
        pattern, certainty, error, at, carrier, facts=facts, title=entry.title, remedy=remedy
    )


def _name_at(error: KnownError, at: CodeLine, project: Project) -> str:
    """Return what the message names; else what the line binds, changes, or defines."""
    if error.names:
        return error.names[0]
    where = resolve_location(project, at)
    match where.statement if where is not None else None:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[target, *_]) | ast.AugAssign(target=target):
            return spelled(target)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner)) as call):
            root = backward_root(call) if is_call(call, *BACKWARD_CALLS) else owner
            return spelled(root if root is not None else owner)
    return ""


def as_error(error: KnownError) -> ParsedTraceback:
    """Return the error in the form of a parsed traceback."""
    own = [TracebackFrame(p.file, p.line, p.function) for p in error.stack]
    others = [TracebackFrame(p.file, p.line, p.function, is_library=True) for p in error.through]
    return ParsedTraceback(message=error.message, frames=(*own, *others))


def remedy_of(entry: Message, message: str, project: Project) -> str:
    """Return what the likeliest cause of a message is, and its remedy; '' if none is known."""
    hints = hints_of(entry, project, ParsedTraceback(message=message, frames=()))
    return with_line(hints[0]) if hints else ""


def with_line(hint: Hint) -> str:
    """Return a hint as a complete sentence, with its line."""
    if hint.place is None:
        return hint.text[:1].upper() + hint.text[1:]
    return f"Line {hint.place.line}: {hint.text}"


def hints_in(match: Match) -> list[Hint]:
    """Return what the causes of the message found, likeliest first."""
    found = match.facts.get(HINTS, [])
    assert isinstance(found, list)
    return found


def explain(match: Match, project: Project) -> str:
    """Return Markdown: what the message means, what it names, which lines show the cause, and what
    to do.
    """
    error = match.evidence
    assert isinstance(error, KnownError)
    entry = catalogue()[error.entry]
    parts = [entry.means, _named(error), error.details]
    shown = [hint for hint in hints_in(match) if not hint.usual][:2] or hints_in(match)[:1]
    parts += [_at(hint) for hint in shown]
    if all(hint.place != match.location for hint in shown):
        parts.insert(1, f"It was raised at {line(match.location, project)}.")
    parts += [f"Not this: {wrong}" for wrong in entry.wrong[:1]]
    return " ".join(part for part in parts if part)


def _named(error: KnownError) -> str:
    return f"It names {some(error.names)}." if error.names else ""


def _at(hint: Hint) -> str:
    if hint.place is None:
        return with_line(hint)
    quoted = not hint.code or "`" in hint.code or f"`{hint.code}`" in hint.text
    code = "" if quoted else f" (`{hint.code}`)"
    return f"Look at line {hint.place.line}{code}: {hint.text}"
