"""Separate the silent faults of incomplete code from those that its harness caused."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from analyzers.evidence import Evidence, MissingGraph, SilentFault
from analyzers.source.flow import names_read
from analyzers.source.project import Module, Project, spelled
from analyzers.source.targets import assigned
from app.request.case import Case
from app.run.run_evidence import confirmed_evidence, observed_evidence
from provenance import CodeLine
from sandbox.records import Trace

_UNCLEARED = "uncleared-gradients"
_OVERWRITTEN = "overwritten-gradient"
_GROWING = "growing-graph"
_INVENTED_STEPS = "plain gradient descent"  # as `sandbox.inside.harness.assumptions` says


def silent_by_itself(trace: Trace, case: Case) -> tuple[Evidence, ...]:
    """Return the silent faults of a run of incomplete code that its harness did not cause.

    A fault counts as the script's own if static analysis reports it too (same line, name or
    parameter), or if its line mentions no synthesized name. Further rules:

    - If no parameter learns, or the script's own optimizer holds the parameters without gradient, a
      cut in the script is reported.
    - If nothing else was found and the script calls nothing synthesized (only data were), retained
      graphs held by the script's own names are reported.
    - Uncleared gradients count if the script clears other gradients: then it does not leave that to
      code that was not sent.
    - Names of the script that share a gradient, and names that retain graphs which no backward call
      reaches, count whatever the models are.
    - Stale optimizer parameters are reported at the line that creates the optimizer, if that line
      is the script's own.
    """
    read = [piece for piece in case.reading.evidence if isinstance(piece, SilentFault)]
    known = {(piece.kind, mark) for piece in read for mark in _marks(piece)}
    seen = [piece for piece in observed_evidence(trace) if isinstance(piece, SilentFault)]
    synthesized = {one.name for one in trace.assumed if one.kind != "import"} - {"self"}
    clears = any(".zero_grad(" in text for text in case.project.files.values())

    calls = re.compile(
        rf"\b(?:{'|'.join(map(re.escape, sorted(synthesized))) or '(?!)'})[\w.]*\s*\("
    )
    called = any(calls.search(text) for text in case.project.files.values())
    trained = {p.name for p in trace.parameters if p.optimizer is not None}
    own_steps = not any(_INVENTED_STEPS in assumed.text for assumed in trace.assumed)

    def is_own(piece: SilentFault) -> bool:
        at = piece.at
        if piece.optimizer_at is not None and set(piece.params) & set(piece.instead):
            at = piece.optimizer_at
        if at is None and trained:
            from analyzers.repair.reconnect.missing_gradients import cuts_of_fault  # on demand

            own = own_steps and any(True for _ in cuts_of_fault(piece, case.project))
            own = own and not _handed_on(piece.params, synthesized, case.project)
            return own or (trained <= set(piece.params) and _are_named(piece.params, case.project))
        not_traversed = piece.kind == _GROWING and piece.call is None
        if (piece.kind == _OVERWRITTEN or not_traversed) and piece.holders:
            return synthesized.isdisjoint(holder.path for holder in piece.holders)
        named = _named_at(at, case.project)
        return (bool(named) and not named & synthesized) or (clears and piece.kind == _UNCLEARED)

    found = tuple(
        p for p in seen if is_own(p) or any((p.kind, mark) in known for mark in _marks(p))
    )
    if warned := tuple(_warned(trace, case.project)):
        return (*warned, *found)
    if found or called:
        return confirmed_evidence(found, read)
    return tuple(p for p in seen if p.holders and not {h.path for h in p.holders} & synthesized)


def _warned(trace: Trace, project: Project) -> Iterator[Evidence]:
    """Yield the read of a gradient that is not kept, of which torch warns, if the script made that
    tensor of nothing synthesized."""
    given = {one.name for one in trace.assumed if one.kind in ("name", "argument")}
    for piece in observed_evidence(trace):
        if isinstance(piece, MissingGraph) and piece.lost_by == "nonleaf":
            named = _named_at(piece.ended_at, project)
            if named and not named & given:
                yield piece


def _named_at(at: CodeLine | None, project: Project) -> set[str]:
    """Return the paths that a line names, with those they begin with."""
    code = project.code(at.file, at.line) if at is not None else ""
    return {path for name in re.findall(r"[A-Za-z_][\w.]*", code) for path in _prefixes(name)}


def _marks(piece: SilentFault) -> set[object]:
    at = {(piece.at.file, piece.at.line)} if piece.at is not None else set()
    return at | {holder.path for holder in piece.holders} | set(piece.params)


def _are_named(params: Sequence[str], project: Project) -> bool:
    """Return True if the script mentions the owners of all these parameters. Otherwise the harness
    invented them for an optimizer that found no others.
    """
    words = set(re.findall(r"\w+", " ".join(project.files.values())))
    return {name.removeprefix("self.").partition(".")[0] for name in params} <= words | {"self"}


def _handed_on(params: Sequence[str], synthesized: set[str], project: Project) -> bool:
    """Return True if the loss comes from a call of a synthesized function that receives the owner
    of one of the parameters. The real function would use the parameters; its stub does not.
    """
    return any(
        name == given or name.startswith(f"{given}.")
        for path in project.files
        if (module := project.module(path)) is not None
        for call in _calls(_before_backward(module))
        if not synthesized.isdisjoint(_prefixes(spelled(call.func)))
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        for given in [spelled(argument)]
        for name in params
    )


def _before_backward(module: Module) -> list[ast.stmt]:
    """Return the statements that may compute what `backward()` is called on: they call `backward`,
    return, or bind a name that another of them reads.
    """
    simple = [s for s in ast.walk(module.tree) if isinstance(s, ast.stmt) and not _has_body(s)]
    found = [s for s in simple if isinstance(s, ast.Return) or ".backward(" in spelled(s)]
    read: set[str] = set()
    while (now := set[str]().union(*map(names_read, found))) != read:
        read = now
        found += [s for s in simple if s not in found and not read.isdisjoint(assigned(s))]
    return found


def _has_body(statement: ast.stmt) -> bool:
    return hasattr(statement, "body")


def _calls(statements: Iterable[ast.stmt]) -> Iterator[ast.Call]:
    for statement in statements:
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def _prefixes(path: str) -> Iterator[str]:
    """Yield `a`, `a.b` and `a.b.c` for `a.b.c`."""
    parts = path.split(".")
    return (".".join(parts[: n + 1]) for n in range(len(parts)))
