"""Networks that follow another one: given its state, or moved towards it, time and again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source.calls import calls_to
from analyzers.source.flow import called_name
from analyzers.source.project import Module, Project, spelled
from analyzers.source.writes import writes

_WEIGHTS = ("parameters", "named_parameters", "state_dict")


def followers(project: Project) -> set[str]:
    """The names of such networks: in a loop, or in a function that one calls, `target` of
    `target.load_state_dict(net.state_dict())`, and of a loop over `zip(target.parameters(), …)`
    that writes into its parameters. What begins as a copy and is left to itself is to learn."""
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
    """The network whose parameters a loop over those of two writes into."""
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
    """What `p.data = …` sets."""
    for statement in body:
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and target.attr == "data":
                yield target


def _weights_of(value: ast.expr) -> str:
    """`net` of `net.parameters()`."""
    match value:
        case ast.Call(func=ast.Attribute(value=owner)) if called_name(value) in _WEIGHTS:
            return spelled(owner)
    return ""


def runs_again(module: Module, node: ast.AST, project: Project) -> bool:
    """Whether a loop stands around a piece of source, or around a call of its function."""
    name = getattr(module.scope_of(node), "name", "")
    callers = calls_to(project, name) if name else []
    return bool(module.loops_around(node)) or any(m.loops_around(c) for m, c in callers)


def is_of_follower(parameter: str, project: Project) -> bool:
    """Whether a parameter, by its name, is that of such a network."""
    own = {name.rpartition(".")[2] for name in followers(project)}
    return not own.isdisjoint(parameter.split("."))
