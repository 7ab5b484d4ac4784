"""Tensors that go through an array and back, by two functions of the script: `to_tensor(to_numpy(
actor(x)))`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.reconnect.cutting_expressions import cut_from, cuts_in
from analyzers.source.edits import Editor
from analyzers.source.flow import statements_of
from analyzers.source.project import FUNCTIONS, Module, Project, Scope, spelled
from analyzers.source.signatures import named

MANY = 3  # calls that are each tried alone


def round_trips(where: SourceLocation, project: Project) -> list[tuple[Module, ast.Call]]:
    """Return the calls that make a tensor of what another call makes a cut value of, if the graph
    ends in one of the two functions.
    """
    if not isinstance(where.scope, FUNCTIONS[:2]) or not _converts(where.scope):
        return []
    found = []
    for module, call in project.each(ast.Call):
        inner = call.args[0] if call.args else None
        if isinstance(inner, ast.Call) and len(inner.args) == 1:
            there = [f for _, f in project.functions_called(inner)]
            back = [f for _, f in project.functions_called(call)]
            known = [f for f in (*there, *back) if f is where.scope]
            if known and any(map(_cuts, there)) and any(map(_makes, back)):
                found.append((module, call))
    return found[:MANY]


def not_through_array(where: SourceLocation, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals that pass the tensor itself on, where it went through an array and back."""
    for module, call in round_trips(where, project):
        editor, inner = Editor(module), call.args[0]
        assert isinstance(inner, ast.Call)
        text = editor.text_of(inner.args[0])
        title = f"Pass `{text}` on as the tensor it is"
        yield Proposal("keep-graph", title, (editor.replace(call, text),), "", rank)


def _converts(function: Scope) -> bool:
    return _cuts(function) or _makes(function)


def _cuts(function: Scope) -> bool:
    """Return True if a function returns an argument without its graph."""
    return any(not (isinstance(cut, ast.Call) and cut.args) for cut in _of_arguments(function))


def _makes(function: Scope) -> bool:
    """Return True if a function returns a new tensor made of an argument."""
    return any(isinstance(cut, ast.Call) and cut.args for cut in _of_arguments(function))


def _of_arguments(function: Scope) -> Iterator[ast.expr]:
    """Yield the cuts of a function's arguments in what it returns."""
    given = named(function) if isinstance(function, FUNCTIONS[:2]) else set()
    for statement in statements_of(function):
        if isinstance(statement, ast.Return):
            yield from (cut for cut in cuts_in(statement) if spelled(cut_from(cut)) in given)
