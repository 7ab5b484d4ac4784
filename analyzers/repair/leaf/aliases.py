"""Fixes for names that stand for a parameter's gradient itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.evidence import Place, SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot, names_held, returns_of, root_of
from analyzers.repair.blocks import joined
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings, called_name, names_read
from analyzers.source.project import FUNCTIONS, Module, Project, spelled

MAX_CALLS = 3  # that hand a gradient on


def kept_at(fault: SilentFault, project: Project) -> list[Spot]:
    """Statements that bind, or store into, one of the names and read a `.grad` as it is; also by
    way of another name (`grads = [p.grad ...]`, then `kept.append(grads)`), or of a function that
    hands it back."""
    wanted = {root_of(name) for name in names_held(fault.holders)}
    returned: set[ast.stmt] = set()
    for module in project.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.stmt) and _binds(node, wanted):
                wanted |= {n for n in names_read(node) if "." not in n}
                handed = list(_handed_back(node, project))
                returned |= set(handed)
                wanted |= {n for r in handed for n in names_read(r) if "." not in n}
    return [
        Spot(module, node, Place(module.path, node.lineno))
        for module in project.modules.values()
        for node in module.nodes
        if isinstance(node, ast.stmt)
        and (node in returned or _binds(node, wanted))
        and list(_gradients(module, node))
    ]


def read_elsewhere(fault: SilentFault, kept: Sequence[Spot], project: Project) -> bool:
    """Whether a function that does not keep the gradients reads what an object keeps of them:
    it takes them for those of an earlier time."""
    names = {root_of(name).rpartition(".")[2] for name in names_held(fault.holders)}
    keeping = {id(store.scope) for store in kept}
    return bool(kept) and any(
        isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.ctx, ast.Load)
        and id(module.scope_of(node)) not in keeping
        and isinstance(module.scope_of(node), FUNCTIONS)
        for module in project.modules.values()
        for node in module.nodes
    )


def _handed_back(
    statement: ast.stmt, project: Project, depth: int = MAX_CALLS
) -> Iterator[ast.Return]:
    """What the project's functions that are called on this line return, and what those return
    that are called there."""
    for call in ast.walk(statement):
        if isinstance(call, ast.Call):
            for module in project.modules.values():
                function = module.function_named(called_name(call))
                for returned in returns_of(function) if function is not None else ():
                    yield returned
                    if depth > 1:
                        yield from _handed_back(returned, project, depth - 1)


def _binds(statement: ast.stmt, wanted: set[str]) -> bool:
    if isinstance(statement, ast.For | ast.While | ast.If | ast.With):
        return False
    bound = {root_of(name) for name in bindings(statement)}
    last = {name.rpartition(".")[2] for name in wanted if "." in name}
    return bool(bound & wanted) or any(
        "." in name and name.rpartition(".")[2] in last for name in bound
    )


def _gradients(module: Module, statement: ast.stmt) -> Iterator[ast.Attribute]:
    """The places where `.grad` is handed on as it is: not called, indexed or computed with."""
    for node in ast.walk(statement):
        if not isinstance(node, ast.Attribute) or node.attr != "grad":
            continue
        parent = module.parents.get(node)
        loaded = isinstance(node.ctx, ast.Load)
        computed = isinstance(
            parent, ast.Attribute | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript
        )
        if loaded and not computed and spelled(node.value) != "torch.autograd":
            yield node


def clone_kept(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """`.grad.clone()` wherever the names are given a gradient."""
    edits: list[Edit] = [
        store.editor.append_to(node, ".clone()")
        for store in kept_at(fault, project)
        for node in _gradients(store.module, store.statement)
    ]
    if edits:
        yield Proposal("clone-gradient", "Keep a copy of the gradient", joined(edits))
