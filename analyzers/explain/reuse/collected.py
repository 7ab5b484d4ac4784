"""Find where an old value was assembled from values that other functions had
collected one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from analyzers.evidence import GraphReuse
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.passing import frames, handed_down
from analyzers.explain.source_locations import (
    SourceLocation,
    functions_calling,
    resolve_location,
    root_of,
)
from analyzers.source.backward import backward_calls
from analyzers.source.callees import is_call
from analyzers.source.calls import ZERO_GRAD, calls_of, steps
from analyzers.source.detached import is_made_without
from analyzers.source.flow import bindings, flowing_into, names_read, names_read_by, statements_of
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.recording import recorded
from analyzers.source.targets import keyed
from analyzers.source.trees import nodes_of, position, walk
from provenance import Binding, CodeLine

_COLLECTING = ("list.append", "collections.deque.appendleft")


def collected(reuse: GraphReuse, project: Project) -> Iterator[tuple[str, Module, ast.expr]]:
    """Yield the lists of an object from which the stored or returned value was assembled, each with
    a value that another method appends: a rollout's `self.values.append(value)`.
    """
    binding, where = next(_put_together(reuse, project), (None, None))
    owner = where.module.class_of(where.statement) if where is not None else None
    if binding is None or where is None or owner is None:
        return
    sources = _names_feeding(where, _carrying(where.statement, binding))
    for call in calls_of(owner, *_COLLECTING):
        name = spelled(call.func).rpartition(".")[0]
        elsewhere = where.module.scope_of(call) is not where.scope
        if name.startswith("self.") and name in sources and elsewhere and call.args:
            if not is_made_without(call.args[-1]):
                yield name, where.module, call.args[-1]


def _put_together(reuse: GraphReuse, project: Project) -> Iterator[tuple[Binding, SourceLocation]]:
    """Yield where the old value was bound or returned."""
    for binding in reuse.path:
        if (
            binding.how in ("bound", "returned")
            and (where := resolve_location(project, binding.at)) is not None
        ):
            yield binding, where


def _carrying(statement: ast.stmt, binding: Binding) -> Set[str]:
    """Return the names that the statement reads for what the binding carries; only those of the
    relevant entries if it is a dictionary or a tuple.
    """
    match statement:
        case ast.Assign(value=ast.Dict() as value):
            parts = [
                part for key, part in keyed(value) if f"{binding.name}[{key!r}]" in binding.paths
            ]
            return {name for part in parts for name in names_read(part)}
        case ast.Return(value=ast.Tuple(elts=parts)):
            parts = [part for n, part in enumerate(parts) if f"[{n}]" in binding.paths]
            return {name for part in parts for name in names_read(part)}
    return names_read_by(statement)


def collectors(reuse: GraphReuse, project: Project) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """Yield the functions that filled, in a loop of their own and before any backward call, what
    the old values were assembled from: functions called on the way to the backward call, and
    methods that add to an object's collection, or their callers.
    """
    stack = frames(project, reuse.reached)
    names = {root_of(h.path).partition(".")[0] for j in reuse.stale_edges for h in j.holders}
    found: dict[ast.FunctionDef, Module] = {}
    while stack and names:
        frame = stack[-1]
        sources, made = _sources_before(frame.scope, frame.statement, names)
        given = {name: pair for name in sources if (pair := next(handed_down(stack, name), None))}
        values = [*made, *(argument for _, argument in given.values())]
        for call in (node for value in values for node in walk(value)):
            for module, function in (
                project.functions_called(call) if isinstance(call, ast.Call) else ()
            ):
                if isinstance(function, ast.FunctionDef) and any(_puts(module, function)):
                    found.setdefault(function, module)
        names = {name for _, argument in given.values() for name in names_read(argument)}
        stack = stack[:-1]
    adding = {getattr(m.scope_of(value), "name", "") for _, m, value in collected(reuse, project)}
    for name in sorted({n for one in adding for n in functions_calling(project, one, depth=1)}):
        for module, function in project.functions_named(name):
            if isinstance(function, ast.FunctionDef) and any(_puts(module, function)):
                found.setdefault(function, module)
    yield from ((module, function) for function, module in found.items())


def _puts(module: Module, function: ast.FunctionDef) -> Iterator[ast.Call]:
    """Yield where a function that calls no backward adds values with their graphs to something, one
    by one.
    """
    if backward_calls(function) or (steps(function) or calls_of(function, *ZERO_GRAD)):
        return
    for put in calls_of(function, *_COLLECTING, "list.add", "list.push", "list.store"):
        if module.loops_around(put) and recorded(module, put):
            yield put


def _names_feeding(where: SourceLocation, names: Set[str]) -> Set[str]:
    """Return the names that the given names are computed from by the function's statements before
    the place.
    """
    return _sources_before(where.scope, where.statement, names)[0]


def _sources_before(
    scope: Scope, end: ast.stmt, names: Set[str]
) -> tuple[Set[str], list[ast.expr | ast.stmt]]:
    """Return what the names are computed from before a statement, and the statements that compute
    it.
    """
    before = [s for s in statements_of(scope) if position(s) < position(end)]
    wanted = flowing_into(before, names)
    return wanted, [s for s in before if wanted & set(bindings(s)) and not hasattr(s, "body")]


def kept_with_graph(reuse: GraphReuse, project: Project) -> CodeLine | None:
    """Return the first line of such a function that stores a value with a graph, as far as the
    source shows: a log-probability, or an output of a network that the backward call's function
    calls too.
    """
    calls = [
        node.func
        for frame in frames(project, reuse.reached)[-1:]
        for node in nodes_of(frame.scope, ast.Call)
    ]
    owners = {_last(func.value) for func in calls if isinstance(func, ast.Attribute)} - {"torch"}
    networks = {_last(func) for func in calls if isinstance(func, ast.Name)} | owners
    for module, function in collectors(reuse, project):
        for put in _puts(module, function):
            kept = [argument for argument in put.args if not is_made_without(argument)]
            given = [n for argument in kept for n in nodes_of(argument, ast.Call)]
            for one in given:
                of = one.func.value if isinstance(one.func, ast.Attribute) else one.func
                if is_call(one, "torch.Tensor.log_prob") or _last(of) in networks:
                    return CodeLine(module.path, put.lineno)
    return None


def _last(node: ast.expr) -> str:
    return spelled(node).rpartition(".")[2]


def kept_by_module(story: ReuseFeatures) -> bool:
    """Return True if a module's own forward stored the carrier for one backward call and read it
    for another.
    """
    freed, reached = story.reuse.freed.at, story.reuse.reached.at
    if not story.attribute or (freed.file, freed.line) == (reached.file, reached.line):
        return False
    kept = {(module.path, scope) for module, scope, _ in story.binders}
    entries = [edge.new.at for edge in story.reuse.stale_edges if edge.new is not None]
    read = {
        (where.module.path, where.scope)
        for at in entries
        if (where := resolve_location(story.project, at)) is not None
    }
    named = {getattr(scope, "name", "") for _, scope in kept}
    return len(kept) == 1 and kept == read and named == {"forward"}
