"""Find where the source itself shows that a tensor is only read: as a loss's target or as an old
value.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from analyzers.explain.origins import callees
from analyzers.explain.reuse.derivations import made_of
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import resolve_location
from analyzers.source import priors
from analyzers.source.callees import creates_object, in_library, own_name, plain_name
from analyzers.source.flow import (
    bindings,
    definitions,
    value_of,
    walk_scope,
)
from analyzers.source.project import FUNCTIONS, Module, Project, Scope, spelled
from analyzers.source.targets import each_taken, target_names
from analyzers.source.trees import nodes_of, remembered, walk

_BUILTINS = frozenset(dir(builtins))


def maker_called_inside(story: ReuseFeatures) -> bool:
    """Return True if the model that computed the carrier outside the loop, or outside the function
    that calls backward, is called again inside: then the carrier is the old value next to the new
    one.
    """
    if story.shared is None:
        return False
    inside = (_models_called(story.project, statement) for statement in _repeated(story))
    return not makers(story).isdisjoint(set().union(*inside))


def _repeated(story: ReuseFeatures) -> list[ast.stmt]:
    """Return the statements of the loop; without one, those of a function nested in the carrier's,
    which calls backward.
    """
    if story.loop is not None:
        return story.loop.body
    where = resolve_location(story.project, story.reuse.reached.at)
    if where is None or not isinstance(where.scope, FUNCTIONS[:2]):
        return []
    nested = any(where.scope in walk(scope) for _, scope, _ in story.binders)
    own = any(scope is where.scope for _, scope, _ in story.binders)
    return where.scope.body if nested and not own else []


def makers(story: ReuseFeatures) -> set[str]:
    """Return the models that computed the carrier before the loop."""
    return {
        maker
        for _, scope, statement, names in before_loop(story)
        for other in (statement, *(one for name in names for one in definitions(scope, name)))
        if isinstance(other, ast.Assign)
        for maker in _models_called(story.project, other.value)
    }


def before_loop(story: ReuseFeatures) -> Iterator[tuple[Module, Scope, ast.stmt, set[str]]]:
    """Yield the carrier's binders before the loop, each with the names that
    its value depends on.
    """
    for module, scope, statement in story.binders:
        if story.loop is None or not module.holds(story.loop, statement):
            yield module, scope, statement, made_of(scope, value_of(statement) or statement)


@remembered
def target_calls(story: ReuseFeatures) -> list[ast.Call]:
    """Return calls of a loss function of which only the second argument comes from the carrier.

    It is meant as a constant there. So are other entries of the carrier that an entry is compared
    with.
    """
    if story.shared is None or not story.name:
        return []
    scope = story.shared.scope
    names = {story.name, *siblings(story)}
    found = []
    for loss in losses_in(scope):
        ours, theirs = (made_of(scope, argument) for argument in loss.args[:2])
        if theirs & names and not ours & names:
            found.append(loss)
    return found or entry_targets(story)


def entry_targets(story: ReuseFeatures) -> list[ast.Call]:
    """Return calls of a loss function that compare one entry of the carrier to others.

    The others have other names: `kl_div(outs[i].log_softmax(1), peer.softmax(1))`.
    """
    found = []
    for loss in losses_in(story.frame.scope) if story.shared is not None else ():
        ours, theirs = (set(_entries_read(story, one)) for one in loss.args[:2])
        if ours and theirs and not ours & theirs:
            found.append(loss)
    return found


def _entries_read(story: ReuseFeatures, value: ast.expr) -> Iterator[str]:
    """Yield the entries of the carrier that an expression reads, as it writes them.

    That is by an index, or by the name that a surrounding comprehension gives to each.
    """
    module, scope = story.frame.module, story.frame.scope
    for node in walk(value):
        match node:
            case ast.Subscript(value=owner, slice=index) if not isinstance(index, ast.Slice):
                if spelled(owner) == story.name:
                    yield spelled(node)
            case ast.Name(id=name):
                for target, source in each_taken(module, node):
                    if name in target_names(target) and story.name in made_of(scope, source):
                        yield name


@remembered
def siblings(story: ReuseFeatures) -> set[str]:
    """Return the names that are bound together with the carrier (`a, b = x.chunk(2)`), or by a call
    of the function that made it.
    """
    own = [statement for _, _, statement in story.binders] + [*_calls_of_makers(story)]
    return {
        name
        for statement in own
        if isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Tuple)
        for name in bindings(statement)
    }


def _calls_of_makers(story: ReuseFeatures) -> Iterator[ast.stmt]:
    """Yield the statements of the shared frame that call a function in which
    the carrier is bound.
    """
    scope = story.frame.scope
    makers = [own for _, own, _ in story.binders if own is not scope]
    for statement in walk_scope(scope) if makers else ():
        if isinstance(statement, ast.Assign):
            if any(callee in makers for _, callee in callees(statement, story.project)):
                yield statement


def _models_called(project: Project, node: ast.AST, deep: bool = True) -> set[str]:
    """Return what the node, and the script's functions that it calls, call like a model. Members
    are reduced to their own names: `critic` for `agent.critic` and `self.critic`.
    """
    found: set[str] = set()
    for call in nodes_of(node, ast.Call):
        if _is_model_call(call):
            name = own_name(call)
            found.add(name if name in _own_attributes(project) else spelled(call.func))
        for _, function in project.functions_called(call) if deep else ():
            found |= _models_called(project, function, deep=False)
    return found


@remembered
def _own_attributes(project: Project) -> set[str]:
    """Return the attributes that methods of the project bind on `self`."""
    return {
        name.partition(".")[2]
        for _, statement in project.each(ast.Assign)
        for name in bindings(statement)
        if name.startswith("self.") and name.count(".") == 1
    }


def _is_model_call(call: ast.Call) -> bool:
    """Return True for a call with arguments of something that is not a library's, a builtin or a
    class.
    """
    text = spelled(call.func)
    library = in_library(call) or text in _BUILTINS
    return bool(call.args) and not library and not creates_object(call)


@remembered
def losses_in(scope: ast.AST) -> list[ast.Call]:
    """Return the calls of loss functions in a scope that are given two arguments or more."""
    calls = (node for node in walk_scope(scope) if isinstance(node, ast.Call))
    return [call for call in calls if len(call.args) >= 2 and is_loss(call)]


def is_loss(call: ast.Call) -> bool:
    """Return True if a call, by its name, is that of a loss function."""
    return priors.is_loss(plain_name(call))
