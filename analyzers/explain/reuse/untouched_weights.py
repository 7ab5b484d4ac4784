"""Decide whether a step leaves the inputs of an old value unchanged: then the value is a constant
for the step.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from analyzers.explain.reuse.derivations import made_of
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import hops_at
from analyzers.source.calls import calls_of, calls_to, makes_leaf, steps
from analyzers.source.flow import definitions, names_read, value_of
from analyzers.source.project import Project, Scope, spelled

_CONSTANTS = ("torch.Tensor.detach", "torch.Tensor.detach_", "torch.autograd.Variable")
_DEPTH = 4


def spared_by_closure(story: ReuseFeatures) -> bool:
    """Return True if a closure reads a value made before its optimizer's step, from nothing that
    the optimizer holds: it is a constant and need not be recomputed in the closure.
    """
    if not story.in_closure or story.reuse.same_root or story.shared is None:
        return False
    if story.bound_inside:
        return False
    owned = [_given_to(story.project, scope, name) for scope, name in _stepped(story)]
    made = _whole(set(_made_of(story)))
    return bool(made) and bool(owned) and all(own and not _shared(own, made) for own in owned)


def _whole(names: set[str]) -> set[str]:
    """Return the names without those that are read only for an attribute:
    `self` of `self.model`.
    """
    return {n for n in names if not any(other.startswith(f"{n}.") for other in names)}


def _shared(some: set[str], others: set[str]) -> bool:
    """Return True if a name of one set equals one of the other, is a part of it, or contains it."""
    return any(
        one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
        for one in some
        for other in others
    )


def _scopes(story: ReuseFeatures) -> list[Scope]:
    return list(dict.fromkeys((story.frame.scope, story.frame.module.tree)))


def _stepped(story: ReuseFeatures) -> Iterator[tuple[Scope, str]]:
    """Yield the optimizers that the shared frame steps, each with the scope that defines it."""
    for call in steps(story.loop or story.frame.scope):
        name = spelled(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        yield next((s for s in _scopes(story) if definitions(s, name)), story.frame.scope), name


def _given_to(project: Project, scope: Scope, optimizer: str) -> set[str]:
    """Return the names that an optimizer is constructed from, back to leaves: no graph leads
    further.
    """
    found: set[str] = set()
    made = [value for s in definitions(scope, optimizer) if (value := value_of(s)) is not None]
    new = {name for value in made for name in names_read(value)}
    for _ in range(_DEPTH):
        found |= new
        values = [v for n in new for s in definitions(scope, n) if (v := value_of(s)) is not None]
        made = [v for v in values if not makes_leaf(v) and not calls_of(v, *_CONSTANTS)]
        new = {n for v in made for n in names_read(v)} - found
    found = {name.removesuffix(".parameters") for name in found if not _is_given(project, name)}
    return _whole(found)


def _is_given(project: Project, name: str) -> bool:
    packages = any(module.in_library(name) for module in project.modules.values())
    return packages or hasattr(builtins, name)


def _made_of(story: ReuseFeatures) -> Iterator[str]:
    """Yield the names, in the shared frame and around it, from which the carrier was computed."""
    for scope, statement in (*_seen(story), *_making(story)):
        yield from made_of(scope, value_of(statement) or statement)


def _seen(story: ReuseFeatures) -> Iterator[tuple[Scope, ast.stmt]]:
    """Yield the statements in these scopes that a run saw bind it."""
    for _, where in hops_at(story.project, story.reuse.path, "bound"):
        if where.scope in _scopes(story):
            yield where.scope, where.statement


def _making(story: ReuseFeatures) -> Iterator[tuple[Scope, ast.stmt]]:
    """Yield the statements in these scopes that bind it or call the function or class that does."""
    for module, scope, statement in story.binders:
        if scope in _scopes(story):
            yield scope, statement
            continue
        owner, name = module.class_of(statement), getattr(scope, "name", "")
        called = owner.name if owner is not None and name == "__init__" else name
        for other, call in calls_to(story.project, called):
            made = other.statement_at(call.lineno, call.col_offset)
            if made is not None and other.scope_of(call) in _scopes(story):
                yield other.scope_of(call), made
