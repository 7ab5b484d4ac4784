"""Where in the source a piece of evidence points, and by which names the script calls it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.certainty import Certainty
from analyzers.evidence import Holder, Hop, InplaceChange, MissingGraph, Place, SilentFault
from analyzers.explain.pattern import Carrier, Match
from analyzers.source.calls import call_in, calls_in, calls_named
from analyzers.source.edits import Editor
from analyzers.source.flow import walk_scope
from analyzers.source.project import FUNCTIONS, Module, Project, Scope
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import remembered, walk

_IN_PLACE = re.compile(r"(\.<locals>\.(<(list|set|dict)comp>|<genexpr>))+$")  # runs where it stands


@dataclass(frozen=True)
class Spot:
    """A place of the evidence with the statement that stands there."""

    module: Module
    statement: ast.stmt
    place: Place

    @property
    def editor(self) -> Editor:
        """An editor of the module."""
        return Editor(self.module)

    @property
    def scope(self) -> Scope:
        """The function (or module) whose names the statement sees."""
        return self.module.scope_of(self.statement)

    @property
    def block(self) -> list[ast.stmt]:
        """The list of statements that holds this one."""
        return self.module.block_of(self.statement)

    def call(self, *names: str) -> ast.Call | None:
        """The call of one of these names that the place is in."""
        return call_in(self.statement, self.place.line, *names)


def spot(project: Project, place: Place | None) -> Spot | None:
    """The statement at a place; None where the source is not at hand."""
    module = project.module(place.file) if place is not None else None
    if module is None or place is None:
        return None
    statement = module.statement_at(place.line, place.column)
    return Spot(module, statement, place) if statement is not None else None


def hops_at(project: Project, path: Sequence[Hop], how: str) -> Iterator[tuple[Hop, Spot]]:
    """The hops of one sort whose statements are at hand, with those."""
    for hop in path:
        where = spot(project, hop.at) if hop.how == how else None
        if where is not None:
            yield hop, where


def names_held(holders: Sequence[Holder], function: str | None = None) -> list[str]:
    """The names in the evidence, those of one function first where it has any; what optimizers
    and modules keep for themselves (`param_groups`, `_flat_weights`) is left out."""
    own = [h for h in holders if function is not None and _same_function(h.scope, function)]
    chosen = own or list(holders)
    return list(dict.fromkeys(h.path for h in chosen if not _internal(h.path)))


def _same_function(one: str, other: str) -> bool:
    return one == other or one.rpartition(".")[2] == other.rpartition(".")[2]


def _internal(path: str) -> bool:
    parts = path.replace("[", ".").replace("]", "").split(".")
    return "param_groups" in parts or any(p.startswith("_") and len(p) > 1 for p in parts)


def carrier_of(holders: Sequence[Holder], place: Place, function: str | None = None) -> Carrier:
    """The first name in the evidence as a carrier at this place; `""` where it has none."""
    names = names_held(holders, function) or [""]
    kind = next((h.kind for h in holders if h.path == names[0]), "unknown")
    return Carrier(names[0], place, kind)


def matched_at(
    pattern: str,
    certainty: Certainty,
    evidence: InplaceChange | MissingGraph | SilentFault,
    at: Place | None,
    carrier: Carrier | None = None,
    title: str = "",
) -> Match | None:
    """A match at a place, on the first name in the evidence unless another is given; None where
    nothing tells the place."""
    if at is None:
        return None
    named = carrier or carrier_of(evidence.holders, at)
    return Match(pattern, certainty, evidence, at, named if named.name else None, title=title)


def root_of(path: str) -> str:
    """The name that a path starts from: `hidden` for `hidden[0]`, `self.mem` for `self.mem[1]`."""
    return path.partition("[")[0]


def functions_calling(project: Project, name: str, depth: int = 5) -> set[str]:
    """Names of functions by which a call can come to the function called `name`, itself too."""
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


def functions_reaching(project: Project, *names: str) -> set[str]:
    """The names, with those of the project's functions by which a call can come to one of them."""
    return set(names).union(*(functions_calling(project, name) for name in names))


@remembered
def _callers(tree: ast.Module) -> dict[str, set[str]]:
    """The names of a file's functions by what they call."""
    found: dict[str, set[str]] = {}
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for called in calls_in(node):
                found.setdefault(called, set()).add(node.name)
    return found


def leading_to(project: Project, block: Sequence[ast.stmt], place: Place) -> ast.stmt | None:
    """The statement of a block that holds the place or calls the function that does."""
    where = spot(project, place)
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
        if not isinstance(s, (*FUNCTIONS[:2], ast.ClassDef)) and calls_named(s, *names)
    ]
    return calling[0] if calling else None


def assignments_to(project: Project, name: str) -> Iterator[tuple[Module, ast.Assign]]:
    """Assignments anywhere to a name or, for `self.x` or `model.x`, to that attribute."""
    for module, target, statement, _ in _given_to(project, name):
        if target in statement.targets:
            yield module, statement


def values_of(project: Project, name: str) -> Iterator[ast.expr]:
    """What is assigned to it anywhere, by itself or beside others: `y` of `a, b = x, y`."""
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
    """The targets of a file's assignments by their last name, each with the statement and with what
    goes to it."""
    found: dict[str, list[tuple[ast.expr, ast.Assign, ast.expr]]] = {}
    for node in walk(tree):
        if isinstance(node, ast.Assign):
            for target, value in assigned_pairs(node):
                last = getattr(target, "id", getattr(target, "attr", ""))
                found.setdefault(last, []).append((target, node, value))
    return found


def returns_of(scope: ast.AST) -> list[ast.Return]:
    """The return statements of a function."""
    return [node for node in walk_scope(scope) if isinstance(node, ast.Return)]
