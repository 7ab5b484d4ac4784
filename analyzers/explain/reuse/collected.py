"""What an old value was put together from: values that other functions had collected one by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from analyzers.evidence import GraphReuse, Hop
from analyzers.explain.spots import Spot, hops_at
from analyzers.source.calls import calls_named
from analyzers.source.detached import is_made_without
from analyzers.source.flow import bindings, names_read, names_read_by, statements_of
from analyzers.source.project import Module, Project, spelled
from analyzers.source.targets import keyed
from analyzers.source.trees import position

_COLLECTING = ("append", "appendleft")


def collected(reuse: GraphReuse, project: Project) -> Iterator[tuple[str, Module, ast.expr]]:
    """The lists of an object from which what is stored in it was put together, each with a value
    that another of its methods appends: a rollout's `self.values.append(value)`."""
    hop, where = next(hops_at(project, reuse.path, "bound"), (None, None))
    owner = where.module.class_of(where.statement) if where is not None else None
    if hop is None or where is None or owner is None:
        return
    behind = _names_behind(where, _carrying(where.statement, hop))
    for call in calls_named(owner, *_COLLECTING):
        name = spelled(call.func).rpartition(".")[0]
        elsewhere = where.module.scope_of(call) is not where.scope
        if name.startswith("self.") and name in behind and elsewhere and call.args:
            if not is_made_without(call.args[-1]):
                yield name, where.module, call.args[-1]


def _carrying(statement: ast.stmt, hop: Hop) -> Set[str]:
    """What the statement reads for what the hop carries: of a dictionary, for those entries."""
    match statement:
        case ast.Assign(value=ast.Dict() as value):
            parts = [part for key, part in keyed(value) if f"{hop.name}[{key!r}]" in hop.paths]
            return {name for part in parts for name in names_read(part)}
    return names_read_by(statement)


def _names_behind(where: Spot, names: Set[str]) -> Set[str]:
    """What names are computed from, by the statements of the function in front of the place."""
    before = [s for s in statements_of(where.scope) if position(s) < position(where.statement)]
    wanted = set(names)
    for _ in range(len(before)):
        known = len(wanted)
        for statement in before:
            if wanted & set(bindings(statement)):
                wanted |= names_read_by(statement)
        if len(wanted) == known:
            break
    return wanted
