"""Recognize loops whose iterations take samples in a random order: none goes on from another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from analyzers.source.callees import is_call, keyword
from analyzers.source.flow import bindings, names_read
from analyzers.source.project import Loop, Project, spelled
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
    statement draws, or a function of the script that one calls.
    """
    samples: set[str] = set()
    if is_shuffled(loop, project):
        samples |= {*target_names(loop.target)} if isinstance(loop, ast.For) else set()
    for statement in _certain(loop.body):
        if isinstance(statement, ast.For) and not samples.isdisjoint(names_read(statement.iter)):
            samples |= {*target_names(statement.target)}
        if not isinstance(statement, ast.Assign):
            continue
        if not samples.isdisjoint(names_read(statement.value)) or _is_sample(statement, project):
            if name in bindings(statement) and name in names_read(statement.value):
                return True
            samples |= {*bindings(statement)}
        elif _draws(statement.value):
            samples |= {*bindings(statement)}
    return False


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
    names = {name.rpartition(".")[2] for name in names_read(loop.iter)}
    for _, made in project.each(ast.Assign):
        if any(spelled(t).rpartition(".")[2] in names for t in made.targets):
            yield made.value


def _shuffles(value: ast.expr) -> bool:
    calls = nodes_of(value, ast.Call)
    return any(is_call(call, *_SHUFFLED) or is_true(keyword(call, "shuffle")) for call in calls)


def _is_sample(statement: ast.Assign, project: Project) -> bool:
    """Return True if a statement indexes something by what it draws itself, or calls a function of
    the script that does."""
    if _draws_index([statement]):
        return True
    calls = nodes_of(statement.value, ast.Call)
    functions = (f for call in calls for _, f in project.functions_called(call))
    return any(_draws_index(function.body) for function in functions)


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
