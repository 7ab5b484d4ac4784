"""Fixes that put a graph back where a call, a block or a flag had cut it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.arrays import torch_edits
from analyzers.blocks import alias, joined, unwrapped, wrapped
from analyzers.edits import Edit, Editor
from analyzers.evidence import MissingGraph
from analyzers.flow import called_name, definitions, mentions, names_read
from analyzers.leaves import no_grad_header
from analyzers.origins import behind
from analyzers.pattern import Gradients, Proposal
from analyzers.rewrite import calls_named
from analyzers.source import FUNCTIONS, Module, Project, spelled
from analyzers.spots import Spot, names_held

_ENDING_METHODS = frozenset({"item", "detach", "numpy", "tolist", "cpu"})
_TENSOR_MAKERS = frozenset({"tensor", "as_tensor", "Tensor", "FloatTensor", "from_numpy"})
MAX_SUSPECTS = 3
_STEPWISE = frozenset({"round", "sign", "floor", "ceil", "trunc", "int", "long", "bool"})


def without_cut(where: Spot, gradients: Gradients = "same", rank: int = 0) -> Iterator[Proposal]:
    """The statement without `.item()`, `.data`, `.detach()` and the like, or a tensor made anew."""
    edits = [edit for node in cuts_in(where.statement) for edit in _uncut(where.editor, node)]
    if edits:
        told = " and ".join(dict.fromkeys(f"`{_told(n)}`" for n in cuts_in(where.statement)))
        title = f"Keep the graph: without {told}"
        yield Proposal("keep-graph", title, joined(edits), gradients, "", rank)


def cuts_behind_loss(
    where: Spot, evidence: MissingGraph, project: Project, rank: int = 1
) -> Iterator[Proposal]:
    """Where no run has told the cut: each one in the statements that the loss comes from; and
    all of them, with what was said in NumPy said in torch."""
    names = set(names_held(evidence.holders)) or names_read(where.statement)
    origins = list(behind(where, names, project))
    singles = [p for origin in origins for p in without_cut(origin, "unknown", rank)]
    said = {id(origin.scope): torch_edits(origin) for origin in origins}
    in_torch = [edit for edits in said.values() for edit in edits]
    if in_torch:
        cut = [o for o in origins if not said[id(o.scope)]]
        rest = [edit for o in cut for p in without_cut(o) for edit in p.edits]
        title = "Say it with torch, which keeps the graph"
        yield Proposal("torch-functions", title, joined([*in_torch, *rest]), "unknown", "", 0)
    yield from singles[:MAX_SUSPECTS]


def walked_again(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """Checkpoints that record what is in them whatever their inputs: `use_reentrant=False`."""
    edits = tuple(
        where.editor.replace(keyword.value, "False")
        for call in calls_named(where.scope, "checkpoint", "checkpoint_sequential")
        for keyword in call.keywords
        if keyword.arg == "use_reentrant" and spelled(keyword.value) == "True"
    )
    if edits:
        title = "Checkpoint with `use_reentrant=False`"
        yield Proposal("checkpoint-records", title, edits, "same", "", rank)


def cuts_in(statement: ast.stmt) -> list[ast.Attribute | ast.Call]:
    """The expressions that cut, outermost first; the parts of a chain only once."""
    found: list[ast.Attribute | ast.Call] = []
    inside: set[int] = set()
    for node in ast.walk(statement):
        if id(node) not in inside and isinstance(node, ast.Attribute | ast.Call) and _cuts_at(node):
            found.append(node)
            inside |= _links(node)
    return found


def _cuts_at(node: ast.Attribute | ast.Call) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "data"
    name = called_name(node)
    if isinstance(node.func, ast.Attribute) and not node.args and name in _ENDING_METHODS:
        return name != "cpu"
    return bool(node.args) and (name in _TENSOR_MAKERS or spelled(node.func) in ("float",))


def _shortened(node: ast.expr) -> ast.expr | None:
    """A chain of cutting methods without its last link; None where there is none."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[]) if (
            attr in _ENDING_METHODS
        ):
            return value
        case ast.Attribute(value=value, attr="data"):
            return value
    return None


def _links(node: ast.expr) -> set[int]:
    """The nodes that make up a chain, its base left out."""
    found: set[int] = set()
    while (shorter := _shortened(node)) is not None:
        found |= {id(node), id(getattr(node, "func", node))}
        node = shorter
    return found


def _base(node: ast.expr) -> ast.expr:
    """What stands in front of a chain of cutting methods."""
    while (shorter := _shortened(node)) is not None:
        node = shorter
    return node


def _told(node: ast.Attribute | ast.Call) -> str:
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    name = spelled(node.func) if node.args else f".{called_name(node)}"
    return f"{name}(...)" if node.args else f"{name}()"


def _uncut(editor: Editor, node: ast.Attribute | ast.Call) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and node.args:
        yield editor.replace(node, _unmade(editor, node, node.args[0]))
        return
    base = _base(node)
    if _stands_alone(editor.module, node):
        yield editor.replace(node, editor.text_of(base))
        return
    _, start = editor.span(base)
    _, end = editor.span(node)
    closing = editor.module.text[start:end]
    kept = ")" if closing.count(")") > closing.count("(") else ""
    yield Edit(editor.module.path, start, end, kept)


def _stands_alone(module: Module, node: ast.AST) -> bool:
    """Whether the expression is all of what is assigned or returned: no parentheses needed."""
    return isinstance(module.parents.get(node), ast.Assign | ast.Return)


def _unmade(editor: Editor, node: ast.Call, argument: ast.expr) -> str:
    """What a tensor was made anew from, as a tensor with its graph."""
    text = editor.text_of(argument)
    if _is_sequence(editor.module, node, argument):
        return f"{alias(editor.module, 'torch')}.stack({text})"
    inside = isinstance(editor.module.parents.get(node), ast.Attribute | ast.BinOp)
    return f"({text})" if inside and isinstance(argument, ast.BinOp) else text


def _is_sequence(module: Module, node: ast.AST, argument: ast.expr) -> bool:
    """Whether a value is plainly a list of tensors."""
    if isinstance(argument, ast.List | ast.ListComp | ast.GeneratorExp):
        return True
    if not isinstance(argument, ast.Name | ast.Attribute):
        return False
    for statement in definitions(module.scope_of(node), spelled(argument)):
        value = getattr(statement, "value", None)
        if isinstance(value, ast.List | ast.ListComp):
            return True
    return False


def recording(where: Spot, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """The work outside of the `no_grad` around it: a block, a decorator, or a switch left off."""
    for parent in where.module.ancestors(where.statement):
        if isinstance(parent, ast.With) and _stops_recording(parent):
            edits = unwrapped(where.editor, parent)
            if edits:
                title = "Record this work: without `no_grad`"
                yield Proposal("leave-no-grad", title, edits, "same", "", rank)
                return
        if isinstance(parent, FUNCTIONS[:2]):
            yield from _undecorated(where.editor, parent, rank)
    for module in project.modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Expr) and _switches_off(node.value):
                yield from _scoped(module, node, rank)


def switched_off_at(where: Spot) -> int | None:
    """The line of the `no_grad` around a statement: a block's or a decorator's."""
    for parent in where.module.ancestors(where.statement):
        if isinstance(parent, ast.With) and _stops_recording(parent):
            return parent.lineno
        for decorator in getattr(parent, "decorator_list", []):
            if any(word in spelled(decorator) for word in ("no_grad", "inference_mode")):
                return int(decorator.lineno)
    return None


def _stops_recording(block: ast.With) -> bool:
    return any(
        word in spelled(item.context_expr)
        for item in block.items
        for word in ("no_grad", "inference_mode", "set_grad_enabled(False)")
    )


def _undecorated(
    editor: Editor, function: ast.FunctionDef | ast.AsyncFunctionDef, rank: int
) -> Iterator[Proposal]:
    for decorator in function.decorator_list:
        if any(word in spelled(decorator) for word in ("no_grad", "inference_mode")):
            start = editor.offset(decorator.lineno, 0)
            end = editor.offset((decorator.end_lineno or decorator.lineno) + 1, 0)
            edit = Edit(editor.module.path, start, end, "")
            title = f"Record `{function.name}`: without `no_grad`"
            yield Proposal("leave-no-grad", title, (edit,), "same", "", rank)


def _switches_off(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and called_name(node) == "set_grad_enabled"
        and bool(node.args)
        and spelled(node.args[0]) == "False"
    )


def _scoped(module: Module, switch: ast.Expr, rank: int) -> Iterator[Proposal]:
    """What follows the switch in its block, under `no_grad` instead."""
    editor = Editor(module)
    block = module.block_of(switch)
    rest = block[block.index(switch) + 1 :]
    edit = wrapped(editor, rest, no_grad_header(module)) if rest else None
    if edit is not None:
        title = "Switch recording off for this block only"
        yield Proposal("scoped-no-grad", title, (editor.delete(switch), edit), "same", "", rank)


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


def thawed(project: Project, rank: int = 0) -> Iterator[Proposal]:
    """New modules behind the loop that freezes parameters; else without that loop."""
    for module in project.modules.values():
        for loop in ast.walk(module.tree):
            if isinstance(loop, ast.For) and _freezes(loop):
                yield from _thaw(Editor(module), loop, rank)


def _freezes(loop: ast.For) -> bool:
    return "parameters" in spelled(loop.iter) and any(
        (
            isinstance(node, ast.Assign)
            and spelled(node.targets[0]).endswith(".requires_grad")
            and spelled(node.value) == "False"
        )
        or (isinstance(node, ast.Call) and spelled(node).endswith("requires_grad_(False)"))
        for statement in loop.body
        for node in ast.walk(statement)
    )


def _thaw(editor: Editor, loop: ast.For, rank: int) -> Iterator[Proposal]:
    block = editor.module.block_of(loop)
    owner = spelled(loop.iter).partition(".parameters")[0]
    new = [
        s
        for s in block[: block.index(loop)]
        if isinstance(s, ast.Assign) and spelled(s.targets[0]).startswith(f"{owner}.")
    ]
    if new:
        lines = [line for s in new for line in editor.lines_of(s)]
        edits = (*(editor.delete(s) for s in new), editor.insert_after(loop, *lines))
        told = " and ".join(f"`{spelled(s.targets[0])}`" for s in new)
        yield Proposal(
            "new-part-unfrozen", f"Make {told} behind the freezing", edits, "unknown", "", rank
        )
    tradeoff = "All of the model learns, where it was frozen on purpose or by mistake."
    yield Proposal(
        "unfreeze", "Do not freeze", (editor.delete(loop),), "changed", tradeoff, rank + 2
    )
