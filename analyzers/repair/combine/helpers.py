"""Helpers that walk a loss of their own: they return it, and their caller walks."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from analyzers.explain.reuse.story import Story
from analyzers.repair.rewrite import unused_name
from analyzers.repair.sites.statements import loss_of, walk_alone
from analyzers.source.calls import calls_to, steps
from analyzers.source.detached import VALUES
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import called_name, names_read, statements_of, walk_scope
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.trees import position, walk


@dataclass(frozen=True)
class Helper:
    """A function that walks one loss, in a statement of its own, and takes no step.

    `returned` is its only return with a value, which is the loss or its number, if it has one.
    """

    module: Module
    function: ast.FunctionDef
    walk: ast.stmt
    loss: ast.expr
    returned: ast.Return | None


@dataclass(frozen=True)
class Returned:
    """What the caller calls the loss that it is given now, by which edits, and what is to follow
    the walk: the loss as the number that it was."""

    name: str
    edits: tuple[Edit, ...]
    behind: tuple[str, ...]


def returned_loss(story: Story, function: str, statement: ast.stmt) -> Returned | None:
    """The loss of a helper that this statement alone calls, in the caller's hands."""
    helper = _helper(story.project, function)
    inner = _returning(helper) if helper is not None else None
    if helper is None or inner is None or not _called_once(story.project, function, statement):
        return None
    module = story.frame.module
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            number = helper.returned is not None and isinstance(helper.returned.value, ast.Call)
            later = number and _read_later(module, statement, name)
        case ast.Expr(value=ast.Call() as call):
            name, later, editor = f"{function.strip('_')}_loss", False, Editor(module)
            name = unused_name(module, name)
            inner = (*inner, editor.replace(statement, f"{name} = {editor.text_of(call)}"))
        case _:
            return None
    behind = (f"{name} = {name}.item()",) if later else ()
    return Returned(name, inner, behind) if called_name(call) == function else None


def _helper(project: Project, name: str) -> Helper | None:
    """The function of this name, where it is one that a caller could walk for."""
    for module, function in project.functions_by_name(name):
        if not isinstance(function, ast.FunctionDef) or steps(function):
            continue
        walks = [n for n in walk_scope(function) if isinstance(n, ast.stmt) and walk_alone(n)]
        returns = [n for n in walk_scope(function) if isinstance(n, ast.Return) and n.value]
        call = walk_alone(walks[0]) if len(walks) == 1 else None
        if call is None or len(returns) > 1 or walks[0] not in function.body:
            return None
        loss = loss_of(call)
        if returns and not _is_loss(returns[0], loss):
            return None
        return Helper(module, function, walks[0], loss, returns[0] if returns else None)
    return None


def _is_loss(returned: ast.Return, loss: ast.expr) -> bool:
    """Whether what is returned is the loss itself, or only its value."""
    value = returned.value
    while not isinstance(value, ast.Name) and value is not None:
        if spelled(value) == spelled(loss):
            return True
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in VALUES:
                value = inner
            case ast.Call(func=ast.Name(id="float"), args=[inner]):
                value = inner
            case _:
                return False
    return value is not None and spelled(value) == spelled(loss)


def _returning(helper: Helper) -> tuple[Edit, ...] | None:
    """The helper without its walk, its loss returned."""
    editor = Editor(helper.module)
    text = editor.text_of(helper.loss)
    if helper.returned is None:
        if helper.function.body[-1] is not helper.walk:
            return None
        return (editor.replace(helper.walk, f"return {text}"),)
    assert helper.returned.value is not None
    return editor.delete(helper.walk), editor.replace(helper.returned.value, text)


def _called_once(project: Project, name: str, statement: ast.stmt) -> bool:
    """Whether no other statement of the project calls the function."""
    inside = set(walk(statement))
    return all(call in inside for _, call in calls_to(project, name))


def _read_later(module: Module, statement: ast.stmt, name: str) -> bool:
    scope = module.scope_of(statement)
    later: Sequence[ast.AST] = [
        node for node in statements_of(scope) if position(node) > position(statement)
    ]
    return any(name in names_read(node) for node in later if not isinstance(node, FUNCTIONS))
