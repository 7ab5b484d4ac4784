"""Find target and EMA networks: they are repeatedly given another network's state or moved towards
it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source.callees import is_call
from analyzers.source.calls import PARAMETERS, calls_to
from analyzers.source.project import Module, Project, spelled
from analyzers.source.writes import writes

_WEIGHTS = (*PARAMETERS, "torch.nn.Module.state_dict")


def target_networks(project: Project) -> set[str]:
    """Return the names of target networks, updated in a loop or in a function that a loop calls:
    `target` of `target.load_state_dict(net.state_dict())`, or of a loop over
    `zip(target.parameters(), …)` that writes to its parameters. A network that is only initialised
    as a copy should learn by itself.
    """
    given = {
        spelled(call.func.value)
        for module, call in project.each(ast.Call)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict"
        if any(map(_weights_of, call.args)) and runs_again(module, call, project)
    }
    moved = {
        owner
        for module, loop in project.each(ast.For)
        if runs_again(module, loop, project)
        for owner in _moved_by(loop)
    }
    return given | moved


def _moved_by(loop: ast.For) -> Iterator[str]:
    """Yield the network whose parameters are written by a loop over the parameters of two."""
    match loop:
        case ast.For(
            target=ast.Tuple(elts=names),
            iter=ast.Call(func=ast.Name(id="zip"), args=[one, other]),
            body=body,
        ) if _weights_of(one) and _weights_of(other):
            written = {write.name for statement in body for write in writes(statement)}
            written |= {spelled(t.value) for t in _set(body)}
            for name, argument in zip(names, (one, other), strict=False):
                if spelled(name) in written:
                    yield _weights_of(argument)


def _set(body: list[ast.stmt]) -> Iterator[ast.Attribute]:
    """Yield what `p.data = …` sets."""
    for statement in body:
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and target.attr == "data":
                yield target


def _weights_of(value: ast.expr) -> str:
    """Return `net` for `net.parameters()`, else an empty string."""
    match value:
        case ast.Call(func=ast.Attribute(value=owner)) if is_call(value, *_WEIGHTS):
            return spelled(owner)
    return ""


def runs_again(module: Module, node: ast.AST, project: Project) -> bool:
    """Return True if a loop surrounds a piece of source, or a call of its function."""
    name = getattr(module.scope_of(node), "name", "")
    callers = calls_to(project, name) if name else []
    return bool(module.loops_around(node)) or any(m.loops_around(c) for m, c in callers)


def is_of_target_network(parameter: str, project: Project) -> bool:
    """Return True if a parameter, by its name, belongs to a target network."""
    own = {name.rpartition(".")[2] for name in target_networks(project)}
    return not own.isdisjoint(parameter.split("."))
