"""Fix names that are aliases of a parameter's gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import SilentFault
from analyzers.explain.gradient_names import handed_back, holds, stored_gradients
from analyzers.explain.keyed_entries import keys_of, without_entries
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.recordtypes import record_fields
from analyzers.explain.source_locations import SourceLocation, names_held, root_of
from analyzers.repair.blocks import joined
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings, names_read
from analyzers.source.ops import VIEWS
from analyzers.source.project import Module, Project, spelled
from analyzers.source.reads import attributes_loaded
from analyzers.source.targets import assigned_pairs, keyed
from analyzers.source.trees import walk

NAMES = 3  # length of a chain of names by which a gradient reaches its store


def kept_at(fault: SilentFault, project: Project) -> list[SourceLocation]:
    """Return statements that bind, or store into, one of the names and read a `.grad` uncopied;
    also through another name (`grads = [p.grad ...]`, then `kept.append(grads)`), or through a
    function that returns it.
    """
    paths = names_held(fault.holders)
    wanted = {root_of(name) for name in without_entries(paths)}
    wanted |= _in_records(project, {name.rpartition(".")[2] for name in wanted if "." in name})
    returned: set[ast.stmt] = set()
    for _ in range(NAMES):
        known = len(wanted)
        for _, node in project.each(ast.stmt):
            if _binds(node, wanted):
                handed = list(handed_back(node, project))
                returned |= set(handed)
                wanted |= {n for s in (node, *handed) for n in names_read(s) if "." not in n}
        if len(wanted) == known:
            break
    put = {
        statement
        for module in project.modules.values()
        for statement, _ in stored_gradients(module, keys_of(paths), project)
    }
    return [
        SourceLocation.of(module, node)
        for module, node in project.each(ast.stmt)
        if node in put
        or ((node in returned or _binds(node, wanted)) and list(_gradients(module, node)))
    ]


def _in_records(project: Project, fields: set[str]) -> set[str]:
    """Return the names that the script's records receive for these fields."""
    return {
        value.id
        for _, call in project.each(ast.Call)
        if (known := record_fields(project, spelled(call.func)))
        for field, value in (*zip(known, call.args, strict=False), *keyed(call))
        if field in fields and isinstance(value, ast.Name)
    }


def _binds(statement: ast.stmt, wanted: set[str]) -> bool:
    if isinstance(statement, ast.For | ast.While | ast.If | ast.With):
        return False
    bound = {root_of(name) for name in bindings(statement)}
    return holds(bound, wanted)


def _gradients(module: Module, statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the places where `.grad`, or a view of it, is passed on unchanged: not copied, indexed
    or computed with.
    """
    for gradient in attributes_loaded(walk(statement), "grad"):
        node: ast.expr = gradient
        while (shared := _same_values(module, node)) is not None:
            node = shared
        computed = isinstance(module.parents.get(node), _COMPUTED)
        if not computed and spelled(gradient.value) != "torch.autograd":
            yield node


_COMPUTED = (ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)


def _same_values(module: Module, node: ast.expr) -> ast.expr | None:
    """Return the enclosing expression that shares the values without a copy:
    `.data`, `.detach()`.
    """
    match module.parents.get(node):
        case ast.Attribute(attr="data") as outer:
            return outer
        case ast.Attribute(attr=name) as method if name in VIEWS:
            call = module.parents.get(method)
            return call if isinstance(call, ast.Call) else None
    return None


def _names_put(statement: ast.stmt) -> list[ast.expr]:
    """Return the names whose values an assignment stores."""
    return [value for _, value in assigned_pairs(statement) if isinstance(value, ast.Name)]


def clone_kept(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield a proposal with `.grad.clone()` wherever the names are bound to a gradient."""
    edits: list[Edit] = [
        store.editor.append_to(node, ".clone()")
        for store in kept_at(fault, project)
        for node in list(_gradients(store.module, store.statement)) or _names_put(store.statement)
    ]
    if edits:
        yield Proposal("clone-gradient", "Keep a copy of the gradient", joined(edits))
