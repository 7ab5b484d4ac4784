"""Resolve the places of evidence to statements in the source, and to the script's names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.certainty import Certainty
from analyzers.evidence import InplaceChange, MissingGraph, SilentFault
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.source.calls import call_in, calls_in, calls_of, each_call, own_calls
from analyzers.source.edits import Editor
from analyzers.source.flow import walk_scope
from analyzers.source.project import FUNCTIONS, Module, Project, Scope
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, remembered, walk
from provenance import Binding, CodeLine, Referrer

_IN_PLACE = re.compile(r"(\.<locals>\.(<(list|set|dict)comp>|<genexpr>))+$")  # runs in place


@dataclass(frozen=True)
class SourceLocation:
    """A place of the evidence with its statement."""

    module: Module
    statement: ast.stmt
    place: CodeLine

    @classmethod
    def of(cls, module: Module, statement: ast.stmt) -> SourceLocation:
        """Return the place of a statement that the source shows, whatever a run has met."""
        return cls(module, statement, CodeLine(module.path, statement.lineno))

    @property
    def editor(self) -> Editor:
        """Return an editor of the module."""
        return Editor(self.module)

    @property
    def scope(self) -> Scope:
        """Return the function (or module) whose names the statement sees."""
        return self.module.scope_of(self.statement)

    @property
    def block(self) -> list[ast.stmt]:
        """Return the list of statements that contains this one."""
        return self.module.block_of(self.statement)

    def call(self, *wanted: str) -> ast.Call | None:
        """Return the call of one of these (qualified names) that contains the place."""
        return call_in(self.statement, self.place.line, *wanted)


def resolve_location(project: Project, place: CodeLine | None) -> SourceLocation | None:
    """Return the statement at a place; None if the source is not known."""
    module = project.module(place.file) if place is not None else None
    if module is None or place is None:
        return None
    statement = module.statement_at(place.line, place.column)
    return SourceLocation(module, statement, place) if statement is not None else None


def hops_at(
    project: Project, path: Sequence[Binding], how: str
) -> Iterator[tuple[Binding, SourceLocation]]:
    """Yield the bindings of one kind whose statements are known, with these."""
    for binding in path:
        where = resolve_location(project, binding.at) if binding.how == how else None
        if where is not None:
            yield binding, where


def names_held(holders: Sequence[Referrer], function: str | None = None) -> list[str]:
    """Return the names in the evidence, those of the function only if it has any. Internals of
    optimizers and modules (`param_groups`, `_flat_weights`) are left out.
    """
    own = [h for h in holders if function is not None and _same_function(h.scope, function)]
    chosen = own or list(holders)
    return list(dict.fromkeys(h.path for h in chosen if not _internal(h.path)))


def _same_function(one: str, other: str) -> bool:
    return one == other or one.rpartition(".")[2] == other.rpartition(".")[2]


def _internal(path: str) -> bool:
    parts = path.replace("[", ".").replace("]", "").split(".")
    return "param_groups" in parts or any(p.startswith("_") and len(p) > 1 for p in parts)


def carrier_of(
    holders: Sequence[Referrer], place: CodeLine, function: str | None = None
) -> GraphCarrier:
    """Return the first name in the evidence as a carrier at this place; its name is `""` if there
    is none.
    """
    names = names_held(holders, function) or [""]
    kind = next((h.kind for h in holders if h.path == names[0]), "unknown")
    return GraphCarrier(names[0], place, kind)


def matched_at(
    pattern: str,
    certainty: Certainty,
    evidence: InplaceChange | MissingGraph | SilentFault,
    at: CodeLine | None,
    carrier: GraphCarrier | None = None,
    title: str = "",
) -> Match | None:
    """Return a match at a place, on the first name in the evidence unless another is given; None if
    the place is unknown.
    """
    if at is None:
        return None
    named = carrier or carrier_of(evidence.holders, at)
    return Match(pattern, certainty, evidence, at, named if named.name else None, title=title)


def root_of(path: str) -> str:
    """Return the name that a path starts from: `hidden` for `hidden[0]`, `self.mem` for
    `self.mem[1]`.
    """
    return path.partition("[")[0]


def root_name(path: str) -> str:
    """Return the plain name that a path starts from: `self` for `self.mem[1]`."""
    return root_of(path).partition(".")[0]


def functions_calling(project: Project, name: str, depth: int = 5) -> set[str]:
    """Return the functions by which a call can reach the function called `name`, itself
    included."""
    found = last = {name}
    for _ in range(depth):
        callers = {
            caller
            for module in project.modules.values()
            for called in last
            for caller in _callers(module.tree).get(called, ())
        }
        last = callers - found
        found = found | last
    return found


def functions_reaching(project: Project, *wanted: str) -> set[str]:
    """Return the project's functions from which a call can reach one of these, given as qualified
    names.
    """
    direct = {
        outer.name
        for module, call in each_call(project, *wanted)
        for outer in module.ancestors(call)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return direct.union(*(functions_calling(project, name) for name in direct))


def reaching(project: Project, node: ast.AST, *wanted: str) -> bool:
    """Return True if a node calls one of these, or a function from which a call can reach it."""
    direct = calls_of(node, *wanted)
    return bool(direct or own_calls(node, *functions_reaching(project, *wanted)))


@remembered
def _callers(tree: ast.Module) -> dict[str, set[str]]:
    """Return the names of a file's functions by what they call."""
    found: dict[str, set[str]] = {}
    for node in walk(tree):
        if isinstance(node, FUNCTIONS[:2]):
            for called in calls_in(node):
                found.setdefault(called, set()).add(node.name)
    return found


def leading_to(project: Project, block: Sequence[ast.stmt], place: CodeLine) -> ast.stmt | None:
    """Return the statement of a block that contains the place or calls the function that does."""
    where = resolve_location(project, place)
    for statement in block:
        defines = isinstance(statement, (*FUNCTIONS[:2], ast.ClassDef))
        if where is not None and where.module.holds(statement, where.statement) and not defines:
            return statement
    name = _IN_PLACE.sub("", place.function).rpartition(".")[2]
    if not name or name.startswith("<"):
        return None
    names = functions_calling(project, name)
    calling = [
        s
        for s in block
        if not isinstance(s, (*FUNCTIONS[:2], ast.ClassDef)) and own_calls(s, *names)
    ]
    return calling[0] if calling else None


def assignments_to(project: Project, name: str) -> Iterator[tuple[Module, ast.Assign]]:
    """Yield assignments anywhere to a name or, for `self.x` or `model.x`, to that attribute."""
    for module, target, statement, _ in _given_to(project, name):
        if target in statement.targets:
            yield module, statement


def values_of(project: Project, name: str) -> Iterator[ast.expr]:
    """Return what is assigned to it anywhere, alone or in a tuple: `y` for `a, b = x, y`."""
    return (value for _, _, _, value in _given_to(project, name))


def _given_to(
    project: Project, name: str
) -> Iterator[tuple[Module, ast.expr, ast.Assign, ast.expr]]:
    last = name.rpartition(".")[2]
    for module in project.modules.values():
        for target, statement, value in _assigned(module.tree).get(last, ()):
            is_name = isinstance(target, ast.Name) and target.id == name
            if is_name or ("." in name and isinstance(target, ast.Attribute)):
                yield module, target, statement, value


@remembered
def _assigned(tree: ast.Module) -> dict[str, list[tuple[ast.expr, ast.Assign, ast.expr]]]:
    """Return the targets of a file's assignments by their last name, each with the statement and
    the value.
    """
    found: dict[str, list[tuple[ast.expr, ast.Assign, ast.expr]]] = {}
    for node in nodes_of(tree, ast.Assign):
        for target, value in assigned_pairs(node):
            last = getattr(target, "id", getattr(target, "attr", ""))
            found.setdefault(last, []).append((target, node, value))
    return found


def returns_of(scope: ast.AST) -> list[ast.Return]:
    """Return the return statements of a function."""
    return [node for node in walk_scope(scope) if isinstance(node, ast.Return)]
