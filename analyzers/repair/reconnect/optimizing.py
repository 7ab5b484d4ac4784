"""Fixes for an optimizer that holds other leaves than those that learn.

Create it after the statement that replaces the leaves, create it again there, or pass it the leaves
that get gradients.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from analyzers.evidence import SilentFault
from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.silent_matches import owner_of, shared_path
from analyzers.explain.source_locations import (
    SourceLocation,
    resolve_location,
)
from analyzers.repair.reconnect.moving_optimizers import (
    given_others,
    move_after,
    moved_after,
    moving,
    root_of_names,
)
from analyzers.repair.sites.module_names import quote_of
from analyzers.source.callees import is_call
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, is_dotted, mentions, statements_of, value_of
from analyzers.source.project import Module, Project, spelled
from analyzers.source.recording import recorded

FROZEN = "each is frozen at every step of its optimizer"
_OF_LAYERS = ("weight", "bias")
_MANY = 6  # parts of models: more than a person would list
_ENTRIES = re.compile(r"^\w+\['[^']*'\]")
_ENTRY = re.compile(r"(.+)\[('[^']*'|\"[^\"]*\"|\d+)\]")


def optimizer_of_what_learns(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Propose to give the optimizer the leaves that get gradients in place of its own."""
    where = resolve_location(project, fault.optimizer_at)
    call = _making(where) if where is not None else None
    if where is None or call is None or not call.args or not fault.instead:
        return
    fault = _as_given(_as_bound(fault, where), call.args[0])
    yield from given_others(where, fault)
    yield from _written_into(project, fault)
    yield from moved_after(where, project, fault)
    yield from _made_of_others(where, call, project, fault)
    yield from _added(where, project, fault)
    yield from _given_too(where, call, project, fault)


def _as_bound(fault: SilentFault, where: SourceLocation) -> SilentFault:
    """Return the fault with entries of dictionaries under the names that they are made of: `net`
    for `parts['net']`, if the function has `parts = {"net": net}`."""
    bound = dict[str, str]()
    for statement in statements_of(where.scope):
        match value_of(statement):
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and is_dotted(value):
                        for name in bindings(statement):
                            bound[f"{name}[{key.value!r}]"] = spelled(value)
            case _:
                pass
    names = (_ENTRIES.sub(lambda m: bound.get(m[0], m[0]), name, count=1) for name in fault.instead)
    return replace(fault, instead=tuple(names))


def _as_given(fault: SilentFault, given: ast.expr) -> SilentFault:
    """Return the fault with the leaves under the object's own names, if its method gives the
    optimizer a part of `self.model`, which the script calls `model` elsewhere, or a part of `self`.
    """
    root = root_of_names(fault.instead)
    parts = {"self", *(n.split(".")[1] for n in fault.instead if n.count(".") > 1)}
    if len(parts) == 2 and mentions(given, f"self.{max(parts - {'self'})}"):
        names = (f"self.{n.partition('.')[2]}" for n in fault.instead)
        return replace(fault, instead=tuple(names))
    if not mentions(given, f"self.{root}"):
        return fault
    names = (f"self.{n}" if root_of_names([n]) == root else n for n in fault.instead)
    return replace(fault, instead=tuple(names))


def _given_too(
    where: SourceLocation, call: ast.Call, project: Project, fault: SilentFault
) -> Iterator[Proposal]:
    """Propose to add the leaves that no optimizer holds to the same optimizer, after their
    definition; or to give it these alone, if nothing of it learns.
    """
    asked, given = call.args[0], where.editor.text_of(call.args[0])
    more = _listed(fault.instead, given)
    if not 0 < len(more) <= _MANY:
        return
    groups = isinstance(asked, ast.List) and all(isinstance(e, ast.Dict) for e in asked.elts)
    quote = quote_of(where.module)
    parts = [f"*{one}" if one.endswith("()") else one for one in more]
    if groups:
        parts = [f"{{{quote}params{quote}: {one}}}" for one in more]
    listed, alone = ", ".join(parts), fault.detail == FROZEN
    edit = where.editor.replace(asked, f"[{listed}]" if alone else f"[*{given}, {listed}]")
    if isinstance(asked, ast.List) and asked.elts and not alone:
        end = where.editor.span(asked.elts[-1])[1]
        edit = Edit(where.module.path, end, end, f", {listed}")
    moved, last = moving(where, project, root_of_names(fault.instead))
    edits = move_after(where, moved, last, edit) if last is not None else (edit,)
    title = f"Give the optimizer {said(more)}{'' if alone else ', too'}"
    yield Proposal("optimizer-of-more", title, edits, "", 2)


def _listed(names: Sequence[str], given: str) -> list[str]:
    """Return expressions for leaves: those that are a module's own by their paths, a layer's by the
    layer, or by the whole model if nothing of it is `given` already."""
    root = root_of_names(names)
    apart = re.search(rf"(?<![\w.]){re.escape(root)}(?!\w)", given) is None
    found = list[str]()
    for name in sorted(names):
        owner, _, leaf = name.rpartition(".")
        path = re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", owner)
        if apart and owner.count(".") and len(names) > _MANY:
            found.append(f"{root}.parameters()")
        elif leaf not in _OF_LAYERS:
            found.append(f"{path}.{leaf}" if path else leaf)
        elif path:
            found.append(f"{root if apart else path}.parameters()")
    return list(dict.fromkeys(found))


def _making(where: SourceLocation) -> ast.Call | None:
    """Return the outermost call by which a statement creates an optimizer, or None."""
    value = value_of(where.statement)
    if isinstance(where.statement, ast.Return):
        value = where.statement.value
    return value if isinstance(value, ast.Call) else None


def _written_into(project: Project, fault: SilentFault) -> Iterator[Proposal]:
    """Propose an in-place write for `self.w = nn.Parameter(new)` outside of the one class's
    constructor."""
    attributes = {name.rpartition(".")[2] for name in fault.instead if name in fault.params}
    edits, written, owners = list[Edit](), list[str](), set[ast.ClassDef | None]()
    for module, statement in project.each(ast.Assign):
        function = getattr(module.scope_of(statement), "name", "__init__")
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(attr=attr) as target],
                value=ast.Call(args=[given], keywords=[]) as made,
            ) if attr in attributes and is_call(made, "torch.nn.Parameter"):
                if function != "__init__" and not isinstance(given, ast.Starred):
                    data, editor = ".data" if recorded(module, statement) else "", Editor(module)
                    text = f"{spelled(target)}{data}.copy_({editor.text_of(given)})"
                    edits.append(editor.replace(statement, text))
                    written.append(spelled(target))
                    owners.add(module.class_of(statement))
    if len(owners) == 1:
        title = f"Write into {said(written)}, which an optimizer holds"
        yield Proposal("written-into", title, tuple(edits), "", 0)


def _made_of_others(
    where: SourceLocation, call: ast.Call, project: Project, fault: SilentFault
) -> Iterator[Proposal]:
    """Propose the same optimizer over the leaves that learn, moved after their definition."""
    given = where.editor.text_of(call.args[0])
    text = _parameters(fault, given)
    if text is None or text == given:
        return
    edit = where.editor.replace(call.args[0], text)
    moved, last = moving(where, project, root_of_names(fault.instead))
    title = f"Give the optimizer `{text}`"
    edits = move_after(where, moved, last, edit) if last is not None else (edit,)
    yield Proposal("optimizer-of-others", title, edits, "", 1)


def owner_path(names: Sequence[str]) -> str:
    """Return the path of the object that holds these leaves.

    It is `self.weights` for `self.weights['a.weight']`, and `net[2]` for `net.2.weight` and
    `net.2.bias`.
    """
    entries = [_ENTRY.fullmatch(name) for name in names]
    holders = {entry[1] if entry is not None else "" for entry in entries}
    if len(holders) == 1 and "" not in holders:
        return holders.pop()
    listed = {name.partition("[")[0] for name in names}
    if len(listed) == 1 and all("[" in name for name in names):
        return listed.pop()
    shared = shared_path(names)
    written = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in shared)
    return written.removeprefix(".") or names[0]


def _parameters(fault: SilentFault, given: str) -> str | None:
    """Return an expression for all leaves that learn: their owner's parameters, else one by one.

    What the optimizer is given already is included if all belong to one model.
    """
    root = root_of_names(fault.instead)
    if not fault.params:
        parameters = rf"{re.escape(root)}(?:\.\w+)*\.parameters\(\)"
        asking = rf"filter\(lambda (\w+): \1\.requires_grad, {parameters}\)"
        of_those = rf"\[(\w+) for \2 in {parameters} if \2\.requires_grad\]"
        whole = rf"(?:{parameters}|list\({parameters}\)|{asking}|{of_those})"
        held = re.search(rf"({re.escape(root)}(?:\.\w+)*)\.parameters\(\)", given)
        if held is None or not re.fullmatch(whole, given):
            return None
        return f"{'.'.join(shared_path([f'{held[1]}.', *fault.instead]))}.parameters()"
    first = _ENTRY.fullmatch(fault.instead[0])
    if first is not None and (holder := owner_path(fault.instead)) == first[1]:
        return holder if first[2].isdigit() else f"{holder}.values()"
    if all(name.isidentifier() for name in fault.instead):
        if set(fault.instead) <= set(re.findall(r"\w+", given)):
            return given
        return f"[{', '.join(reversed(fault.instead))}]"
    old, new = owner_of(fault.params), owner_of(fault.instead)
    replaced, count = re.subn(rf"(?<![\w.]){re.escape(old)}(?!\w)", new, given)
    return replaced if old and new and count else None


def _added(where: SourceLocation, project: Project, fault: SilentFault) -> Iterator[Proposal]:
    """Propose `add_param_group` after each statement (or method call) that adds a part to the
    model."""
    names, parts = bindings(where.statement), shared_path(fault.instead)
    for end in range(len(parts), 1, -1):
        owner, part = ".".join(parts[: end - 1]), ".".join(parts[:end])
        given = [*_giving(project, owner, parts[end - 1])] if names else []
        given = [(m, s, last) for m, s, last in given if not _is_ahead(m, s, where)]
        edits = []
        for module, statement, last in given:
            if _sees(module, statement, where, names[0]):
                quote, one = quote_of(module), f"{part}{last}"
                one = one if part in fault.instead else f"{one}.parameters()"
                text = f"{names[0]}.add_param_group({{{quote}params{quote}: {one}}})"
                edits.append(Editor(module).insert_after(statement, text))
        if edits and len(edits) == len(given):
            title = f"Give `{part}{given[0][2]}` to `{names[0]}` after `{spelled(given[0][1])}`"
            yield Proposal("optimizer-group", title, tuple(edits), "", 1)
            return


def _giving(project: Project, owner: str, name: str) -> Iterator[tuple[Module, ast.stmt, str]]:
    """Yield the statements, and calls of methods, that set or extend another attribute of `owner`.

    Each comes with the path from the attribute to the new part: the last entry of a list that
    grows.
    """
    methods = dict[str, str]()
    for module, statement in project.each(ast.stmt):
        scope = module.scope_of(statement)
        if (last := _given_last(f"self.{name}", statement)) is not None and module.class_of(scope):
            methods[getattr(scope, "name", "")] = last
        if (last := _given_last(f"{owner}.{name}", statement)) is not None:
            yield module, statement, last
    for module, statement in project.each(ast.Expr):
        match statement.value:
            case ast.Call(func=ast.Attribute(value=called, attr=method)) if owner != "self":
                if method in methods and spelled(called) == owner:
                    yield module, statement, methods[method]


def _given_last(path: str, statement: ast.stmt) -> str | None:
    """Return the path from `path` to what a statement assigns below it, or None."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held)) as call) if is_call(
            call, "list.append"
        ):
            return "[-1]" if spelled(held) == path else None
        case ast.Assign():
            return "" if path in bindings(statement) else None
    return None


def _is_ahead(module: Module, statement: ast.stmt, where: SourceLocation) -> bool:
    """Return True if a statement of the same function always runs before another one."""
    alike = module.scope_of(statement) is where.scope
    again = where.module.loops_around(where.statement)
    return alike and statement.lineno < where.statement.lineno and not again


def _sees(module: Module, statement: ast.stmt, where: SourceLocation, name: str) -> bool:
    """Return True if a statement sees the binding that another one gives to this name."""
    if name.startswith("self."):
        return module.class_of(statement) is where.module.class_of(where.statement)
    return module is where.module and where.scope in (module.scope_of(statement), module.tree)
