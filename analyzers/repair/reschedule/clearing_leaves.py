"""Fixes for leaves of hand-written engines that nothing clears: cleared as they are made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.repair.blocks import joined
from analyzers.source.flow import names_read
from analyzers.source.project import Project, spelled
from analyzers.source.trees import walk

MAX_CLEARED = 6


def clear_engine_leaves(
    where: Spot, leaves: Sequence[str], gradient: str, project: Project
) -> Iterator[Proposal]:
    """Each leaf gets, in front of the walk, what its class gives a new one; where the text goes
    over all of several leaves to update them, so does what clears them."""
    empty = _empty(gradient, project)
    if empty is None:
        return
    plain = [path for path in leaves if path.isidentifier()]
    lines = [_cleared(name, gradient, empty) for name in plain]
    if deeper := [path for path in leaves if not path.isidentifier()]:
        loop = _updating_loop(where, gradient)
        if loop is not None and isinstance(loop.target, ast.Name):
            inner = _cleared(loop.target.id, gradient, empty)
            lines += [f"for {loop.target.id} in {ast.unparse(loop.iter)}:", f"    {inner}"]
            deeper = []
        known = names_read(where.scope)
        if any(path.partition(".")[0].partition("[")[0] not in known for path in deeper):
            return
        lines += [_cleared(path, gradient, empty) for path in deeper]
    if not lines or len(lines) > MAX_CLEARED:
        return
    edits = [where.editor.insert_before(where.statement, *lines)]
    whose = ", ".join(f"`{name}`" for name in leaves[:4])
    title = f"Clear the gradients of {whose} before each backward"
    yield Proposal("clear-by-hand", title, joined(edits), "", 0)


def _empty(gradient: str, project: Project) -> ast.expr | None:
    """What a leaf's class puts into the attribute of a new one, said of `self` alone."""
    for _, function in project.each(ast.FunctionDef):
        given = {argument.arg for argument in function.args.args[1:]}
        for target, value in _set_in(function) if function.name == "__init__" else ():
            if isinstance(target, ast.Attribute) and target.attr == gradient:
                if not given & names_read(value):
                    return value
    return None


def _set_in(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to what, one by one."""
    for node in walk(function):
        match node:
            case ast.Assign(targets=targets, value=ast.Tuple(elts=values)):
                for target in targets:
                    if isinstance(target, ast.Tuple) and len(target.elts) == len(values):
                        yield from zip(target.elts, values, strict=True)
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)


def _cleared(path: str, gradient: str, empty: ast.expr) -> str:
    """`temp.grad = np.zeros_like(temp.data)` for `self.grad = np.zeros_like(self.data)`."""
    value = re.sub(r"\bself\b", path, ast.unparse(empty))
    return f"{path}.{gradient} = {value}"


def _updating_loop(where: Spot, gradient: str) -> ast.For | None:
    """The loop beside the walk that uses the gradients."""
    for statement in where.block[where.block.index(where.statement) :]:
        if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
            wanted = f"{statement.target.id}.{gradient}"
            if any(spelled(n) == wanted for n in walk(statement) if isinstance(n, ast.Attribute)):
                return statement
    return None
