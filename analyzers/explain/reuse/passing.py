"""Follow values between functions: the argument that a caller passes for a parameter, frame by
frame.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analyzers.explain.source_locations import resolve_location
from analyzers.source.callees import own_name
from analyzers.source.project import FUNCTIONS, Module, Project, Scope, spelled
from analyzers.source.signatures import positional
from analyzers.source.trees import nodes_of
from provenance import BackwardCall, CodeLine

_CALLED_OTHERWISE = ("forward", "__call__", "__init__")  # `model(x)` calls the first two


@dataclass(frozen=True)
class CallFrame:
    """An activation on the way to a backward call, and the statement of its function that was
    running.
    """

    module: Module
    scope: Scope
    statement: ast.stmt
    place: CodeLine


def frames(project: Project, backward_call: BackwardCall) -> list[CallFrame]:
    """Return the activations that led to a backward call, outermost first, as far as their source
    is known.
    """
    found: list[CallFrame] = []
    for place in backward_call.stack or (backward_call.at,):
        where = resolve_location(project, place)
        if where is not None:
            found.append(CallFrame(where.module, where.scope, where.statement, place))
    return found


def call_into(frame: CallFrame, function: Scope) -> ast.Call | None:
    """Return the call in the frame's statement that runs the function; None if several might."""
    name = getattr(function, "name", "")
    calls = nodes_of(frame.statement, ast.Call)
    named = [call for call in calls if own_name(call) == name]
    if not named and name in _CALLED_OTHERWISE:
        named = [call for call in calls if call.args or call.keywords]
    return named[0] if len(named) == 1 else None


def arguments(call: ast.Call, module: Module, function: Scope) -> Iterator[tuple[str, ast.expr]]:
    """Yield the function's parameters with the arguments that a call passes, up to the first
    `*args`.
    """
    if not isinstance(function, FUNCTIONS):
        return
    taken = positional(function)[_is_bound(module, function) :]
    for parameter, value in zip(taken, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        yield parameter, value
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value


def _is_bound(module: Module, function: Scope) -> bool:
    """Return True if a call omits the first parameter, as method calls do."""
    decorators = {spelled(node) for node in getattr(function, "decorator_list", [])}
    return isinstance(module.parents.get(function), ast.ClassDef) and not (
        decorators & {"staticmethod"}
    )


def handed_down(stack: Sequence[CallFrame], name: str) -> Iterator[tuple[CallFrame, ast.expr]]:
    """Yield where the innermost frame's parameter `name` comes from: the calling frame with its
    argument, and so on outwards while the argument is itself a parameter.
    """
    for caller, frame in zip(stack[-2::-1], stack[:0:-1], strict=True):
        call = call_into(caller, frame.scope)
        given = dict(arguments(call, frame.module, frame.scope)) if call is not None else {}
        if name not in given:
            return
        yield caller, given[name]
        if not isinstance(given[name], ast.Name):
            return
        name = spelled(given[name])


def known_below(stack: Sequence[CallFrame], name: str) -> Iterator[tuple[CallFrame, str]]:
    """Yield what frames called by the outermost one call its value `name`: the parameter that
    receives it, or the same attribute of the same object.
    """
    for caller, frame in pairwise(stack):
        call = call_into(caller, frame.scope)
        if call is None:
            return
        given = {spelled(v): p for p, v in arguments(call, frame.module, frame.scope)}
        owner = name.partition(".")[0]
        if name in given:
            name = given[name]
        elif owner in given:
            name = given[owner] + name.removeprefix(owner)
        elif (attribute := _of_receiver(call, name)) is not None:
            name = attribute
        else:
            return
        yield frame, name


def _of_receiver(call: ast.Call, name: str) -> str | None:
    """Return `self.fake` for the caller's `gan.fake` in a method that is called on `gan`."""
    if not isinstance(call.func, ast.Attribute):
        return None
    owner = spelled(call.func.value)
    return f"self.{name.removeprefix(f'{owner}.')}" if name.startswith(f"{owner}.") else None
