"""A module called with weights that the script computes.

What `.data`, `copy_`, `load_state_dict` or a new Parameter writes into its parameters loses its
graph; a functional call takes the value itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined, rewritten
from analyzers.repair.reconnect.cutting_expressions import base_of, cut_from, cuts_in
from analyzers.repair.remake.thread_parameter import in_names_of
from analyzers.repair.rewrite import unused_name
from analyzers.source.calls import calls_to
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import statements_of, walk_scope
from analyzers.source.project import Module, Project, spelled
from analyzers.source.trees import position

LONG = 60  # characters of what weights are written as that get a name
_WRITING = ("copy_", "set_")


@dataclass(frozen=True)
class ParameterWrite:
    """`value` put into the parameter at `path` (`self.layer.weight`); a path that ends with a dot
    is that of a module, all of whose parameters are put in, by name or `in_order`. `text`: how the
    value is to be written where the statement stands, if it is another function's."""

    statement: ast.stmt
    path: str
    value: ast.expr
    text: str = ""
    in_order: bool = False

    @property
    def of_all(self) -> bool:
        """Return True if all parameters of a module are assigned."""
        return self.path.endswith(".")


def called_with(where: SourceLocation, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Propose `functional_call` with the weights that a statement writes into a module.

    The call is the first one after the statement of the module that owns the parameter, or of one
    that contains it. A loop that writes to all parameters counts as one statement; a helper's
    writes count at its call.
    """
    for there, own in _put(where, project):
        yield from _called(there, own, rank)


def _called(where: SourceLocation, own: Sequence[ParameterWrite], rank: int) -> Iterator[Proposal]:
    editor, here = where.editor, {write.statement for write in own}
    others = [s for s in statements_of(where.scope) if s not in here]
    writes = [*own, *(w for s in others if (w := written(s)) is not None)]
    for call in walk_scope(where.scope):
        if not isinstance(call, ast.Call) or call.lineno <= where.statement.lineno:
            continue
        owner, starred = spelled(call.func), any(isinstance(a, ast.Starred) for a in call.args)
        if starred or not own[0].path.startswith(f"{owner}."):
            continue
        put = sorted(
            (write for write in writes if write.path.startswith(f"{owner}.")),
            key=lambda write: (position(write.statement), position(write.value)),
        )
        if own[0].of_all:
            put = [own[0]]
        if not any(write.statement.lineno > call.lineno for write in put):
            weights, gone = _weights(editor, owner, put), _emptied(where, put)
            named: list[Edit] = []
            if len(weights) > LONG:
                name, first = unused_name(where.module, "weights"), gone.pop(0)
                named.append(rewritten(editor, [first], [f"{name} = {weights}"]))
                weights = name
            text = functional_call(editor, call, owner, weights)
            edits = [editor.replace(call, text), *named, *editor.delete_all(gone)]
            title = f"Call `{owner}` with the weights themselves"
            yield Proposal("functional-call", title, joined(edits), "", rank)
        return


def written(statement: ast.stmt) -> ParameterWrite | None:
    """Return the statement's write to a module's parameter that bypasses its graph, or None."""
    match statement:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Attribute() as parameter, attr="data")], value=value
        ):
            return ParameterWrite(statement, spelled(parameter), value)
        case ast.Assign(
            targets=[ast.Attribute() as parameter],
            value=ast.Call(func=ast.Attribute(attr="Parameter"), args=[value]),
        ):
            return ParameterWrite(statement, spelled(parameter), value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=name), args=[value])):
            path = spelled(target).removesuffix(".data")
            if name == "load_state_dict":
                return ParameterWrite(statement, f"{path}.", value)
            if name in _WRITING and "." in path:
                return ParameterWrite(statement, path, value)
    return None


def _put(
    where: SourceLocation, project: Project
) -> Iterator[tuple[SourceLocation, list[ParameterWrite]]]:
    """Yield what a statement, or the loop around it, writes; a helper's writes at its calls."""
    if (own := written(where.statement)) is not None:
        yield where, [own]
        like = [w for s in statements_of(where.scope) if (w := written(s)) is not None]
        yield from _by_callers(where, [own, *(w for w in like if w != own)], project)
    loops = (loop for loop in where.module.ancestors(where.statement) if isinstance(loop, ast.For))
    for loop in loops:
        if (all_of := _written_by(loop)) is not None:
            whole = sole_block(where.module, loop)
            own = replace(all_of, statement=whole)
            yield SourceLocation(where.module, whole, where.place), [own]
            yield from _by_callers(where, [own], project)


def _by_callers(
    where: SourceLocation, writes: Sequence[ParameterWrite], project: Project
) -> Iterator[tuple[SourceLocation, list[ParameterWrite]]]:
    """Yield a helper's writes at each of its calls, in the caller's names."""
    function = where.scope
    for module, call in calls_to(project, getattr(function, "name", "")):
        at = module.statement_at(call.lineno, call.col_offset)
        given = dict(arguments(call, where.module, function))
        names = {name: Editor(module).text_of(value) for name, value in given.items()}
        put = [
            ParameterWrite(at, path, write.value, text, write.in_order)
            for write in writes
            if isinstance(at, ast.Expr)
            if (path := _known_as(write.path, names, call))
            if (text := in_names_of(module, where.module, _whole(write.value), names))
        ]
        if put and at is not None and len(put) == len(writes):
            yield SourceLocation.of(module, at), put


def _known_as(path: str, given: Mapping[str, str], call: ast.Call) -> str:
    """Return the caller's expression for a path of its helper, or ''.

    The path is an argument, a part of one, or a part of the object that both are methods of.
    """
    root, dot, rest = path.partition(".")
    if root in given:
        return f"{given[root]}{dot}{rest}"
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return f"{spelled(owner)}.{rest}" if owner is not None and root == "self" and dot else ""


def sole_block(module: Module, statement: ast.stmt) -> ast.stmt:
    """Return the outermost `with` that holds only the statement, else the statement."""
    around = module.parents.get(statement)
    while isinstance(around, ast.With) and len(around.body) == 1:
        statement, around = around, module.parents.get(around)
    return statement


def _written_by(loop: ast.For) -> ParameterWrite | None:
    """Return what a loop over all parameters of a module assigns to them, by name or in order."""
    ordered: ast.expr | None = None
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=parameter)]),
            iter=ast.Call(func=ast.Attribute(value=module, attr="named_parameters"), args=[]),
            body=[ast.With(body=[inner]) | inner],
        ):
            pass
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=parameter), ast.Name(id=name)]),
            iter=ast.Call(
                func=ast.Name(id="zip"),
                args=[
                    ast.Call(func=ast.Attribute(value=module, attr="parameters"), args=[]),
                    ast.Name() | ast.Attribute() as ordered,
                ],
            ),
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
    if ordered is not None:
        own = spelled(base_of(value)) == name
        return ParameterWrite(loop, f"{spelled(module)}.", ordered, in_order=True) if own else None
    match base_of(value):
        case ast.Subscript(value=mapping, slice=ast.Name(id=key)) if key == name:
            return ParameterWrite(loop, f"{spelled(module)}.", mapping)
    return None


def loads(statement: ast.stmt) -> bool:
    """Return True if the statement loads other weights into a whole module."""
    write = written(statement)
    return write is not None and write.of_all


def _weights(editor: Editor, owner: str, writes: list[ParameterWrite]) -> str:
    """Return the weights argument of a functional call: the mapping of all, or a dict of some."""
    whole = next((w for w in writes if w.of_all), None)
    if whole is None:
        named = [(_below(owner, w), w.text or editor.text_of(_whole(w.value))) for w in writes]
        entries = [f'"{name}": {value}' for name, value in named]
        return f"{{{', '.join(entries)}}}"
    given, part = whole.text or editor.text_of(whole.value), _below(owner, whole)
    key = f'f"{part}{{name}}"' if part else "name"
    if whole.in_order:
        parameters = f"{whole.path}named_parameters()"
        return f"{{{key}: made for (name, _), made in zip({parameters}, {given})}}"
    return f"{{{key}: made for name, made in {given}.items()}}" if part else given


def _below(owner: str, write: ParameterWrite) -> str:
    """Return the path of the written parameter relative to the called module."""
    return write.path[len(owner) + 1 :]


def functional_call(editor: Editor, call: ast.Call, owner: str, weights: str) -> str:
    """Return the source of `functional_call` for a call, with its arguments unchanged."""
    arguments = ", ".join(map(editor.text_of, call.args))
    arguments += "," if len(call.args) == 1 else ""
    parts = [owner, weights, f"({arguments})"]
    if call.keywords:
        parts.append(f"dict({', '.join(map(editor.text_of, call.keywords))})")
    return f"{alias(editor.module, 'torch')}.func.functional_call({', '.join(parts)})"


def _whole(value: ast.expr) -> ast.expr:
    """Return the value without what detaches it."""
    cut = next((cut for cut in cuts_in(ast.Expr(value)) if cut is value), None)
    return (cut_from(cut) if cut is not None else None) or value


def _emptied(where: SourceLocation, writes: list[ParameterWrite]) -> list[ast.stmt]:
    """Return the statements to remove, or the whole `with` that holds nothing else."""
    gone = [*dict.fromkeys(write.statement for write in writes)]
    for node in {where.module.parents[statement] for statement in gone}:
        if isinstance(node, ast.With) and all(part in gone for part in node.body):
            gone = [node, *(part for part in gone if part not in node.body)]
    return gone
