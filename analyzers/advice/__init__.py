"""Possible causes of an error that no evidence explains: suspicious lines, each with a remedy.

What to look for, and the wording, come from the catalogue of messages (`analyzers/messages`). Hints
prove nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from analyzers.advice import (
    backward_hooks,
    checkpoints,
    custom_functions,
    detached_terms,
    graphs,
    iterations,
    layers,
    local_derivatives,
    looking,
    loop_state,
    missing_parameters,
    moved_leaves,
    training,
    transformed_functions,
)
from analyzers.advice.hint_ranking import OF_RESULT, Hint, Ranking
from analyzers.advice.looking import BlockLook, Look
from analyzers.advice.recomputed_shapes import shapes_of
from analyzers.advice.saved_results import result_named, writes_to_result
from analyzers.advice.setting_lines import quoted_in, said_in, settings_in
from analyzers.messages import Message, UsualCause, entry_for, plain
from analyzers.source.project import Project
from analyzers.source.reads import names_loaded
from analyzers.tracebacks import ParsedTraceback, TracebackFrame
from provenance import CodeLine

__all__ = ["Hint", "certain_hints", "hints", "hints_of", "looks_for"]


def looks_for(look: Mapping[str, Any]) -> BlockLook | None:
    """Return the look that a cause of the catalogue asks for; None if it needs no syntax.

    Raise KeyError for a name that no look has.
    """
    found: Look | None = None
    if "calls" in look or "keyword" in look:
        found = looking.calls(*look.get("calls", ()), keyword=look.get("keyword", ""))
    elif "storing" in look:
        found = looking.storing(*look["storing"])
    elif "attribute" in look:
        found = looking.attribute(*look["attribute"])
    elif "requires_grad" in look:
        found = looking.requires_grad(look["requires_grad"])
    elif "defines" in look:
        found = looking.defines(*look["defines"])
    elif "mentions" in look:
        found = looking.mentions(*look["mentions"])
    elif "compiled" in look:
        found = looking.compiled
    elif "named" in look:
        return _NAMED[look["named"]]
    if found is not None and "of_values" in look:
        found = looking.of_values(found)
    return graphs.reaching(found) if found is not None and "reaching" in look else found


_NAMED: dict[str, BlockLook] = {
    name: look
    for module in (
        looking,
        graphs,
        backward_hooks,
        iterations,
        layers,
        local_derivatives,
        loop_state,
        missing_parameters,
        moved_leaves,
        checkpoints,
        custom_functions,
        detached_terms,
        training,
        transformed_functions,
    )
    for name, look in vars(module).items()
    if callable(look) and look.__module__.startswith(__name__) and not name.startswith("_")
}


def hints(
    project: Project, error: ParsedTraceback, other_files: Mapping[str, str] | None = None
) -> tuple[Hint, ...]:
    """Return possible causes of the error, for each cause its first line only.

    Lines that the traceback names come first, then functions that it passes through, then others.
    `other_files`: files that are no source (a configuration, a command), by name.
    """
    entry = entry_for(error.message, error.family, error.kind, error.code)
    return hints_of(entry, project, error, other_files) if entry is not None else ()


def hints_of(
    entry: Message,
    project: Project,
    error: ParsedTraceback,
    other_files: Mapping[str, str] | None = None,
) -> tuple[Hint, ...]:
    """Return the hints for an entry of the catalogue: where nothing shows the only cause that it
    has, that cause in general."""
    ranking = Ranking(project, error)
    for cause in entry.causes:
        found = _found(cause, project, error, other_files or {})
        ranking.add(replace(hint, points_to=cause.kind) for hint in found)
    usual = entry.causes[0].in_general() if len(entry.causes) == 1 else None
    return ranking.hints() or ((Hint("lines", usual, usual=True),) if usual else ())


def certain_hints(entry: Message, project: Project) -> tuple[Hint, ...]:
    """Return the lines that surely are one of an entry's causes."""
    ranking = Ranking(project, ParsedTraceback())
    for cause in (cause for cause in entry.causes if cause.sure):
        ranking.add(_found(cause, project, ParsedTraceback(), {}))
    return ranking.hints()


def _shown_in_frames(frames: Sequence[TracebackFrame], look: Mapping[str, Any]) -> Iterator[str]:
    """Yield what frames show: one of the texts in their file, function or code, or a library that
    is looked for in code, too."""
    for frame in frames:
        text = f"{frame.file} {frame.function} {frame.code}"
        yield from (wanted for wanted in look.get("frames", ()) if wanted in text)
        if frame.is_library:
            yield from (name for name in look.get("mentions", ()) if name in frame.file)
        elif frame.function in look.get("within", ()):
            yield frame.code


def _found(
    cause: UsualCause, project: Project, error: ParsedTraceback, other_files: Mapping[str, str]
) -> Iterator[Hint]:
    look = cause.look
    if look is None:
        yield Hint(cause.note, cause.say(), usual=True)
        return
    if not all(re.search(text, plain(error.message)) for text in look.get("when", ())):
        return
    if any(settings_in({**project.files, **other_files}, look.get("unless", ()))):
        return
    if any(word in plain(said) for said in error.warnings for word in look.get("warned", ())):
        yield Hint(cause.note, cause.say(), code="a warning")
    for frame in _shown_in_frames(error.frames, look):
        yield Hint(cause.note, cause.say(frame))
    words = "\n".join(other_files.values())
    if "shapes" in look and shapes_of(f"{error.message}\n{words}") == look["shapes"]:
        yield Hint(cause.note, cause.say(), code="shapes in the message")
    if any(word in error.forward_op.lower() for word in look.get("forward", ())):
        yield Hint(cause.note, cause.say(), code=error.forward_op)
    shown_by = (re.search(text, plain(error.message)) for text in look.get("message", ()))
    if (shown := next(filter(None, shown_by), None)) is not None:
        named = shown[1] if shown.re.groups else ""
        yield Hint(cause.note, cause.say(named), code="the message", vague=not named)
    if "result" in look:
        yield from _of_result(cause, project, error)
    for form, how in (("said", "likely"), ("about", "perhaps")):
        for said, line, topics in said_in(words, look.get(form, ())):
            text = f"{how}, as the words name “{said}”: {cause.say(said)}"
            vague = how == "perhaps"
            yield Hint(cause.note, text, code=line, words=said, topics=topics, vague=vague)
    yield from _in_settings(cause, look.get("setting", ()), project, other_files)
    syntax = looks_for(look)
    if syntax is not None and "quoted" in look:
        yield from _quoted(cause, syntax, words, project)
        yield from _ends_with(cause, syntax, error.forward_frames, project)
    for module in project.modules.values() if syntax is not None else ():
        for node in module.nodes:
            name = syntax(node, module) if syntax is not None else None
            if name is None:
                continue
            if isinstance(name, tuple):
                name, node = name
            if name is not None:
                place = CodeLine(module.path, getattr(node, "lineno", 1))
                text, code = cause.say(name), module.code(place.line)
                yield Hint(cause.note, text, place, code, cause.blames)


def _of_result(cause: UsualCause, project: Project, error: ParsedTraceback) -> Iterator[Hint]:
    """Yield hints about the result that a message says was changed, and about writes to it."""
    if not (operation := result_named(error.message)):
        return
    text = cause.say(f"the result of `{operation}`")
    yield Hint(cause.note, text, code=OF_RESULT)
    for module in project.modules.values():
        for name, node in writes_to_result(operation, module):
            place = CodeLine(module.path, getattr(node, "lineno", 1))
            text = cause.say(f"`{name}`, which holds the result of `{operation}`,")
            yield Hint(cause.note, text, place, module.code(place.line), cause.blames)


def _quoted(cause: UsualCause, look: BlockLook, words: str, project: Project) -> Iterator[Hint]:
    """Yield hints about statements that the words around the code quote, at the line of the code
    that reads the same name.
    """
    for statement in quoted_in(words):
        modules = Project({"quoted": statement}, "quoted").modules.values()
        nodes = ((node, module) for module in modules for node in module.nodes)
        found = next((name for node, module in nodes if (name := look(node, module))), None)
        if isinstance(found, str):
            text = f"the words quote `{statement}`, where {cause.say(found)}"
            place = _reader(project, found.partition(".")[0])
            code = project.code(place.file, place.line) if place is not None else statement
            yield Hint(cause.note, text, place, code, cause.blames)


def _ends_with(
    cause: UsualCause, look: BlockLook, frames: Sequence[TracebackFrame], project: Project
) -> Iterator[Hint]:
    """Yield a hint about the line that a trace of the forward ends with, in a file that was not
    sent."""
    last = frames[-1] if frames else None
    if last is None or project.module(last.file) is not None:
        return
    for module in Project({"line": last.code}, "line").modules.values():
        for node in module.nodes:
            if isinstance(found := look(node, module), str):
                at = f"line {last.line} of `{last.file.rpartition('/')[2]}`"
                text = f"the trace of the forward ends at {at}, where {cause.say(found)}"
                yield Hint(cause.note, text, code=last.code)


def _reader(project: Project, name: str) -> CodeLine | None:
    """Return the first line of the entry script that reads a name."""
    module = project.modules.get(project.entry)
    reads = names_loaded(module.nodes, name) if module is not None else []
    return CodeLine(project.entry, reads[0].lineno) if reads else None


def _in_settings(
    cause: UsualCause, wanted: Sequence[str], project: Project, other_files: Mapping[str, str]
) -> Iterator[Hint]:
    for path, line, name, code in settings_in(project.files, wanted) if wanted else ():
        yield Hint(cause.note, cause.say(name), CodeLine(path, line), code, cause.blames)
    for _, _, name, code in settings_in(other_files, wanted) if wanted else ():
        yield Hint(cause.note, cause.say(name), None, code, cause.blames)
