"""A module called with weights that the script computes.

What `.data`, `copy_`, `load_state_dict` or a new Parameter writes into its parameters loses its
graph; a functional call takes the value itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from analyzers.evidence import Place
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.spots import Spot
from analyzers.repair.blocks import alias, joined
from analyzers.repair.reconnect.cutting_expressions import base_of, cut_from, cuts_in
from analyzers.source.calls import calls_to
from analyzers.source.edits import Editor
from analyzers.source.flow import statements_of, walk_scope
from analyzers.source.project import Module, Project, spelled

_WRITING = ("copy_", "set_")


@dataclass(frozen=True)
class Write:
    """`value` put into the parameter at `path` (`self.layer.weight`); a path that ends with a dot
    is that of a module, all of whose parameters are put in."""

    statement: ast.stmt
    path: str
    value: ast.expr


def called_with(where: Spot, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """The module that the statement writes to, called with what it and its like write: the first
    call, behind the statement, of the module that has the parameter, or of one that has it. A loop
    that writes to all parameters stands for a statement; a helper of it, where that is called."""
    for there, own in _put(where, project):
        yield from _called(there, own, rank)


def _called(where: Spot, own: Write, rank: int) -> Iterator[Proposal]:
    editor = where.editor
    writes = [w for s in statements_of(where.scope) if (w := written(s)) is not None]
    for call in walk_scope(where.scope):
        if not isinstance(call, ast.Call) or call.lineno <= where.statement.lineno:
            continue
        owner, starred = spelled(call.func), any(isinstance(a, ast.Starred) for a in call.args)
        if starred or not own.path.startswith(f"{owner}."):
            continue
        put = [write for write in writes if write.path.startswith(f"{owner}.")]
        if own.path == f"{owner}.":
            put = [own]
        if not any(write.statement.lineno > call.lineno for write in put):
            text = functional_call(editor, call, owner, _weights(editor, owner, put))
            edits = [editor.replace(call, text), *editor.delete_all(_emptied(where, put))]
            title = f"Call `{owner}` with the weights themselves"
            yield Proposal("functional-call", title, joined(edits), "", rank)
        return


def written(statement: ast.stmt) -> Write | None:
    """What the statement puts into a module's parameter, past its graph."""
    match statement:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Attribute() as parameter, attr="data")], value=value
        ):
            return Write(statement, spelled(parameter), value)
        case ast.Assign(
            targets=[ast.Attribute() as parameter],
            value=ast.Call(func=ast.Attribute(attr="Parameter"), args=[value]),
        ):
            return Write(statement, spelled(parameter), value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=name), args=[value])):
            path = spelled(target).removesuffix(".data")
            if name == "load_state_dict":
                return Write(statement, f"{path}.", value)
            if name in _WRITING and "." in path:
                return Write(statement, path, value)
    return None


def _put(where: Spot, project: Project) -> Iterator[tuple[Spot, Write]]:
    """What a statement, or the loop that it stands in, writes; and where a helper is called that
    does, what it is given."""
    if (own := written(where.statement)) is not None:
        yield where, own
    loops = (loop for loop in where.module.ancestors(where.statement) if isinstance(loop, ast.For))
    for loop in loops:
        if (all_of := _written_by(loop)) is None:
            continue
        whole = sole_block(where.module, loop)
        yield Spot(where.module, whole, where.place), replace(all_of, statement=whole)
        function = where.scope
        for module, call in calls_to(project, getattr(function, "name", "")):
            given = dict(arguments(call, where.module, function))
            target = _known_as(all_of.path[:-1], given, call)
            value = given.get(spelled(all_of.value))
            at = module.statement_at(call.lineno, call.col_offset)
            if target and value is not None and isinstance(at, ast.Expr):
                there = Spot(module, at, Place(module.path, at.lineno))
                yield there, Write(at, f"{target}.", value)


def _known_as(path: str, given: Mapping[str, ast.expr], call: ast.Call) -> str:
    """What a caller calls a module that its helper knows by this path: an argument of it, or a part
    of the object that both belong to."""
    if (argument := given.get(path)) is not None:
        return spelled(argument)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return f"{spelled(owner)}{path[4:]}" if owner is not None and path.startswith("self.") else ""


def sole_block(module: Module, statement: ast.stmt) -> ast.stmt:
    """The outermost `with` that holds nothing but the statement; else that itself."""
    around = module.parents.get(statement)
    while isinstance(around, ast.With) and len(around.body) == 1:
        statement, around = around, module.parents.get(around)
    return statement


def _written_by(loop: ast.For) -> Write | None:
    """What a loop over all parameters of a module gives each of them by its name."""
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=parameter)]),
            iter=ast.Call(func=ast.Attribute(value=module, attr="named_parameters"), args=[]),
            body=[ast.With(body=[inner]) | inner],
        ):
            pass
        case _:
            return None
    match inner:
        case ast.Assign(targets=[ast.Attribute(value=target, attr="data")], value=value):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr="copy_"), args=[value])):
            pass
        case _:
            return None
    if spelled(target).removesuffix(".data") != parameter:
        return None
    match base_of(value):
        case ast.Subscript(value=mapping, slice=ast.Name(id=key)) if key == name:
            return Write(loop, f"{spelled(module)}.", mapping)
    return None


def loads(statement: ast.stmt) -> bool:
    """Whether the statement puts other weights into a whole module."""
    write = written(statement)
    return write is not None and write.path.endswith(".")


def _weights(editor: Editor, owner: str, writes: list[Write]) -> str:
    """What a functional call takes for the weights: the mapping of all, or one that names some."""
    whole = next((w for w in writes if w.path == f"{owner}."), None)
    if whole is not None:
        return editor.text_of(whole.value)
    named = [(w.path[len(owner) + 1 :], editor.text_of(_whole(w.value))) for w in writes]
    entries = [f'"{name}": {value}' for name, value in named]
    return f"{{{', '.join(entries)}}}"


def functional_call(editor: Editor, call: ast.Call, owner: str, weights: str) -> str:
    """The call as one of a module with other weights, with the arguments as they were."""
    arguments = ", ".join(map(editor.text_of, call.args))
    arguments += "," if len(call.args) == 1 else ""
    parts = [owner, weights, f"({arguments})"]
    if call.keywords:
        parts.append(f"dict({', '.join(map(editor.text_of, call.keywords))})")
    return f"{alias(editor.module, 'torch')}.func.functional_call({', '.join(parts)})"


def _whole(value: ast.expr) -> ast.expr:
    """The value with its graph."""
    cut = next((cut for cut in cuts_in(ast.Expr(value)) if cut is value), None)
    return (cut_from(cut) if cut is not None else None) or value


def _emptied(where: Spot, writes: list[Write]) -> list[ast.stmt]:
    """The statements, or the whole block of a `with` that holds nothing else."""
    gone = [write.statement for write in writes]
    for node in {where.module.parents[statement] for statement in gone}:
        if isinstance(node, ast.With) and all(part in gone for part in node.body):
            gone = [node, *(part for part in gone if part not in node.body)]
    return gone
