"""Give adapted weights new tensors, where the graph of their update is wanted (MAML's inner steps).

`for w, g in zip(weights, grads): w -= lr * g` becomes a list of new weights; where the weights are
a module's own, the module is called with them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined, rewritten, text_with
from analyzers.repair.leaf.leaves import SIGNS
from analyzers.repair.reconnect.functional import functional_call, sole_block
from analyzers.repair.rewrite import unused_name
from analyzers.source.callees import is_call
from analyzers.source.calls import PARAMETERS, keeps_gradients, operations_in
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import is_dotted, walk_scope
from analyzers.source.project import Module, spelled
from analyzers.source.reads import reads_after
from analyzers.source.trees import end_of, nodes_of, position
from analyzers.source.writes import writes

_ADDING = {"sub_": "-", "add_": "+"}


def adapted(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal that makes new weights of all that a loop updates, if the function keeps the
    graph of gradients and something reads the weights after the loop.
    """
    loop = where.module.parents.get(where.statement)
    if not isinstance(loop, ast.For) or len(loop.body) > 1 or not keeps_gradients(where.scope):
        return
    for write in writes(where.statement):
        new = new_value(where.statement, write.name, where.editor)
        weights = _taken_from(loop, write.name)
        if new is None or weights is None:
            continue
        if is_dotted(weights) and reads_after(where.scope, loop, spelled(weights)):
            made = f"[{new} for {_target(where, loop)} in {where.editor.text_of(loop.iter)}]"
            edits: tuple[Edit, ...] = (
                rewritten(where.editor, [loop], [f"{spelled(weights)} = {made}"]),
            )
            yield _proposal(spelled(weights), edits)
        elif isinstance(weights, ast.Call):
            yield from _in_mapping(where, loop, weights, new)


def _proposal(weights: str, edits: tuple[Edit, ...]) -> Proposal:
    return Proposal("out-of-place", f"Make new tensors of `{weights}` in each update", edits, "", 0)


def _target(where: SourceLocation, loop: ast.For) -> str:
    return where.editor.text_of(loop.target)


def _taken_from(loop: ast.For, name: str) -> ast.expr | None:
    """Return what a loop takes a name from: an argument of `zip`, or all that it iterates over."""
    match loop.target, loop.iter:
        case ast.Tuple(elts=targets), ast.Call(args=sources) as call if is_call(
            call, "builtins.zip"
        ):
            found = [s for t, s in zip(targets, sources, strict=False) if spelled(t) == name]
            return found[0] if found else None
        case ast.Name(id=own), source if own == name:
            return source
    return None


def _in_mapping(
    where: SourceLocation, loop: ast.For, weights: ast.Call, new: str
) -> Iterator[Proposal]:
    """Yield a proposal for the values of a mapping, or for a module's own parameters."""
    if not isinstance(weights.func, ast.Attribute) or weights.args or not _is_pair(loop):
        return
    owner = weights.func.value
    name = spelled(owner)
    taken, source = _as_items(where, loop)
    if weights.func.attr == "values" and reads_after(where.scope, loop, name):
        text = f"{name} = {{name: {new} for {taken} in zip({name}.items(), {source})}}"
        yield _proposal(name, (rewritten(where.editor, [loop], [text]),))
    elif is_call(weights, *PARAMETERS) and weights.func.attr == "parameters":
        yield from _of_module(where, loop, owner, new)


def _is_pair(loop: ast.For) -> bool:
    """Return True if a loop takes two names from a `zip` of two."""
    match loop.target, loop.iter:
        case ast.Tuple(elts=[_, _]), ast.Call(args=[_, _]):
            return True
    return False


def _as_items(where: SourceLocation, loop: ast.For) -> tuple[str, str]:
    """Return the targets of the loop where its first source yields items, and the other source."""
    assert isinstance(loop.target, ast.Tuple)
    assert isinstance(loop.iter, ast.Call)
    first, second = map(where.editor.text_of, loop.target.elts)
    return f"(name, {first}), {second}", where.editor.text_of(loop.iter.args[1])


def _of_module(
    where: SourceLocation, loop: ast.For, owner: ast.expr, new: str
) -> Iterator[Proposal]:
    """Yield a proposal that updates a mapping of a module's weights, with which the module is
    called from there on, within the iteration that begins with the module's own.
    """
    module, editor, original = where.module, where.editor, where.editor.text_of(owner)
    start = _first_of_iteration(where, loop, original)
    around = module.parents.get(start)
    last = getattr(around, "body", [start])[-1]
    within = [
        node
        for node in walk_scope(where.scope)
        if isinstance(node, ast.Call) and position(start) <= position(node) <= end_of(last)
    ]
    called = [node for node in within if spelled(node.func) == spelled(owner)]
    if not any(position(node) > end_of(loop) for node in called):
        return
    weights = unused_name(module, "weights")
    taken, source = _as_items(where, loop)
    step = f"{weights} = {{name: {new} for {taken} in zip({weights}.items(), {source})}}"
    edits = [rewritten(editor, [loop], [step])]
    edits += [editor.replace(n, functional_call(editor, n, original, weights)) for n in called]
    for node in within:
        asked = [one for one in node.args if is_call(node, "torch.autograd.grad")]
        for given in [n for one in asked for n in nodes_of(one, ast.Call)]:
            if (
                is_call(given, *PARAMETERS)
                and spelled(given.func) == f"{spelled(owner)}.parameters"
            ):
                bare = given in asked
                values = f"{weights}.values()"
                edits.append(editor.replace(given, f"list({values})" if bare else values))
    edits.append(editor.insert_before(start, f"{weights} = dict({original}.named_parameters())"))
    title = f"Call `{original}` with the weights of each update"
    yield Proposal("functional-call", title, joined(edits))


def _first_of_iteration(where: SourceLocation, loop: ast.For, owner: str) -> ast.stmt:
    """Return the statement before which a task's weights are the module's own: the loop of inner
    steps, if what follows it in the block calls the module; else the update.
    """
    module: Module = where.module
    first: ast.stmt = sole_block(module, loop)
    for around in module.loops_around(first):
        block = [s for s in module.block_of(around) if position(s) > end_of(around)]
        asks = operations_in(around, ("backward", "step"))
        if asks or not any(_calls(statement, owner) for statement in block):
            break
        first = around
    return first


def _calls(statement: ast.stmt, owner: str) -> bool:
    return any(spelled(n.func) == owner for n in nodes_of(statement, ast.Call))


def new_value(statement: ast.stmt, own: str, editor: Editor) -> str | None:
    """Return what a statement makes of a parameter: `p - lr * g` for `p.data -= lr * g`."""
    match statement:
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in SIGNS:
            text = f"{own} {SIGNS[type(op)]} {operand(value, editor)}"
        case ast.Assign(targets=[target], value=value):
            text = _of_graph(value, own, editor)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr="copy_"), args=[value])):
            text = _of_graph(value, own, editor)
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=target, attr=verb), args=[value], keywords=more)
        ) if verb in _ADDING:
            factors = [one.value for one in more if one.arg == "alpha"]
            product = " * ".join(operand(one, editor) for one in [*factors, value])
            text = f"{own} {_ADDING[verb]} {product}"
        case _:
            return None
    return text if spelled(target).removesuffix(".data") == own else None


def operand(value: ast.expr, editor: Editor) -> str:
    """Return an expression as the right side of a sum or a product."""
    plain = isinstance(value, ast.BinOp) and not isinstance(value.op, ast.Add | ast.Sub)
    text = editor.text_of(value)
    return text if plain or not needs_parentheses(value) else f"({text})"


def _of_graph(value: ast.expr, own: str, editor: Editor) -> str:
    """Return an expression that reads the parameter itself instead of its `.data`."""
    data = [n for n in nodes_of(value, ast.expr) if spelled(n) == f"{own}.data"]
    return text_with(editor, value, [editor.replace(n, own) for n in data])
