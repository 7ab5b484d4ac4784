"""Find an argument that a function accepts for an inner function and does not pass on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analyzers.explain.pattern import GraphCarrier, Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.reconnect.gradient_paths import functions_called
from analyzers.repair.reconnect.siblings import of_part
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import mentions, walk_scope
from analyzers.source.project import Module, Project, spelled
from analyzers.source.signatures import named
from analyzers.source.trees import position, walk
from provenance import CodeLine

MOST = 2  # parts that are tried


@dataclass(frozen=True)
class Unpassed:
    """A function that is given an argument of this name, on its own or with the rest (`**extra`),
    and reads it nowhere; `calls` are those of its parts, which go without it."""

    module: Module
    function: ast.FunctionDef
    name: str
    text: str
    calls: tuple[ast.Call, ...]

    @property
    def place(self) -> CodeLine:
        """Return the line of the call that lacks it."""
        return CodeLine(self.module.path, self.calls[0].lineno, self.function.name)

    @property
    def carrier(self) -> GraphCarrier:
        """Return the argument."""
        return GraphCarrier(self.name, self.place)


def unpassed(
    where: SourceLocation, is_source: Callable[[ast.expr], bool], project: Project
) -> Unpassed | None:
    """Return the first function to which the statement passes such a source by name and which drops
    it, although another function of the project takes an argument of that name.
    """
    for call in walk(where.statement):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            name = keyword.arg
            if name is None or not isinstance(call, ast.Call) or not is_source(keyword.value):
                continue
            taking = [f for _, f in project.each(ast.FunctionDef) if name in named(f)]
            for module, function in functions_called(call, project):
                text = _text(function, name)
                parts = filter(None, map(of_part, walk_scope(function)))
                calls = tuple(sorted((call for _, call in parts), key=position))
                if text and calls and any(other is not function for other in taking):
                    return Unpassed(module, function, name, text, calls)
    return None


def _text(function: ast.FunctionDef, name: str) -> str:
    """Return how a function passes on an argument; empty if it reads it."""
    rest = function.args.kwarg
    own = name in named(function)
    given = name if own else rest.arg if rest is not None else ""
    if not given or any(mentions(one, given) for one in function.body):
        return ""
    return f"{name}={name}" if own else f"**{given}"


def given_to_part(found: Unpassed, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals that pass the argument on to an inner call."""
    for call in found.calls[:MOST]:
        _, end = Editor(found.module).span([*call.args, *call.keywords][-1])
        title = f"Hand `{found.name}` on to `{spelled(call.func)}`"
        edit = Edit(found.module.path, end, end, f", {found.text}")
        yield Proposal("hand-on-argument", title, (edit,), "", rank)
        rank += 1
