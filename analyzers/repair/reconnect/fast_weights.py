"""Replace a module's copy that is updated step by step by weights with a graph, with which the
module itself is called.

Writing to the parameters of a copy, by `.data`, under `no_grad` or by an optimizer, leaves the
original module without a path to the loss (MAML's inner steps).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined, rewritten
from analyzers.repair.leaf.adapted import new_value, operand
from analyzers.repair.leaf.leaves import clears
from analyzers.repair.reconnect.functional import (
    ParameterWrite,
    functional_call,
    sole_block,
    written,
)
from analyzers.repair.rewrite import unused_name
from analyzers.source.backward import backward_calls, backward_root
from analyzers.source.callees import is_call
from analyzers.source.calls import PARAMETERS, calls_to
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import definitions, statements_of, walk_scope
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.statement_ranges import ahead_of
from analyzers.source.targets import target_names
from analyzers.source.trees import walk

_MODES = ("train", "eval", "zero_grad", "requires_grad_")  # weights know nothing of these


@dataclass(frozen=True)
class Copied:
    """A copy `name` of the module `original`: made as a deep copy, or as one like it that `loaded`
    its state."""

    made: ast.Assign
    name: str
    original: ast.expr
    loaded: ast.stmt | None = None


@dataclass(frozen=True)
class Inner:
    """One inner-loop step of a copied model.

    `update` assigns the value `new` to each parameter, called `param` there. `along` maps the
    loop's other targets to what they iterate over; if it is empty, the step uses the gradients that
    a backward call left. `optimizer` is the name of the stepping optimizer, `ahead` a line to
    insert first.
    """

    copied: Copied
    update: ast.stmt
    param: str
    new: str
    along: tuple[str, str] | None = None
    optimizer: str = ""
    ahead: str = ""


def updated_copies(params: Sequence[str], project: Project) -> Iterator[tuple[SourceLocation, str]]:
    """Yield where a copy of the module that owns the parameters makes a step, and its name."""
    found = set[int]()
    for module, statement in project.each(ast.stmt):
        where = SourceLocation.of(module, statement)
        inner = _inner(where) if not isinstance(statement, ast.For | ast.With) else None
        if inner is not None and id(inner.update) not in found:
            found.add(id(inner.update))
            if _owns(where, inner, params, project):
                yield where, inner.copied.name


def _owns(where: SourceLocation, inner: Inner, params: Sequence[str], project: Project) -> bool:
    """Return True if all parameters belong to the module that was copied, by its last name, there
    or in the caller.
    """
    name = spelled(inner.copied.original)
    calls = calls_to(project, getattr(where.scope, "name", ""))
    given = [dict(arguments(call, where.module, where.scope)).get(name) for _, call in calls]
    names = [name, *(spelled(one) for one in given if one is not None)]
    lasts = {one.rpartition(".")[2] for one in names}
    return all(any(f".{last}." in f".{param}" for last in lasts) for param in params)


def as_weights(where: SourceLocation, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Yield a proposal that uses the module's weights instead of its copy, in this function and in
    those that receive the copy; the gradients of a step come from `autograd.grad`, with their
    graph.
    """
    inner, editor = _inner(where) or _after_backward(where), where.editor
    if inner is None:
        return
    copied, name = inner.copied, inner.copied.name
    original = editor.text_of(copied.original)
    edits = [editor.replace(copied.made.value, f"dict({original}.named_parameters())")]
    edits += editor.delete_all([copied.loaded] if copied.loaded is not None else [])
    if inner.along is None:
        backwards = [s for s in ahead_of(where.module, inner.update) if backward_calls(s)]
        root = _backward_root(backwards[-1]) if backwards else None
        if root is None:
            return
        torch = alias(where.module, "torch")
        given = f"{editor.text_of(root)}, list({name}.values())"
        grads = unused_name(where.module, "grads")
        text = f"{grads} = {torch}.autograd.grad({given}, create_graph=True)"
        edits.append(editor.replace(backwards[-1], text))
        inner = replace(inner, along=("grad", grads))
    assert inner.along is not None
    each, source = inner.along
    taken = f"(name, {inner.param}), {each} in zip({name}.items(), {source})"
    step = f"{name} = {{name: {inner.new} for {taken}}}"
    lines = [inner.ahead, step] if inner.ahead else [step]
    edits.append(rewritten(editor, [inner.update], lines))
    edits += editor.delete_all(_of_optimizer(where, inner.optimizer))
    edits += _used(where.module, where.scope, name, original, apart_from=inner.update)
    for module, call in calls_to(project, getattr(where.scope, "name", "")):
        edits += _handed(where, module, call, inner)
    title = f"Call `{original}` with the weights of each step instead of a copy"
    yield Proposal("functional-call", title, joined(edits), "", rank)


def _inner(where: SourceLocation) -> Inner | None:
    """Return the step of a copy that a statement is, or is a part of."""
    for around in (where.statement, *where.module.ancestors(where.statement)):
        if isinstance(around, ast.For) and (found := _by_loop(around, where)) is not None:
            return found
    match where.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="step"), args=[])):
            return _by_optimizer(spelled(owner), where)
        case ast.Expr(value=ast.Call(args=[vector, given]) as call) if (
            is_call(call, "torch.nn.utils.vector_to_parameters")
        ) and (copied := _copied(given, where)):
            parts = unused_name(where.module, "parts")
            sizes = f"[p.numel() for p in {copied.name}.values()]"
            ahead = f"{parts} = {operand(vector, where.editor)}.split({sizes})"
            along = ("part", parts)
            return Inner(copied, where.statement, "p", "part.view_as(p)", along, ahead=ahead)
    return None


def _after_backward(where: SourceLocation) -> Inner | None:
    """Return the step of a copy whose weights a statement loads."""
    write = written(where.statement)
    others = statements_of(where.scope) if write is not None else []
    steps = (_inner(SourceLocation(where.module, s, where.place)) for s in others)
    return next((s for s in steps if s and s.copied.loaded is where.statement), None)


def _by_loop(loop: ast.For, where: SourceLocation) -> Inner | None:
    """Return the step of `for p, g in zip(copy.parameters(), grads): p.data -= lr * g`, or by each
    `.grad`.
    """
    names, body = list(target_names(loop.target)), loop.body
    along: tuple[str, str] | None = None
    while len(body) == 1 and isinstance(body[0], ast.With):
        body = body[0].body
    match loop.iter:
        case ast.Call(args=[given, source]) as both if len(names) == 2 and is_call(
            both, "builtins.zip"
        ):
            if isinstance(source, ast.Call) and is_call(source, "torch.nn.Module.parameters"):
                return None  # of another module: it follows that one
            along = (names[1], where.editor.text_of(source))
        case ast.Call() as given if len(names) == 1:
            pass
        case _:
            return None
    updates = [s for s in body if not clears(s, names[0])]
    new = new_value(updates[0], names[0], where.editor) if len(updates) == 1 else None
    copied = _copied(given, where)
    if new is None or copied is None:
        return None
    own = f"{names[0]}.grad"
    if (own in new) != (along is None):
        return None
    new = new.replace(f"{own}.data", own).replace(own, "grad")
    update = sole_block(where.module, loop)
    return Inner(copied, update, names[0], new, along)


def _by_optimizer(name: str, where: SourceLocation) -> Inner | None:
    """Return the step of `inner.step()`, if that is plain gradient descent over a copy."""
    for made in definitions(where.scope, name):
        match made:
            case ast.Assign(value=ast.Call(args=[given, *rest], keywords=more) as making):
                rates = [*rest, *(one.value for one in more if one.arg == "lr")]
                copied = _copied(given, where)
                plain = is_call(making, "torch.optim.SGD") and len(rates) == 1 == len(rest) + len(
                    more
                )
                if plain and copied is not None:
                    new = f"param - {where.editor.text_of(rates[0])} * grad"
                    return Inner(copied, where.statement, "param", new, None, name)
    return None


def _copied(given: ast.expr, where: SourceLocation) -> Copied | None:
    """Return the copy whose `.parameters()` these are."""
    match given:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if is_call(given, *PARAMETERS):
            loaded, original = _loaded_into(name, where)
        case _:
            return None
    for made in definitions(where.scope, name):
        match made:
            case ast.Assign(targets=[ast.Name()], value=ast.Call(args=[source]) as copying) if (
                is_call(copying, "copy.deepcopy")
            ):
                return Copied(made, name, source)
            case ast.Assign(targets=[ast.Name()]) if original is not None:
                return Copied(made, name, original, loaded)
    return None


def _loaded_into(name: str, where: SourceLocation) -> tuple[ast.stmt | None, ast.expr | None]:
    """Return the statement that loads another module's state, and that module."""
    for statement in statements_of(where.scope):
        match written(statement):
            case ParameterWrite(
                path=path, value=ast.Call(func=ast.Attribute(value=original)) as state
            ) if path == f"{name}." and is_call(state, "torch.nn.Module.state_dict"):
                return statement, original
    return None, None


def _backward_root(statement: ast.stmt) -> ast.expr | None:
    """Return the root of a statement that is only a backward call."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return (
        backward_root(call) if isinstance(call, ast.Call) and call in backward_calls(call) else None
    )


def _of_optimizer(where: SourceLocation, name: str) -> list[ast.stmt]:
    """Return the statements that create an optimizer and clear by it."""
    if not name:
        return []
    clearing = (
        s
        for s in statements_of(where.scope)
        if isinstance(s, ast.Expr)
        and isinstance(s.value, ast.Call)
        and spelled(s.value.func) == f"{name}.zero_grad"
    )
    return [*definitions(where.scope, name), *clearing]


def _used(
    module: Module, scope: Scope, name: str, original: str, apart_from: ast.AST | None = None
) -> Iterator[Edit]:
    """Yield edits that replace uses of the copy in a scope by the weights, or a call with them."""
    editor = Editor(module)
    inside = {id(node) for node in walk(apart_from)} if apart_from is not None else set()
    for node in walk_scope(scope):
        if id(node) in inside or not isinstance(node, ast.Call):
            continue
        if spelled(node.func) == name:
            yield editor.replace(node, functional_call(editor, node, original, name))
        elif spelled(node.func) == f"{name}.parameters" and not _makes_optimizer(module, node):
            yield editor.replace(node.func, f"{name}.values")
        elif spelled(node.func) in [f"{name}.{mode}" for mode in _MODES]:
            around = module.parents.get(node)
            if isinstance(around, ast.Expr):
                yield editor.delete(around)


def _makes_optimizer(module: Module, given: ast.Call) -> bool:
    around = module.parents.get(given)
    return isinstance(around, ast.Call) and is_call(around, "torch.optim.SGD")


def _handed(where: SourceLocation, module: Module, call: ast.Call, inner: Inner) -> Iterator[Edit]:
    """Yield the edits of a function that receives the copy under a name of its own."""
    statement = module.statement_at(call.lineno, call.col_offset)
    text = spelled(inner.copied.original)
    given = dict(arguments(call, where.module, where.scope))
    if text in given:
        original = Editor(module).text_of(given[text])
    elif text.startswith("self.") and isinstance(call.func, ast.Attribute):
        original = f"{spelled(call.func.value)}.{text.removeprefix('self.')}"
    else:
        original = text
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is call:
            yield from _used(module, module.scope_of(statement), name, original)
