"""Fixes for losses that have no gradient: a soft value for a hard one, scores for classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.blocks import alias
from analyzers.edits import Editor
from analyzers.flow import called_name, mentions, names_read
from analyzers.pattern import Proposal
from analyzers.source import Module, spelled
from analyzers.spots import Spot

_STEPWISE = frozenset({"round", "sign", "floor", "ceil", "trunc", "int", "long", "bool"})


def differentiable(where: Spot, rank: int = 1) -> Iterator[Proposal]:
    """In place of a step function, what it was applied to: of `(p > 0.5).float()`, `p`."""
    editor = where.editor
    for node in ast.walk(where.statement):
        soft = _soft(node)
        if soft is not None and isinstance(node, ast.expr):
            title = f"Use `{spelled(soft)}` itself, which has a gradient"
            edits = (editor.replace(node, editor.text_of(soft)),)
            tradeoff = "The loss is that of the soft value; the hard one has no gradient."
            yield Proposal("soft-value", title, edits, "changed", tradeoff, rank)
            return


def _soft(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner)) if _is_order(inner):
            return _sorted(inner)
        case ast.Call() if _is_order(node):
            return _sorted(node)
        case ast.Call(func=ast.Attribute(value=ast.Compare(left=left), attr=attr)) if attr in (
            "float",
            "double",
            "to",
            "type",
            "half",
        ):
            return left
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute(value=left)) as inner)):
            if called_name(inner) in ("gt", "ge", "lt", "le", "round"):
                return left
        case ast.Call(func=ast.Attribute(value=left, attr=attr), args=[]) if attr in _STEPWISE:
            return left
        case ast.Call(args=[left, *_]) if called_name(node) in _STEPWISE and "torch" in spelled(
            node.func
        ):
            return left
    return None


def _is_order(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called_name(node) == "argsort"


def _sorted(node: ast.expr) -> ast.expr:
    """What is put in order: `x` of `x.argsort().argsort()` and of `torch.argsort(x)`."""
    while isinstance(node, ast.Call) and _is_order(node):
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if owner is None or spelled(owner) == "torch":
            return node.args[0] if node.args else node
        node = owner
    return node


def class_scores(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """Cross entropy on the scores in place of a loss on the chosen classes."""
    scores = next(filter(None, map(_chosen_from, ast.walk(where.statement))), None)
    targets = getattr(where.statement, "targets", [])
    if scores is None or len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return
    name, editor = targets[0].id, where.editor
    block = where.block
    for statement in block[block.index(where.statement) + 1 :]:
        call = _loss_on(statement, name)
        if call is None:
            continue
        target = next(a for a in call.args if not mentions(a, name))
        cross = f"{_functional(where.module)}.cross_entropy"
        text = f"{cross}({editor.text_of(scores)}, {_classes(editor, target)})"
        edits = [editor.replace(call, text)]
        others = [s for s in block if s is not statement and name in names_read(s)]
        if not others:
            edits.append(editor.delete(where.statement))
        title = f"Cross entropy on `{spelled(scores)}` instead of a loss on chosen classes"
        tradeoff = "Another loss: the number of wrong classes has no gradient."
        yield Proposal("cross-entropy", title, tuple(edits), "changed", tradeoff, rank)
        return


def _chosen_from(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Call) and called_name(node) == "argmax":
        if (
            node.args
            and isinstance(node.func, ast.Attribute)
            and spelled(node.func.value) == "torch"
        ):
            return node.args[0]
        if isinstance(node.func, ast.Attribute):
            return node.func.value
    return None


def _loss_on(statement: ast.stmt, name: str) -> ast.Call | None:
    """The innermost call of two arguments that reads the name in one of them."""
    found = [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and len(node.args) == 2
        and sum(mentions(a, name) for a in node.args) == 1
    ]
    return found[-1] if found else None


def _classes(editor: Editor, target: ast.expr) -> str:
    """The target as class indices: a conversion to float is taken off."""
    match target:
        case ast.Call(func=ast.Attribute(value=value, attr="float"), args=[]):
            return editor.text_of(value)
    return editor.text_of(target)


def _functional(module: Module) -> str:
    name = alias(module, "torch.nn.functional")
    if name != "torch.nn.functional":
        return name
    nn = alias(module, "torch.nn")
    return f"{nn}.functional" if nn != "torch.nn" else name
