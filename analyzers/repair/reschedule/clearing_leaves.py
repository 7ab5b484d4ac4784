"""Clear the gradients of leaves that no optimizer holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.clearing import in_outer_loops, spelled_alone
from analyzers.source.flow import names_read
from analyzers.source.project import Project, spelled
from analyzers.source.statement_ranges import statements_after
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import walk

MAX_CLEARED = 6  # names: more than a person would clear one by one


def clear_leaves(where: SourceLocation, leaves: Sequence[str]) -> Iterator[Proposal]:
    """Yield proposals that clear the gradients of leaves, which the script updates itself, before
    the backward call: by the script's own clear, moved into the loop, or each by name; those of a
    model by the model.
    """
    for own in _too_seldom(where):
        line = where.editor.text_of(own)
        edits = [where.editor.delete(own), where.editor.insert_before(where.statement, line)]
        title = f"Call `{line}` before each backward"
        yield Proposal("zero-grad", title, joined(edits), "", -1)
    owners = list(dict.fromkeys(_owner(path, where) for path in leaves if "." in path))
    plain = [path for path in leaves if path.isidentifier()]
    lines = [f"{name}.grad = None" for name in plain] + [f"{name}.zero_grad()" for name in owners]
    yield from _by_hand(where, lines, [*plain, *owners])


def clear_engine_leaves(
    where: SourceLocation, leaves: Sequence[str], gradient: str, project: Project
) -> Iterator[Proposal]:
    """Yield proposals that reset each leaf of a hand-written engine as its class initialises a new
    one; if the source loops over the leaves to update them, so does the reset.
    """
    empty = _empty(gradient, project)
    if empty is None:
        return
    lines = [_emptied(path, gradient, empty) for path in leaves if path.isidentifier()]
    if deeper := [path for path in leaves if not path.isidentifier()]:
        loop = _updating_loop(where, gradient)
        if loop is not None:
            name = spelled(loop.target)
            lines += [f"for {name} in {ast.unparse(loop.iter)}:"]
            lines += [f"    {_emptied(name, gradient, empty)}"]
        elif {re.split(r"[.\[]", path)[0] for path in deeper} - names_read(where.scope):
            return
        else:
            lines += [_emptied(path, gradient, empty) for path in deeper]
    yield from _by_hand(where, lines, leaves[:4])


def _by_hand(
    where: SourceLocation, lines: Sequence[str], whose: Sequence[str]
) -> Iterator[Proposal]:
    if lines and len(lines) <= MAX_CLEARED:
        quoted = ", ".join(f"`{name}`" for name in whose)
        edit = where.editor.insert_before(where.statement, *lines)
        title = f"Clear the gradients of {quoted} before each backward"
        yield Proposal("clear-by-hand", title, (edit,), "", 0)


def _empty(gradient: str, project: Project) -> ast.expr | None:
    """Return the value with which a leaf's class initialises the attribute, in terms of `self`
    alone.
    """
    for _, function in project.each(ast.FunctionDef):
        given = {argument.arg for argument in function.args.args[1:]}
        for node in walk(function) if function.name == "__init__" else ():
            for target, value in assigned_pairs(node):
                if isinstance(target, ast.Attribute) and target.attr == gradient:
                    if not given & names_read(value):
                        return value
    return None


def _emptied(path: str, gradient: str, empty: ast.expr) -> str:
    """Return `temp.grad = np.zeros_like(temp.data)` for `self.grad = np.zeros_like(self.data)`."""
    value = re.sub(r"\bself\b", path, ast.unparse(empty))
    return f"{path}.{gradient} = {value}"


def _updating_loop(where: SourceLocation, gradient: str) -> ast.For | None:
    """Return the loop after the backward call that uses the gradients."""
    for statement in statements_after(where.module, where.statement):
        if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
            if f"{statement.target.id}.{gradient}" in names_read(statement):
                return statement
    return None


def _owner(leaf: str, where: SourceLocation) -> str:
    """Return the model that a leaf belongs to, as the function spells it: `self.net` for
    `self.net.2.bias`.
    """
    parts = leaf.split(".")[:-1]
    paths = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    known = names_read(where.scope)
    return next((path for path in paths if path in known and path != "self"), parts[0])


def _too_seldom(where: SourceLocation) -> Iterator[ast.Expr]:
    """Yield clears in an outer block of the same function: once for many iterations."""
    for statement in in_outer_loops(where):
        if isinstance(statement, ast.Expr):
            if re.fullmatch(r"[\w.]+\.zero_grad\(\)", spelled_alone(statement)):
                yield statement
