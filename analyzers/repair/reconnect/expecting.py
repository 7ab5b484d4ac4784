"""A fix for what is computed from the place of a maximum: its expected value over all places."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.repair.blocks import alias, text_with
from analyzers.repair.rewrite import unused_name
from analyzers.source.edits import Edit, needs_parentheses
from analyzers.source.flow import called_name, names_read
from analyzers.source.project import Module, spelled
from analyzers.source.runs import behind
from analyzers.source.trees import walk

_CASTS = frozenset({"float", "double", "half", "to", "type", "type_as"})
_PROBABILITIES = frozenset({"softmax", "gumbel_softmax"})


def in_expectation(where: Spot, rank: int = 1) -> Iterator[Proposal]:
    """A soft argmax: of `i = x.argmax(-1)` and `y = f(i)` the softmax of `x`, multiplied with `f`
    of every place along the last dimension. `f` may add dimensions behind."""
    match where.statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as choice):
            scores = _chosen_from(where, choice)
        case _:
            return
    reading = [s for s in behind(where.module, where.statement) if name in names_read(s)]
    if scores is None or not reading or any(hasattr(s, "body") for s in reading):
        return
    editor, places = where.editor, unused_name(where.module, "places")
    given = editor.text_of(scores)
    if not (isinstance(scores, ast.Call) and called_name(scores) in _PROBABILITIES):
        given = f"({given})" if needs_parentheses(scores) else given
        given += ".softmax(dim=-1)"
    size = f"{name}.shape[-1]"
    size += f", device={name}.device" if "device" in where.module.text else ""
    line = f"{places} = {alias(where.module, 'torch')}.arange({size})"
    edits = [editor.replace(choice, given), editor.insert_after(where.statement, line)]
    for statement in reading:
        edits.append(_weighed(where, statement, name, places))
    title = f"Take the expected value over `{editor.text_of(scores)}` instead of its highest place"
    tradeoff = "A soft argmax: the loss is that of the mean place; the best has no gradient."
    yield Proposal("soft-argmax", title, tuple(edits), tradeoff, rank)


def _chosen_from(where: Spot, call: ast.Call) -> ast.expr | None:
    """What `argmax` along the last dimension is taken of."""
    if called_name(call) != "argmax" or not isinstance(call.func, ast.Attribute):
        return None
    owner, given = call.func.value, [*call.args, *(k.value for k in call.keywords)]
    if where.module.in_library(spelled(owner)):
        owner, given = (call.args[0], given[1:]) if call.args else (owner, [])
    return owner if [spelled(value) for value in given] == ["-1"] else None


def _weighed(where: Spot, statement: ast.stmt, name: str, places: str) -> Edit:
    """The statement with the product in place of what it computes from the place alone."""
    module, editor = where.module, where.editor
    reads = [n for n in walk(statement) if isinstance(n, ast.Name) and n.id == name]
    part = _computed(module, statement, reads)
    text = text_with(editor, part, [editor.replace(read, places) for read in reads])
    text = f"({text})" if needs_parentheses(part) else text
    text += "" if _is_float(module, part) else ".float()"
    outer = module.parents.get(part)
    product = f"{name} @ {text}"
    alone = outer is statement or (isinstance(outer, ast.Call) and part in outer.args)
    return editor.replace(part, product if alone else f"({product})")


def _computed(module: Module, statement: ast.stmt, reads: list[ast.Name]) -> ast.expr:
    """The smallest expression with all reads of the place, and what is computed of it alone: a
    remainder, a table's entry, a stack, a cast, a function of one argument."""
    part: ast.AST = reads[0]
    while not all(module.holds(part, read) for read in reads):
        part = module.parents[part]
    while (outer := module.parents.get(part)) is not statement and outer is not None:
        match outer:
            case ast.List() | ast.Tuple() | ast.Attribute():
                pass
            case ast.Subscript(slice=inner) if inner is part:
                pass
            case ast.BinOp(op=ast.Mod() | ast.FloorDiv(), left=inner) if inner is part:
                pass
            case ast.Call(args=[inner]) if inner is part:
                pass
            case ast.Call(func=inner) if inner is part:
                pass
            case _:
                break
        part = outer
    assert isinstance(part, ast.expr)
    return part


def _is_float(module: Module, part: ast.expr) -> bool:
    """Whether it is cast, or looked up: in a table, or by an object of the script's."""
    calls = [node for node in walk(part) if isinstance(node, ast.Call)]
    own = any(call.args and not module.in_library(spelled(call.func)) for call in calls)
    return own or isinstance(part, ast.Subscript) or any(called_name(c) in _CASTS for c in calls)
