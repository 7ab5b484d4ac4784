"""Replace a value computed from the position of a maximum by its expected
value over all positions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, text_with
from analyzers.repair.reconnect.step_functions import CASTS, comes_of
from analyzers.repair.rewrite import unused_name
from analyzers.source.callees import in_library, is_call, operation
from analyzers.source.edits import Edit, needs_parentheses
from analyzers.source.flow import is_dotted, names_read
from analyzers.source.project import Module, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import nodes_of, walk

_LISTED = (ast.List, ast.Tuple)


def in_expectation(where: SourceLocation, rank: int = 1) -> Iterator[Proposal]:
    """Yield a soft argmax: for `i = x.argmax(-1)` and `y = f(i)`, the softmax of `x` multiplied
    with `f` of every position along the last dimension. `f` may add trailing dimensions. Only if
    every reader of the position computes a value from it: a comparison has no expected value, nor
    has an index under which something is written.
    """
    match where.statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as choice):
            scores = _chosen_from(choice)
        case _:
            return
    places = unused_name(where.module, "places")
    edits = _weighed_all(where, name, places) if scores is not None else []
    if scores is None or not edits:
        return
    editor, given = where.editor, where.editor.text_of(scores)
    if not comes_of(where, scores, "softmax", "gumbel_softmax"):
        given = f"({given})" if needs_parentheses(scores) else given
        given += ".softmax(dim=-1)"
    size = f"{name}.shape[-1]"
    size += f", device={name}.device" if "device" in where.module.text else ""
    line = f"{places} = {alias(where.module, 'torch')}.arange({size})"
    made = (editor.replace(choice, given), editor.insert_after(where.statement, line))
    title = f"Take the expected value over `{editor.text_of(scores)}` instead of its highest place"
    tradeoff = "A soft argmax: the loss is that of the mean place; the best has no gradient."
    yield Proposal("soft-argmax", title, (*made, *edits), tradeoff, rank)


def _chosen_from(call: ast.Call) -> ast.expr | None:
    """Return what `argmax` along the last dimension is taken of."""
    if not is_call(call, "torch.Tensor.argmax") or not isinstance(call.func, ast.Attribute):
        return None
    owner, given = call.func.value, [*call.args, *(k.value for k in call.keywords)]
    if is_dotted(owner) and in_library(call):
        owner, given = (call.args[0], given[1:]) if call.args else (owner, [])
    return owner if [spelled(value) for value in given] == ["-1"] else None


def _weighed_all(where: SourceLocation, name: str, places: str) -> list[Edit]:
    """Return the products in place of everything computed from the position; empty if one is
    impossible.
    """
    reads = names_loaded(nodes_of(where.scope, ast.Name), name)
    edits: list[Edit] = []
    for statement in statements_after(where.module, where.statement):
        match statement:
            case ast.Assign(targets=[ast.Name()], value=value):
                values = [value]
            case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=values)):
                pass
            case ast.Return(value=ast.expr() as value):
                values = [value]
            case _:
                continue
        for value in values:
            own = [node for node in reads if where.module.holds(value, node)]
            reads = [node for node in reads if node not in own]
            edit = _weighed(where, value, own, name, places) if own else None
            if own and edit is None:
                return []
            edits += [edit] if edit is not None else []
    return edits if not reads else []


def _weighed(
    where: SourceLocation, value: ast.expr, reads: list[ast.Name], name: str, places: str
) -> Edit | None:
    """Return the product in place of what a value computes from the position alone."""
    module, editor = where.module, where.editor
    if any(isinstance(node, ast.Compare) for node in walk(value)):
        return None
    part = _computed(module, value, reads)
    if part is None:
        return None
    text = text_with(editor, part, [editor.replace(read, places) for read in reads])
    text = f"({text})" if needs_parentheses(part) else text
    text += "" if _is_float(module, part, reads) else ".float()"
    outer = module.parents.get(part)
    alone = part is value or (isinstance(outer, ast.Call) and part in outer.args)
    return editor.replace(part, f"{name} @ {text}" if alone else f"({name} @ {text})")


def _computed(module: Module, value: ast.expr, reads: list[ast.Name]) -> ast.expr | None:
    """Return the smallest expression that contains all reads of the position and depends on nothing
    else: a remainder, a table's entry, a stack, a cast, a function of numbers.
    """
    part: ast.AST = reads[0]
    while not all(module.holds(part, read) for read in reads):
        part = module.parents[part]
    while part is not value:
        outer = module.parents[part]
        match outer:
            case ast.List() | ast.Tuple() | ast.Attribute():
                pass
            case ast.Subscript(slice=inner) if inner is part:
                pass
            case ast.BinOp(op=ast.Mod() | ast.FloorDiv(), left=inner) if inner is part:
                pass
            case ast.Call(args=[inner, *dims]) if inner is part and not any(map(names_read, dims)):
                pass
            case ast.Call(func=inner) if inner is part:
                pass
            case _:
                break
        part = outer
    return part if isinstance(part, ast.expr) and not isinstance(part, _LISTED) else None


def _is_float(module: Module, part: ast.expr, reads: list[ast.Name]) -> bool:
    """Return True if it is cast, or looked up in a table or by one of the script's objects."""
    calls = nodes_of(part, ast.Call)
    own = any(
        module.holds(argument, read) and not in_library(call)
        for call in calls
        for argument in call.args
        for read in reads
    )
    return own or isinstance(part, ast.Subscript) or any(operation(c) in CASTS for c in calls)
