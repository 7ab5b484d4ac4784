"""Classify a missing graph."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, MissingGraph
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.source_locations import (
    SourceLocation,
    matched_at,
    names_held,
    resolve_location,
)
from analyzers.messages import entry_of
from analyzers.source import priors
from analyzers.source.callees import operation
from analyzers.source.calls import makes_leaf, operations_in, reads_gradient, receivers_of
from analyzers.source.flow import bindings, mentions, rebinds, run_around, value_of
from analyzers.source.ops import FACTORIES
from analyzers.source.project import Function, Project, Scope, spelled
from analyzers.source.signatures import named
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import walk
from provenance import CodeLine

Kind = Literal[
    "detached",
    "non-scalar",
    "rebound",
    "nonleaf",
    "unused",
    "starved",
    "flat-input",
    "numpy",
    "deepcopy",
]

_SAID: tuple[Kind, ...] = ("deepcopy", "flat-input", "non-scalar", "nonleaf", "numpy", "unused")
_LOSSES: dict[str, Kind] = {
    "nonleaf": "nonleaf",
    "non_scalar": "non-scalar",
    "non-scalar": "non-scalar",
    "deepcopy": "deepcopy",
    "unused": "unused",
    "starved": "starved",
    "rebound": "rebound",
}


def kind_of(evidence: Evidence, project: Project) -> Kind | None:
    """Return the kind; None for evidence of another family."""
    if not isinstance(evidence, MissingGraph):
        return None
    said = entry_of(evidence.message) if evidence.message else None
    for kind in _SAID:
        if said is not None and said.kind == kind:
            return kind
    if rebinding(evidence, project) is not None:
        return "rebound"
    if evidence.lost_by == "unknown" and "NoneType" in evidence.message:
        return _without_gradient(evidence, project)
    return _LOSSES.get(evidence.lost_by, "detached")


def _without_gradient(evidence: MissingGraph, project: Project) -> Kind:
    """Return the kind of a value whose `.grad` is None, as far as static analysis shows: the result
    of an operation keeps none; a leaf takes no part in the loss.
    """
    where = resolve_location(project, evidence.at)
    nodes = walk(where.statement) if where is not None else ()
    read = {spelled(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr == "grad"}
    if not read:
        return "detached"
    made = _made(project)
    asked = {name.removesuffix(".requires_grad") for name in made if name.endswith("requires_grad")}
    for module in project.modules.values():
        asked |= receivers_of(operations_in(module.tree, ("requires_grad_", "retain_grad")))
    names = [name for name in read - asked if not priors.is_weight(name)]
    return "nonleaf" if any(_is_computed(made.get(name, ())) for name in names) else "unused"


Made = tuple[ast.expr, Scope]


def _made(project: Project) -> dict[str, list[Made]]:
    """Return what the names of a project are bound to, and in which function."""
    made = defaultdict(list)
    for module, statement in project.each(ast.Assign):
        for target, value in assigned_pairs(statement):
            made[spelled(target)].append((value, module.scope_of(statement)))
    return dict(made)


def _is_computed(given: Sequence[Made]) -> bool:
    """Return True if a name is bound to the result of an operation or to a hook's argument, and to
    no leaf.
    """
    if any(makes_leaf(value) for value, _ in given):
        return False
    return any(_is_result(value) or _is_given(value, scope) for value, scope in given)


def _is_result(value: ast.expr) -> bool:
    """Return True if the expression computes something from something."""
    if isinstance(value, ast.Call):
        return operation(value) not in FACTORIES
    return isinstance(value, ast.BinOp | ast.UnaryOp)


def _is_given(value: ast.expr, scope: Scope) -> bool:
    """Return True if the expression is a parameter of the function around it."""
    return isinstance(scope, Function) and spelled(value) in named(scope)


def rebinding(evidence: MissingGraph, project: Project) -> SourceLocation | None:
    """Return the statement by which a hand-written update bound a leaf's name to a new tensor, or
    returned new tensors for all leaves.
    """
    where = resolve_location(project, evidence.ended_at)
    if where is not None and updates_returned(where.statement) is not None:
        return where
    if where is None or not isinstance(where.statement, ast.Assign):
        return None
    held = {name.partition("[")[0] for name in names_held(evidence.holders)}
    bound = bindings(where.statement)
    if _element_of(where.statement, held):
        return where
    alike = [s for s in where.block if any(rebinds(s, name) for name in bound)]
    if where.statement not in alike:
        return None
    run = run_around(where.module, where.statement, alike)
    return where if any(_by_gradient(s) for s in run) else None


def updates_returned(statement: ast.stmt) -> ast.ListComp | ast.DictComp | None:
    """Return the comprehension of `return {k: p - lr * p.grad for k, p in params.items()}`."""
    value = statement.value if isinstance(statement, ast.Return) else None
    if not isinstance(value, ast.ListComp | ast.DictComp):
        return None
    element = element_of(value)
    new = isinstance(element, ast.BinOp) and isinstance(element.op, ast.Add | ast.Sub)
    return value if new and reads_gradient(element) else None


def element_of(value: ast.ListComp | ast.DictComp) -> ast.expr:
    """Return what a comprehension computes for each element; for a dictionary, the value."""
    return value.value if isinstance(value, ast.DictComp) else value.elt


def _by_gradient(statement: ast.stmt) -> bool:
    value = value_of(statement)
    return value is not None and reads_gradient(value)


def _element_of(statement: ast.Assign, held: set[str]) -> bool:
    """Return True for `weights[i] = w - ...` where `w` is the leaf that was held."""
    into = any("[" in name for name in bindings(statement))
    value = statement.value
    return into and isinstance(value, ast.BinOp) and any(mentions(value.left, n) for n in held)


def matched(
    pattern: str,
    evidence: MissingGraph,
    certainty: Certainty,
    place: CodeLine | None = None,
    carrier: GraphCarrier | None = None,
) -> Match | None:
    """Return a match, located where the graph was lost unless another line is given."""
    at = place or evidence.ended_at or evidence.at
    return matched_at(pattern, certainty, evidence, at, carrier)


def lost_name(evidence: MissingGraph, project: Project) -> GraphCarrier | None:
    """Return the name that was bound to the value which had lost its graph."""
    where = resolve_location(project, evidence.ended_at)
    bound = [n for n in bindings(where.statement) if n != "_"] if where is not None else []
    if where is None or not isinstance(where.statement, ast.Assign) or not bound:
        return None
    return GraphCarrier(bound[0], where.place)
