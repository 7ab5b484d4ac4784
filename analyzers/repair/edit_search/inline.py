"""Recompute a value where it is read, by the expression that made it.

`prior = f(w)` before a loop that adds `prior` becomes `loss + f(w)`; a result of `judge(x)`, which
returns `net(x)` and has run its backward, is read as `net(x)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.source_locations import (
    SourceLocation,
    assignments_to,
    reaching,
    resolve_location,
    returns_of,
    root_of,
)
from analyzers.repair.edit_search.circumstances import SecondUse, second_use
from analyzers.repair.remake.thread_parameter import in_names_of
from analyzers.repair.rewrite import recomputed
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.callees import creates_object
from analyzers.source.edits import needs_parentheses
from analyzers.source.flow import definitions, names_read, value_of
from analyzers.source.project import FUNCTIONS, Module, Project, Scope, spelled
from analyzers.source.signatures import defaults, own_names, positional
from analyzers.source.trees import nodes_of, walk

_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript)


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield old values recomputed where the new graph was seen to read them, and where the second
    call, or what leads to it, does.
    """
    use = second_use(evidence, project)
    if use is None or use.by_part or use.stored:
        return
    paths = [binding.name for binding in use.reuse.path]
    paths += [holder.path for edge in use.reuse.stale_edges for holder in edge.holders]
    held = {root_of(path).rpartition(".")[2] for path in paths}
    for where in _readers(use, project):
        read = names_read(where.statement)
        for name in sorted(name for name in read if name.rpartition(".")[2] in held):
            for text in _makings(where, name, project):
                nodes = [node for node in walk(where.statement) if _reads(node, name)]
                put = [where.editor.replace(node, text) for node in nodes]
                title = f"Compute `{name}` again where it is read: `{text}`"
                yield recomputed("compute-where-read", title, *put, rank=SECOND_CHOICE + 2)


def _reads(node: ast.AST, name: str) -> bool:
    """Return True if a node reads the name or the dotted path."""
    return isinstance(node, ast.Name | ast.Attribute) and _loads(node) and spelled(node) == name


def _loads(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _readers(use: SecondUse, project: Project) -> Iterator[SourceLocation]:
    entered = [edge.new.at for edge in use.reuse.stale_edges if edge.new is not None]
    for place in dict.fromkeys(entered):
        where = resolve_location(project, place)
        if where is not None:
            yield where
    if (shared := use.shared) is not None:
        yield SourceLocation(shared.module, shared.reached, use.reuse.reached.at)


def _makings(where: SourceLocation, name: str, project: Project) -> Iterator[str]:
    """Yield expressions, in the names of the reading statement, for what the name holds: that which
    it is bound to; and that which a function of the script returns, if the name is bound to a call.
    """
    if "." in name:
        yield from _of_attribute(where, name, project)
        return
    around = where.module.ancestors(where.statement)
    for scope in (node for node in around if isinstance(node, (*FUNCTIONS, ast.Module))):
        value = _sole_value(scope, name)
        if value is None and name in own_names(scope):
            return  # a caller passes it
        if value is None:
            continue
        known = {own: own for own in own_names(scope)} if scope is where.scope else {}
        if not reaching(project, value, *BACKWARD_CALLS):  # it would train once more
            yield from _in_names(where.module, where.module, value, known)
        called = project.functions_called(value) if isinstance(value, ast.Call) else ()
        for module, function in called:
            assert isinstance(value, ast.Call)
            given = {p: where.editor.text_of(v) for p, v in arguments(value, module, function)}
            for made in _returned(function):
                yield from _in_names(where.module, module, made, given)
        return


def _of_attribute(where: SourceLocation, name: str, project: Project) -> Iterator[str]:
    """Yield what another method of the class gave the object's attribute, if only one does and no
    other statement reads it: it would keep the old value.
    """
    owner, _, attribute = name.rpartition(".")
    made = list(assignments_to(project, name))
    if len(made) != 1 or made[0][0].class_of(made[0][1]) is not where.module.class_of(where.scope):
        return
    home, statement = made[0]
    read = [n for _, n in project.each(ast.Attribute) if n.attr == attribute and _loads(n)]
    if not {*read} <= {*walk(where.statement)}:
        return
    method = home.scope_of(statement)
    taken = positional(method) if isinstance(method, FUNCTIONS) else []
    if taken and owner in own_names(where.scope) and statement is not where.statement:
        yield from _in_names(where.module, home, statement.value, {taken[0]: owner})


def _sole_value(scope: ast.AST, name: str) -> ast.expr | None:
    """Return what a scope binds a name to, if it does so once: by a statement, or by default."""
    if isinstance(scope, FUNCTIONS) and name in defaults(scope):
        return defaults(scope)[name]
    made = definitions(scope, name)
    return value_of(made[0]) if len(made) == 1 and isinstance(made[0], ast.Assign) else None


def _returned(function: Scope) -> Iterator[ast.expr]:
    """Yield what a function returns, by the expressions that its local names are bound to."""
    for statement in returns_of(function):
        value = statement.value
        if isinstance(value, ast.Name):
            value = _sole_value(function, value.id)
        if value is not None:
            yield value


def _in_names(
    module: Module, home: Module, value: ast.expr, names: dict[str, str]
) -> Iterator[str]:
    """Yield an expression in other names, if it computes anything and creates no object."""
    created = (creates_object(node) for node in nodes_of(value, ast.Call))
    if isinstance(value, _PLAIN) or any(created):
        return
    text = in_names_of(module, home, value, names)
    if text is not None and "\n" not in text:
        yield f"({text})" if needs_parentheses(value) else text
