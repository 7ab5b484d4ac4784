"""Decide whether the steps change nothing from which an old value was computed: then the value is
still valid, a constant for these steps, and only its graph is the problem.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from analyzers.explain.reuse.derivations import made_of, sources
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.read_only_uses import before_loop, makers
from analyzers.explain.source_locations import hops_at
from analyzers.source.calls import calls_of, calls_to, makes_leaf, steps
from analyzers.source.flow import definitions, names_bound, names_read, value_of
from analyzers.source.project import Function, Scope, spelled
from analyzers.source.signatures import named

_CONSTANTS = ("torch.Tensor.detach", "torch.Tensor.detach_", "torch.autograd.Variable")


def steps_others(story: ReuseFeatures) -> bool:
    """Return True if the iterations update nothing from which the carrier was computed."""
    if story.loop is None or story.shared is None or story.bound_inside:
        return False
    seen = [edge.stepped for edge in story.reuse.stale_edges if edge.stepped is not None]
    if seen:
        return not any(seen)
    plain = [call for call in steps(story.loop) if not call.args]
    held = [*_held_by(story, plain), *story.steps_by_hand]
    by_hand = _made_of(story) if story.steps_by_hand else set()
    return _are_apart(makers(story) | by_hand, held)


def spared_by_closure(story: ReuseFeatures) -> bool:
    """Return True if a closure reads a value made before its optimizer's step, from nothing that
    the optimizer holds: it need not be recomputed in the closure.
    """
    if not story.in_closure or story.reuse.same_root or story.shared is None:
        return False
    if story.bound_inside:
        return False
    held = _held_by(story, steps(story.loop or story.frame.scope))
    made = {n for where, s in _making(story) for n in made_of(where, value_of(s) or s)}
    return _are_apart(_own(story, made), [_own(story, names) for names in held])


def _are_apart(made: set[str], held: Sequence[set[str]]) -> bool:
    """Return True if both are known, and none of the names that optimizers hold equals one of those
    from which a value was made, leads to it, or is reached from it.
    """
    return (
        bool(made)
        and bool(held)
        and all(held)
        and not any(
            one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
            for one in made
            for names in held
            for other in names
        )
    )


def _held_by(story: ReuseFeatures, stepping: Sequence[ast.Call]) -> list[set[str]]:
    """Return for each optimizer that is stepped the names from which the scopes around construct
    it, directly or indirectly, back to leaves: no graph leads further.
    """
    owners = {spelled(c.func.value) for c in stepping if isinstance(c.func, ast.Attribute)}
    return [
        {
            name.removesuffix(".parameters")
            for scope in _scopes(story)
            for statement in definitions(scope, optimizer)
            if isinstance(value := value_of(statement), ast.Call)
            for argument in (*value.args, *(k.value for k in value.keywords))
            for name in sources(scope, statement, names_read(argument), _graph_of)
        }
        for optimizer in owners
    ]


def _graph_of(value: ast.expr) -> set[str]:
    """Return the names to which the graph of a value leads."""
    ends = makes_leaf(value) or calls_of(value, *_CONSTANTS)
    return set() if ends else names_read(value)


def _own(story: ReuseFeatures, names: set[str]) -> set[str]:
    """Return the names that belong to no package, without those that are read only for an
    attribute: `self` of `self.model`.
    """
    modules = story.project.modules.values()
    own = {n for n in names if not hasattr(builtins, n)}
    own = {name for name in own if not any(module.in_library(name) for module in modules)}
    return {name for name in own if not any(other.startswith(f"{name}.") for other in own)}


def _made_of(story: ReuseFeatures) -> set[str]:
    """Return the names from which the carrier was computed before the loop, including what the
    functions that computed it read besides their arguments: weights updated by hand belong to no
    model.
    """
    names: set[str] = set()
    for module, _, _, read in before_loop(story):
        names |= read
        functions = [module.function_named(name) for name in names]
        names |= {n for f in functions if f is not None for n in _free_names(f)}
    return names


def _free_names(function: Function) -> set[str]:
    """Return the free names of a function."""
    own = named(function) | names_bound(function)
    return {name for name in names_read(function) if name.partition(".")[0] not in own}


def _scopes(story: ReuseFeatures) -> list[Scope]:
    return list(dict.fromkeys((story.frame.scope, story.frame.module.tree)))


def _making(story: ReuseFeatures) -> Iterator[tuple[Scope, ast.stmt]]:
    """Yield the statements in these scopes that a run saw bind the carrier, that bind it, or that
    call the function or class that does.
    """
    for _, where in hops_at(story.project, story.reuse.path, "bound"):
        if where.scope in _scopes(story):
            yield where.scope, where.statement
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
