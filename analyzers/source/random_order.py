"""Recognize loops whose iterations take samples in a random order: none goes on from another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from typing import TypeGuard

from analyzers.source.callees import is_call, keyword, operation, own_name
from analyzers.source.flow import bindings, names_read
from analyzers.source.ops import UNKNOWN, op
from analyzers.source.project import Function, Loop, Project, spelled
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, walk
from analyzers.source.writes import is_true

_SHUFFLED = (
    *("torch.randperm", "numpy.random.permutation", "random.sample"),
    "torch.utils.data.RandomSampler",
)
_DRAWN = (
    *("torch.randint", "numpy.random.randint", "numpy.random.choice"),
    *("random.randint", "random.randrange", "random.choice"),
)


def is_shuffled(loop: Loop, project: Project) -> bool:
    """Return True if a loop takes samples in a random order, by its own expression or by the
    definition of what it iterates over (unless it only counts).
    """
    return isinstance(loop, ast.For) and any(map(_shuffles, _iterated(loop, project)))


def fed_at_random(name: str, loop: Loop, project: Project) -> bool:
    """Return True if each iteration of a loop computes the named value from the one before and from
    a sample taken in a random order: it is what the loop iterates over, or it is indexed by what a
    statement draws, or a function of the script that one calls. What is added to (an average) is
    meant to go on from one sample to the next.
    """
    targets = {*target_names(loop.target)} if isinstance(loop, ast.For) else set[str]()
    samples = targets if is_shuffled(loop, project) else set[str]()
    ordered = targets - samples | {n for s in loop.body for n in _counted(s)}
    bound = {n for statement in _certain(loop.body) for n in bindings(statement)}
    for statement in _certain(loop.body):
        if isinstance(statement, ast.For) and not samples.isdisjoint(names_read(statement.iter)):
            samples |= {*target_names(statement.target)}
        if not isinstance(statement, ast.Assign):
            continue
        known = not samples.isdisjoint(names_read(statement.value))
        if not ordered.isdisjoint(names_read(statement.value)) or _iterates(statement.value):
            ordered |= {*bindings(statement)} - {name}
        elif known or _is_sample(statement, project, bound):
            if name in bindings(statement) and _goes_through(name, statement.value):
                return True
            samples |= {*bindings(statement)}
        elif _draws(statement.value):
            samples |= {*bindings(statement)}
    return False


def _iterates(value: ast.expr) -> bool:
    return any(own_name(call) == "next" for call in nodes_of(value, ast.Call))


def _counted(statement: ast.stmt) -> list[str]:
    return bindings(statement) if isinstance(statement, ast.AugAssign) else []


def _goes_through(name: str, value: ast.expr) -> bool:
    """Return True if a value is what a call makes of the named one: `cell(x, state)`; False if it
    is the named one with something added."""
    for node in nodes_of(value, ast.BinOp):
        adds = not isinstance(node.op, ast.MatMult)
        if adds and name in (spelled(node.left), spelled(node.right)):
            return False
    calls = (call for call in nodes_of(value, ast.Call) if not _passes_on(call))
    given = (one for call in calls for one in (*call.args, *(k.value for k in call.keywords)))
    return any(name in names_read(one) for one in given)


def _passes_on(call: ast.Call) -> bool:
    """Return True for an operation that adds up its inputs or selects from them: `cat`, `lerp`."""
    known = op(operation(call))
    return known is not UNKNOWN and (known.selects or not (known.inputs or known.result))


def _certain(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, and of loops in it, in source order: none that a condition
    may leave out, such as a choice that only some iterations draw (exploration).
    """
    for statement in body:
        if isinstance(statement, ast.If | ast.Try | ast.While | ast.FunctionDef | ast.ClassDef):
            continue
        yield statement
        if isinstance(statement, ast.For | ast.With):
            yield from _certain(statement.body)


def _iterated(loop: ast.For, project: Project) -> Iterator[ast.expr]:
    """Yield what a loop iterates over, and what its names were given."""
    yield loop.iter
    if any("range" in spelled(call.func) for call in nodes_of(loop.iter, ast.Call)):
        return
    match loop.iter:
        case ast.Subscript(value=rows, slice=ast.Tuple(elts=[first, *_])):  # the others are columns
            read = names_read(rows) | names_read(first)
        case _:
            read = names_read(loop.iter)
    names = {name.rpartition(".")[2] for name in read}
    for _, made in project.each(ast.Assign):
        if any(spelled(t).rpartition(".")[2] in names for t in made.targets):
            yield made.value


def _shuffles(value: ast.expr) -> bool:
    calls = nodes_of(value, ast.Call)
    return any(is_call(call, *_SHUFFLED) or is_true(keyword(call, "shuffle")) for call in calls)


def _is_sample(statement: ast.Assign, project: Project, bound: Set[str]) -> bool:
    """Return True if a statement indexes something by what it draws itself, or calls a function of
    the script that does. Not one that goes on from what the loop has bound, or from its object's
    state: an environment.
    """
    calls = nodes_of(statement.value, ast.Call)
    if _draws_index([statement]):
        return True
    free = (c for c in calls if not any(bound & names_read(a) for a in (*c.args, *c.keywords)))
    functions = (f for call in free for _, f in project.functions_called(call))
    return any(_draws_index(f.body) and not _keeps_state(f) for f in functions)


def _keeps_state(function: Function) -> bool:
    stored = (n for n in nodes_of(function, ast.Attribute) if isinstance(n.ctx, ast.Store))
    return any(spelled(one.value) == "self" for one in stored)


def _draws_index(body: Sequence[ast.stmt]) -> bool:
    """Return True if the statements of a body index something by what they have drawn."""
    drawn: set[str] = set()
    for statement in _certain(body):
        own = [] if isinstance(statement, ast.For | ast.With) else walk(statement)
        indexed = [n.slice for n in own if _is_read(n)]
        if any(_draws(index) or not drawn.isdisjoint(names_read(index)) for index in indexed):
            return True
        if isinstance(statement, ast.Assign) and _draws(statement.value):
            drawn |= {*bindings(statement)}
    return False


def _is_read(node: ast.AST) -> TypeGuard[ast.Subscript]:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)


def _draws(value: ast.expr) -> bool:
    return any(is_call(call, *_DRAWN, *_SHUFFLED) for call in nodes_of(value, ast.Call))
