"""Decide whether what a function binds existed before the loop between two backward calls."""

from __future__ import annotations

import ast

from analyzers.explain.reuse.backward_pair import BackwardPair
from analyzers.explain.reuse.execution_counts import constructs
from analyzers.source.calls import calls_to, own_calls
from analyzers.source.flow import declared_outer, mentions, walk_scope, yields
from analyzers.source.project import FUNCTIONS, Scope

MAX_CALLS = 4  # call depth between a function and code that is known to have run


def ran_before(story: BackwardPair, scope: Scope, again: bool = True) -> bool:
    """Return True if a function ran before the loop: it called the loop's function, constructs an
    object, is a closure factory, or was called before the loop. With `again`, a generator does not
    count, because its loops continue later.
    """
    if story.is_outer(scope) or isinstance(scope, ast.Module):
        return True
    if constructs(story.project, scope) or _is_factory(story, scope):
        return True
    return not (again and yields(scope)) and _called_in_front(story, scope)


def _called_in_front(story: BackwardPair, scope: Scope, depth: int = MAX_CALLS) -> bool:
    """Return True if every call of a function is outside the loop: in the loop's function, in its
    callers or where objects are constructed, and none is on the way to the backward call; or in
    another function that is called only so.
    """
    if not depth or isinstance(scope, ast.Module):
        return False
    around = [frame.scope for frame in story.above]
    running = [story.loop, *(frame.statement for frame in story.above)]
    calls = calls_to(story.project, getattr(scope, "name", ""))
    return bool(calls and story.loop) and all(
        constructs(story.project, module.scope_of(call))
        or (
            not any(module.holds(one, call) for one in running)
            if module.scope_of(call) in around
            else not yields(module.scope_of(call))
            and _called_in_front(story, module.scope_of(call), depth - 1)
        )
        for module, call in calls
    )


def _is_factory(story: BackwardPair, scope: Scope) -> bool:
    """Return True if a function only binds the carrier for its inner functions and the loop does
    not call it again.
    """
    inner = [n for n in walk_scope(scope) if isinstance(n, FUNCTIONS) and n is not scope]
    reading = any(mentions(n, story.name) for n in inner if story.name not in declared_outer(n))
    name = getattr(scope, "name", "")
    return reading and not (story.loop is not None and own_calls(story.loop, name))
