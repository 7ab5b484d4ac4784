"""Fixes where an optimizer holds other leaves than those that learn: it is made behind what has
replaced them, made again there, or given those that get the gradients."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.evidence import SilentFault
from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.silent import owner_of, shared_path
from analyzers.explain.source_locations import SourceLocation, functions_reaching, resolve_location
from analyzers.repair.blocks import joined, lines_with
from analyzers.repair.sites.names import quote_of
from analyzers.source.calls import calls_named
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    WALKS,
    bindings,
    called_name,
    names_read,
    value_of,
)
from analyzers.source.project import Module, Project, spelled
from analyzers.source.recording import recorded
from analyzers.source.statement_ranges import behind
from analyzers.source.trees import walk

_MANY = 6  # parts of models: more than a person would list
_ENTRY = re.compile(r"(.+)\[('[^']*'|\"[^\"]*\"|\d+)\]")


def optimizer_of_what_learns(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """The optimizer that took other leaves, for those that get gradients instead."""
    where = resolve_location(project, fault.taken)
    call = _making(where) if where is not None else None
    if where is None or call is None or not call.args:
        return
    yield from _written_into(project, fault)
    yield from _made_behind(where, project, fault)
    yield from _made_of_others(where, call, project, fault)
    yield from _added(where, project, fault)
    yield from _given_too(where, call, fault)


def _given_too(where: SourceLocation, call: ast.Call, fault: SilentFault) -> Iterator[Proposal]:
    """The same optimizer, given what no optimizer holds as well."""
    if fault.params:
        return
    asked, given = call.args[0], where.editor.text_of(call.args[0])
    root, more = _root(fault.instead), list[str]()
    apart = re.search(rf"(?<![\w.]){re.escape(root)}(?!\w)", given) is None
    for name in [root] if apart else [name.rpartition(".")[0] for name in fault.instead]:
        path = re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", name)
        more.append(path)
    more = [f"{path}.parameters()" for path in dict.fromkeys(more) if path]
    if not 0 < len(more) <= _MANY:
        return
    groups = isinstance(asked, ast.List) and all(isinstance(e, ast.Dict) for e in asked.elts)
    quote = quote_of(where.module)
    parts = [f"{{{quote}params{quote}: {one}}}" if groups else f"*{one}" for one in more]
    if isinstance(asked, ast.List) and asked.elts:
        end = where.editor.span(asked.elts[-1])[1]
        edit = Edit(where.module.path, end, end, f", {', '.join(parts)}")
    else:
        edit = where.editor.replace(asked, f"[*{given}, {', '.join(parts)}]")
    title = f"Give the optimizer {said(more)}, too"
    yield Proposal("optimizer-of-more", title, (edit,), "", 2)


def _making(where: SourceLocation) -> ast.Call | None:
    """The call by which a statement makes an optimizer: the outermost that it gives away."""
    value = value_of(where.statement)
    if isinstance(where.statement, ast.Return):
        value = where.statement.value
    return value if isinstance(value, ast.Call) else None


def _written_into(project: Project, fault: SilentFault) -> Iterator[Proposal]:
    """`self.w = nn.Parameter(new)` behind the constructor of the one class that says so, written
    into the tensor that is held."""
    attributes = {name.rpartition(".")[2] for name in fault.instead if name in fault.params}
    edits, told, owners = list[Edit](), list[str](), set[ast.ClassDef | None]()
    for module, statement in project.each(ast.Assign):
        function = getattr(module.scope_of(statement), "name", "__init__")
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(attr=attr) as target],
                value=ast.Call(args=[given], keywords=[]) as made,
            ) if attr in attributes and called_name(made) == "Parameter":
                if function != "__init__" and not isinstance(given, ast.Starred):
                    data, editor = ".data" if recorded(module, statement) else "", Editor(module)
                    text = f"{spelled(target)}{data}.copy_({editor.text_of(given)})"
                    edits.append(editor.replace(statement, text))
                    told.append(spelled(target))
                    owners.add(module.class_of(statement))
    if len(owners) == 1:
        title = f"Write into {said(told)}, which an optimizer holds"
        yield Proposal("written-into", title, tuple(edits), "", 0)


def _made_behind(where: SourceLocation, project: Project, fault: SilentFault) -> Iterator[Proposal]:
    """The statement, and what is made of the optimizer, behind what replaced its parameters."""
    moved, last = _moving(where, project, _root(fault.instead))
    if last is not None:
        edits = _moved(where, moved, last)
        yield Proposal("optimizer-behind", _behind(last), edits, "", 0)


def _moving(
    where: SourceLocation, project: Project, name: str
) -> tuple[list[ast.stmt], ast.stmt | None]:
    """What is made of the optimizer ahead of the training, itself among it, and the last statement
    behind it that changes what has this name; None where there is none."""
    training = functions_reaching(project, "step", *WALKS)
    ahead = []
    for statement in behind(where.module, where.statement):
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            if calls_named(statement, *training):
                break
            ahead.append(statement)
    own, moved, last = set(bindings(where.statement)), [where.statement], None
    for statement in ahead:
        if own & names_read(statement):
            own |= set(bindings(statement))
            moved.append(statement)
        elif _changes(statement, name):
            last = statement
    return [s for s in moved if last is None or s.lineno < last.lineno], last


def _changes(statement: ast.stmt, name: str) -> bool:
    """Whether a statement may give another value to a name, or to a part of what has it."""
    within = re.compile(rf"{re.escape(name)}(?:[.\[].*)?")
    given = (n for n in walk(statement) if isinstance(n, ast.Call) and name in names_read(n))
    bound = any(within.fullmatch(target) for target in bindings(statement))
    return bound or (isinstance(statement, ast.Expr) and any(given))


def _made_of_others(
    where: SourceLocation, call: ast.Call, project: Project, fault: SilentFault
) -> Iterator[Proposal]:
    """The same optimizer of what learns; behind that, where it is made later."""
    given = where.editor.text_of(call.args[0])
    text = _parameters(fault, given)
    if text is None or text == given:
        return
    edit = where.editor.replace(call.args[0], text)
    moved, last = _moving(where, project, _root(fault.instead))
    title = f"Give the optimizer `{text}`"
    edits = _moved(where, moved, last, edit) if last is not None else (edit,)
    yield Proposal("optimizer-of-others", title, edits, "", 1)


def holder_of(names: Sequence[str]) -> str:
    """What holds these leaves: `self.weights` for `self.weights['a.weight']`, `net[2]` for
    `net.2.weight` and `net.2.bias`."""
    entries = [_ENTRY.fullmatch(name) for name in names]
    holders = {entry[1] if entry is not None else "" for entry in entries}
    if len(holders) == 1 and "" not in holders:
        return holders.pop()
    listed = {name.partition("[")[0] for name in names}
    if len(listed) == 1 and all("[" in name for name in names):
        return listed.pop()
    shared = shared_path(names)
    told = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in shared)
    return told.removeprefix(".") or names[0]


def _parameters(fault: SilentFault, given: str) -> str | None:
    """How the script says all that learns: by what holds it, else leaf by leaf; with what it is
    beside, where that is all of one model."""
    root = _root(fault.instead)
    if not fault.params:
        parameters = rf"{re.escape(root)}(?:\.\w+)*\.parameters\(\)"
        asking = rf"filter\(lambda (\w+): \1\.requires_grad, {parameters}\)"
        of_those = rf"\[(\w+) for \2 in {parameters} if \2\.requires_grad\]"
        whole = rf"(?:{parameters}|list\({parameters}\)|{asking}|{of_those})"
        return f"{root}.parameters()" if re.fullmatch(whole, given) else None
    first = _ENTRY.fullmatch(fault.instead[0])
    if first is not None and (holder := holder_of(fault.instead)) == first[1]:
        return holder if first[2].isdigit() else f"{holder}.values()"
    if all(name.isidentifier() for name in fault.instead):
        if set(fault.instead) <= set(re.findall(r"\w+", given)):
            return given
        return f"[{', '.join(reversed(fault.instead))}]"
    old, new = owner_of(fault.params), owner_of(fault.instead)
    replaced, count = re.subn(rf"(?<![\w.]){re.escape(old)}(?!\w)", new, given)
    return replaced if old and new and count else None


def _added(where: SourceLocation, project: Project, fault: SilentFault) -> Iterator[Proposal]:
    """A group of the optimizer for the part that its model was given, behind each statement that
    gives one, or calls a method that does."""
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
            title = f"Give `{part}{given[0][2]}` to `{names[0]}` behind `{spelled(given[0][1])}`"
            yield Proposal("optimizer-group", title, tuple(edits), "", 1)
            return


def _giving(project: Project, owner: str, name: str) -> Iterator[tuple[Module, ast.stmt, str]]:
    """The statements that give `owner` another attribute of the name, or add to it, and calls of
    its methods that do; with what leads from the attribute to what is given: the last, of a list
    that grows."""
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
    """What leads from a path to what a statement gives it; None where it gives nothing."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr="append"))):
            return "[-1]" if spelled(held) == path else None
        case ast.Assign():
            return "" if path in bindings(statement) else None
    return None


def _is_ahead(module: Module, statement: ast.stmt, where: SourceLocation) -> bool:
    """Whether a statement only runs ahead of another one of its function."""
    alike = module.scope_of(statement) is where.scope
    again = where.module.loops_around(where.statement)
    return alike and statement.lineno < where.statement.lineno and not again


def _sees(module: Module, statement: ast.stmt, where: SourceLocation, name: str) -> bool:
    """Whether a statement has this name for what another one binds to it."""
    if name.startswith("self."):
        return module.class_of(statement) is where.module.class_of(where.statement)
    return module is where.module and where.scope in (module.scope_of(statement), module.tree)


def _moved(
    where: SourceLocation, moved: Sequence[ast.stmt], last: ast.stmt, edit: Edit | None = None
) -> tuple[Edit, ...]:
    """Statements behind another one, the first of them with an edit."""
    editor = where.editor
    first, *rest = moved
    lines = lines_with(editor, first, [edit]) if edit is not None else editor.lines_of(first)
    lines = [*lines, *(editor.lines_of(*rest) if rest else [])]
    return joined([*editor.delete_all(moved), editor.insert_after(last, *lines)])


def _behind(last: ast.stmt) -> str:
    return f"Make the optimizer behind line {last.lineno}, which replaces what it is to train"


def _root(names: Sequence[str]) -> str:
    """The name that a path begins with, `self.net` within an object."""
    first = re.match(r"(?:self\.)?\w+", names[0])
    return first[0] if first is not None else names[0]
