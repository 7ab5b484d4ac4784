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
from analyzers.source.project import FUNCTIONS, Module, Project, spelled, target_names

MAX_CALLS = 3  # that hand a gradient on
_OF_EACH = (ast.ListComp, ast.GeneratorExp, ast.SetComp)


def kept_at(fault: SilentFault, project: Project) -> list[Spot]:
    """Statements that bind, or store into, one of the names and read a `.grad` as it is; also by
    way of another name (`grads = [p.grad ...]`, then `kept.append(grads)`), or of a function that
    hands it back."""
    wanted = {root_of(name) for name in names_held(fault.holders)}
    returned: set[ast.stmt] = set()
    for _, node in project.each(ast.stmt):
        if _binds(node, wanted):
            handed = list(_handed_back(node, project))
            returned |= set(handed)
            wanted |= {n for s in (node, *handed) for n in names_read(s) if "." not in n}
    return [
        Spot(module, node, Place(module.path, node.lineno))
        for module, node in project.each(ast.stmt)
        if (node in returned or _binds(node, wanted)) and list(_gradients(module, node))
    ]


def read_elsewhere(fault: SilentFault, kept: Sequence[Spot], project: Project) -> bool:
    """Whether a function that does not keep the gradients reads what an object keeps of them:
    it takes them for those of an earlier time."""
    held = [root_of(name) for name in names_held(fault.holders)]
    names = {name.rpartition(".")[2] for name in held if "." in name}
    keeping = {id(store.scope) for store in kept}
    return bool(kept) and any(
        node.attr in names
        and isinstance(node.ctx, ast.Load)
        and id(module.scope_of(node)) not in keeping
        and isinstance(module.scope_of(node), FUNCTIONS)
        for module, node in project.each(ast.Attribute)
    )


def compared(fault: SilentFault, project: Project) -> bool:
    """Whether an expression computes with what was kept and a `.grad` of now: it takes the two for
    different values."""
    names = {root_of(name) for name in names_held(fault.holders)}
    for module, node in project.each(ast.BinOp):
        if not isinstance(module.parents[node], ast.BinOp):
            read = [_read_by(module, operand) for operand in _operands(node)]
            now = [any(name.endswith(".grad") for name in one) for one in read]
            kept = [bool(one & names) for one in read]
            if any(kept) and any(now) and (now != kept or sum(now) > 1):
                return True
    return False


def _operands(node: ast.BinOp) -> list[ast.expr]:
    """What a sum, or a product, of any length is made of."""
    found: list[ast.expr] = []
    todo: list[ast.expr] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.BinOp):
            todo += [part.left, part.right]
        else:
            found.append(part)
    return found


def _read_by(module: Module, node: ast.expr) -> set[str]:
    """The names that an expression reads, and for an entry's own name what it is an entry of."""
    read = names_read(node)
    around = [parent for parent in module.ancestors(node) if isinstance(parent, _OF_EACH)]
    for generator in (g for parent in around for g in parent.generators):
        for target, source in _pairs(generator.target, generator.iter):
            if read & set(target_names(target)):
                read |= names_read(source)
    return read


def _pairs(target: ast.expr, source: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What each target of a loop is taken from: of `a, b in zip(xs, ys)` two pairs."""
    match target, source:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources):
            return list(zip(targets, sources, strict=False))
    return [(target, source)]


def _handed_back(
    statement: ast.stmt, project: Project, depth: int = MAX_CALLS
) -> Iterator[ast.Return]:
    """What the project's functions that are called on this line return, and what those return
    that are called there."""
    for call in ast.walk(statement):
        if isinstance(call, ast.Call):
            for _, function in project.functions_by_name(called_name(call)):
                for returned in returns_of(function):
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
