"""Add hints to what static analysis found, and causes that only an error shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from analyzers.advice import Hint, certain_hints, hints, hints_of
from analyzers.certainty import Certainty
from analyzers.evidence import Reading
from analyzers.explain.listed import lowered
from analyzers.explain.pattern import pattern_for, patterns
from analyzers.explain.source_locations import resolve_location
from analyzers.messages import (
    Asked,
    Message,
    asks_something,
    catalogue,
    nearest_in,
    question_in,
)
from analyzers.paste.pasted import title_of
from analyzers.request.binding import explained_by
from analyzers.request.causes import RankedCause, classify
from analyzers.request.examined import Examined
from analyzers.request.traceback_only import evidence_of, files_of, without_sources
from analyzers.source.project import Project
from analyzers.tracebacks import ParsedTraceback, TracebackFrame, lines_of_error
from analyzers.tracebacks.libraries import libraries_used

_USUAL = {"", "torch", "numpy"}  # packages whose import says nothing of a question
_CUT_OFF = "backward-cut-off"  # the entry of an error in a backward whose message was not sent
_OF_ONE_LINE = ("graph-reuse", "inplace", "no-grad")  # families whose messages have no line breaks


def with_hints(examined: Examined, sent: str) -> Examined:
    """Return the result with hints about an error of a known kind. `sent`: the words around the
    code, and the input that contained the error; both may contain settings too.
    """
    error, project = examined.traceback, examined.project
    if error is not None and _is_cut_off(error):
        return _of_question(examined, _asked_or_cut_off(examined, sent), _all_words(sent, examined))
    if error is None or not (error.exception or error.frames):
        return _of_question(examined, _asked(examined, sent), _all_words(sent, examined))
    words = {"": "\n".join((_words(sent, project), *_below_message(error)))}
    found = hints(project, error, words)
    if explained_by(error) is None:
        if found:
            return replace(examined, hints=found)
        asked = _asked(examined, _of_unknown(error, sent))
        general = asked is not None and asked.entry.general
        return _of_question(examined, None if general else asked, words)
    causes = _causes_of_traceback(error, project.entry) or _cause_of_hint(error, found, project)
    return replace(examined, from_traceback=as_shown(causes, found), hints=found)


def _is_cut_off(error: ParsedTraceback) -> bool:
    """Return True if what was raised is missing, and the lines show that a backward raised it."""
    last = error.frames[-1] if error.frames else None
    within = last is not None and last.is_library and "backward" in (last.function + last.code)
    return not error.exception and (within or bool(error.forward_op))


def _asked_or_cut_off(examined: Examined, sent: str) -> Asked:
    """Return what the words ask, if they ask more than why an error is raised in a backward."""
    asked = _asked(examined, sent) if examined.pasted else None
    known = asked is not None and asked.known and not asked.entry.general
    return asked if asked is not None and known else Asked(catalogue()[_CUT_OFF], True)


def _all_words(sent: str, examined: Examined) -> dict[str, str]:
    return {"": _words(sent, examined.project)}


def _of_unknown(error: ParsedTraceback, sent: str) -> str:
    """Return what is asked of frames alone, or of an error that is not known: the title, with the
    libraries that the frames show to be in use, and all else that was sent; of an error, only what
    a failed assertion says.
    """
    used = libraries_used(sent)
    if not error.exception:
        return _with_used(sent, used)
    failed = error.message.splitlines() if error.exception == "AssertionError" else []
    return "\n".join([title_of(sent), "", *(_with_used(line, used) for line in failed)])


def _with_used(sent: str, used: Sequence[str]) -> str:
    """Return words with what is in use in their title."""
    title, *said = sent.strip().splitlines() or [""]
    under = f" ({', '.join(used)})" if used else ""
    return "\n".join([f"{title}{under}", *(["", *said] if said else ())])


def _asked(examined: Examined, sent: str) -> Asked | None:
    """Return what is asked; in words around code or alone, also the nearest question that is known.
    Comments of a script ask only what is known."""
    if examined.no_program or examined.pasted:
        return nearest_in(_with_used(sent, _imported(examined.project)))
    question = question_in(sent)
    return Asked(question, True) if question is not None else None


def _imported(project: Project) -> list[str]:
    """Return the packages that the code imports: what it imports is what is asked about."""
    modules = project.modules.values()
    plain = (name.name for m in modules for node in m.each(ast.Import) for name in node.names)
    parts = (node.module or "" for m in modules for node in m.each(ast.ImportFrom))
    return sorted({name.partition(".")[0] for name in (*plain, *parts)} - _USUAL)


def _of_question(examined: Examined, asked: Asked | None, words: dict[str, str]) -> Examined:
    """Return the result with what is known of a question, after what a line surely is."""
    project, error = examined.project, examined.traceback or ParsedTraceback()
    certain = _certain(project, words) if examined.pasted else None
    if asked is None or (certain is not None and not asked.known):
        asked = Asked(certain[0], True) if certain is not None else None
    if asked is None:
        return replace(examined, hints=(), asked=None)
    entry = asked.entry
    first = certain[1] if certain is not None else ()
    found = tuple(dict.fromkeys((*first, *hints_of(entry, project, error, words))))
    if entry.family == "engine" and not _names_torch(project):
        examined = replace(examined, reading=Reading())  # its rules are torch's
    shown = found if asked.known else _of_nearest(found, asked.named)
    return replace(examined, hints=shown, asked=entry.id)


def _of_nearest(found: Sequence[Hint], named: str) -> tuple[Hint, ...]:
    """Return hints about a question that is only the nearest to the one that is asked."""
    about = f"the question itself is not known here; about “{named}”: "
    return tuple(
        replace(hint, text=about + hint.text, usual=False) if hint.usual else hint
        for hint in found
        if hint.usual or hint.words or hint.place is not None
    )


def _certain(project: Project, words: dict[str, str]) -> tuple[Message, tuple[Hint, ...]] | None:
    """Return what a line surely is, whatever the words around it ask, with the entry that says so;
    None without such a line, or if the words ask nothing.
    """
    return sure_line(project) if asks_something(words[""]) else None


def sure_line(project: Project) -> tuple[Message, tuple[Hint, ...]] | None:
    """Return the first entry of which a line surely is a cause, with the lines."""
    found = ((entry, certain_hints(entry, project)) for entry in catalogue().values())
    return next(((entry, hints) for entry, hints in found if hints), None)


def _names_torch(project: Project) -> bool:
    return any("torch" in text for text in project.files.values())


def _words(sent: str, project: Project) -> str:
    """Return the lines of an input that belong neither to an error nor to code that was read."""
    of_error = lines_of_error(sent)
    modules = project.modules.values()
    code = {m.code(n) for m in modules for n in range(1, len(m.lines) + 1) if m.statement_at(n)}
    lines = enumerate(sent.splitlines())
    return "\n".join(line for at, line in lines if at not in of_error and line.strip() not in code)


def _below_message(error: ParsedTraceback) -> list[str]:
    """Return what somebody wrote on the lines below a message of a kind that has one line."""
    return error.message.splitlines()[1:] if error.family in _OF_ONE_LINE else []


def _causes_of_traceback(error: ParsedTraceback, entry: str) -> tuple[RankedCause, ...]:
    """Return the causes that follow from the traceback alone."""
    found = evidence_of(error, entry)
    project = Project(files_of(error, entry), entry, recalled=True)
    causes = classify(project, (found,)) if found is not None else []
    return tuple(
        replace(c, explanation=without_sources(c.title, c.location, c.code)) for c in causes
    )


def as_shown(causes: Iterable[RankedCause], found: Sequence[Hint]) -> tuple[RankedCause, ...]:
    """Return the causes with what words, settings or a line show in place of the remedy that is
    only the message's usual one.
    """
    usual = {hint.text.lower() for hint in found if hint.usual}
    shown = next((hint for hint in found[:1] if not hint.usual and not hint.vague), None)
    if shown is None:
        return tuple(causes)
    remedy = shown.text[:1].upper() + shown.text[1:]
    return tuple(
        replace(_pointed_to(c, shown.points_to), remedy=remedy)
        if c.remedy.lower() in usual or (shown.points_to and c.certainty is Certainty.USUAL)
        else c
        for c in causes
    )


def _cause_of_hint(
    error: ParsedTraceback, found: Sequence[Hint], project: Project
) -> tuple[RankedCause, ...]:
    """Return the cause that a message without frames identifies, at the likeliest line. A guess
    justifies only one cause, and only in the entry: nothing shows that lines of other files are
    executed.
    """
    first = next((hint for hint in found if hint.place is not None and hint.blames), None)
    alone = error.kind is not None or error.family == "engine"
    if not alone or first is None or first.place is None or project.recalled:
        return ()
    if first.place.file != project.entry:
        return ()
    frame = TracebackFrame(first.place.file, first.place.line, "", _whole(first, project))
    made = (frame,) if error.family == "engine" else error.forward_frames
    causes = _causes_of_traceback(
        replace(error, frames=(frame,), forward_frames=made), project.entry
    )
    shown = first.points_to is not None
    return tuple(
        replace(
            _pointed_to(cause, first.points_to),
            certainty=Certainty.LIKELY if shown else Certainty.USUAL,
            remedy=first.text,
            explanation=f"The message says: {lowered(cause.title)}. No run and "
            f"no reading shows where. The likeliest of the lines sent is line {first.place.line}: "
            f"{first.text}",
        )
        for cause in causes[:1]
    )


def _pointed_to(cause: RankedCause, kind: str | None) -> RankedCause:
    """Return the cause as one of the pattern for another kind of fault."""
    name = pattern_for(kind)
    if name is None:
        return cause
    title = patterns()[name].TITLE
    explanation = cause.explanation.replace(cause.title, title)
    return replace(cause, pattern=name, title=title, carrier=None, explanation=explanation)


def _whole(hint: Hint, project: Project) -> str:
    """Return the simple statement that contains the hint's line, on one line."""
    where = resolve_location(project, hint.place)
    node = where.statement if where is not None else None
    return ast.unparse(node) if isinstance(node, ast.Assign | ast.Expr) else hint.code
