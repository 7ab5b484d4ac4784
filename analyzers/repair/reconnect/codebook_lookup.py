"""Fix a loss that should train what a straight-through step cuts off.

`q = z + (codes - z).detach()` passes the gradient to `z` alone. A loss that compares `q` with a
detached `z` should train the codes; a caller that has their indices can look them up again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.read_only_uses import is_loss
from analyzers.explain.source_locations import SourceLocation, returns_of
from analyzers.repair.blocks import joined, text_with
from analyzers.repair.reconnect.cutting_expressions import cut_from, cuts_in
from analyzers.repair.reconnect.gradient_paths import functions_called
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, definitions, statements_of
from analyzers.source.project import Project, Scope, spelled
from analyzers.source.trees import nodes_of, walk

DEPTH = 2  # of functions that pass on their arguments


@dataclass(frozen=True)
class CallerView:
    """What a caller knows of a call of the cutting function: `owner` is the object that it is
    called on, `names` are the caller's names by those of what the function returns.
    """

    owner: str
    names: Mapping[str, str]


def looked_up_again(where: SourceLocation, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals in which such losses receive the value with its graph."""
    made = _looked_up(where)
    if made is None or not isinstance(where.scope, ast.FunctionDef):
        return
    for module in project.modules.values():
        for scope in module.scopes:
            for statement in statements_of(scope):
                for given in _compared(statement):
                    seen = _seen(where, scope, given.id, project)
                    text = _as_seen(where, made, seen) if seen is not None else None
                    if text is not None:
                        edit = Editor(module).replace(given, text)
                        title = f"Compare with `{text}`, which has its graph"
                        yield Proposal("look-up-again", title, joined([edit]), "", rank)
                        return


def _looked_up(where: SourceLocation) -> ast.expr | None:
    """Return what computes the cut values: `self.codebook(indices)`."""
    for cut in cuts_in(where.statement):
        match cut_from(cut):
            case ast.BinOp(left=ast.Name(id=name), op=ast.Sub()):
                made = [s for s in definitions(where.scope, name) if s is not where.statement]
                match made:
                    case [ast.Assign(targets=[ast.Name()], value=ast.Call() as value)]:
                        return value
    return None


def _compared(statement: ast.stmt) -> Iterator[ast.Name]:
    """Yield what a loss in a statement compares with a constant."""
    for call in walk(statement):
        match call:
            case ast.Call(args=[ast.Name() as given, other, *_]) if is_loss(call):
                if cuts_in(ast.Expr(other)):
                    yield given


def _seen(
    where: SourceLocation,
    scope: Scope,
    name: str,
    project: Project,
    depth: int = DEPTH,
) -> CallerView | None:
    """Return how a scope received a name from the cutting function; None if it comes from
    elsewhere.
    """
    for made in definitions(scope, name):
        match made:
            case ast.Assign(targets=[target], value=ast.Call() as call):
                targets = target.elts if isinstance(target, ast.Tuple) else [target]
                names = [spelled(one) for one in targets]
            case _:
                continue
        for _, function in functions_called(call, project):
            returned = _returned(function)
            if len(returned) != len(names) or name not in names:
                continue
            there = returned[names.index(name)]
            known = dict(zip(returned, names, strict=True))
            if function is where.scope and there in bindings(where.statement):
                return CallerView(spelled(call.func), known)
            below = _seen(where, function, there, project, depth - 1) if depth > 1 else None
            if below is not None and below.owner.startswith("self."):
                owner = spelled(call.func).rpartition(".")[0]
                handed = {k: known[v] for k, v in below.names.items() if v in known}
                return CallerView(f"{owner}{below.owner.removeprefix('self')}", handed)
    return None


def _returned(function: ast.FunctionDef) -> list[str]:
    """Return the names of what a function returns, if it has one return."""
    match returns_of(function):
        case [ast.Return(value=ast.Tuple(elts=parts))]:
            return [spelled(part) for part in parts]
        case [ast.Return(value=ast.expr() as value)]:
            return [spelled(value)]
    return []


def _as_seen(where: SourceLocation, made: ast.expr, seen: CallerView) -> str | None:
    """Return an expression of the cutting function in the caller's names."""
    names = {"self": seen.owner, **seen.names}
    read = nodes_of(made, ast.Name)
    if any(node.id not in names for node in read):
        return None
    edits = [where.editor.replace(node, names[node.id]) for node in read]
    return text_with(where.editor, made, edits)
