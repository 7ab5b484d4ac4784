"""Rewrite in-place operations as out-of-place ones: `x += y` as `x = x + y`, `x.relu_()` as `x =
x.relu()`, `x[i] = y` as a write into a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Set

from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined, rewritten
from analyzers.repair.rewrite import unused_name, without_argument, without_true
from analyzers.source.callees import operation
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, first_use, names_read, walk_scope
from analyzers.source.project import FUNCTIONS, Module, is_path, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.signatures import named
from analyzers.source.statement_ranges import ahead_of, statements_after
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, walk
from analyzers.source.writes import Write, is_library, unsliced, writes, writes_in_place

_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
# Methods without a counterpart of the same name minus the underscore.
_OTHERWISE: dict[str, str] = {
    "zero_": "{torch}.zeros_like({x})",
    "fill_": "{torch}.full_like({x}, {arguments})",
    "uniform_": "{torch}.empty_like({x}).uniform_({arguments})",
    "normal_": "{torch}.empty_like({x}).normal_({arguments})",
    "bernoulli_": "{torch}.empty_like({x}).bernoulli_({arguments})",
    "exponential_": "{torch}.empty_like({x}).exponential_({arguments})",
}

# Methods that write and have no counterpart at all: they need a copy to write to.
_ONLY_IN_PLACE = frozenset(
    {"fill_diagonal_", "random_", "geometric_", "cauchy_", "log_normal_", "apply_", "map_"}
)

_DISPLAYS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp)
Wanted = Callable[[str], bool]


def out_of_place(module: Module, statement: ast.stmt, wanted: Wanted) -> tuple[Edit, ...]:
    """Return edits that remove a statement's in-place writes to the wanted names; empty if no
    statement at the same place can express that.
    """
    found = [write for write in writes(statement) if wanted(write.name)]
    if not found:
        return ()
    editor = Editor(module)
    first = found[0]
    if isinstance(first.node, ast.AugAssign):
        return _augmented(editor, first.node)
    if isinstance(first.node, ast.Assign):
        return into_copy(editor, first.node, first)
    return tuple(_calls(editor, statement, found))


def _augmented(editor: Editor, statement: ast.AugAssign) -> tuple[Edit, ...]:
    if isinstance(statement.target, ast.Subscript) and not _is_entry(editor, statement.target):
        return into_copy(editor, statement, Write(statement.target, statement))
    target = editor.text_of(statement.target)
    return (editor.replace(statement, f"{target} = {_applied(editor, statement)}"),)


def _is_entry(editor: Editor, target: ast.expr) -> bool:
    """Return True if the target is an entry of a list or dictionary, by all that its file binds to
    the name: a tensor of its own, and no part of one.
    """
    name = spelled(target.value) if isinstance(target, ast.Subscript) else ""
    bound = [
        value
        for statement in nodes_of(editor.module.tree, ast.Assign)
        for one, value in assigned_pairs(statement)
        if spelled(one) == name
    ]
    return bool(bound) and all(isinstance(value, _DISPLAYS) for value in bound)


def _applied(editor: Editor, statement: ast.AugAssign) -> str:
    """Return `x + y` for `x += y`."""
    text, value = editor.text_of(statement.value), statement.value
    bare: tuple[type[ast.expr], ...] = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    if isinstance(statement.op, ast.Add | ast.Sub) and isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.Mult | ast.Div | ast.MatMult | ast.Pow):
            bare = (ast.BinOp,)  # binds tighter
    if not isinstance(value, (*bare, ast.Constant)):
        text = f"({text})"
    return f"{editor.text_of(statement.target)} {_SYMBOLS[type(statement.op)]} {text}"


def into_copy(
    editor: Editor, statement: ast.Assign | ast.AugAssign, write: Write
) -> tuple[Edit, ...]:
    """Return edits that write into a copy, which takes the name afterwards. If the new value does
    not read the tensor, the copy takes the name at once.
    """
    name, value = write.name, statement.value
    if not isinstance(unsliced(write.target), ast.Name | ast.Attribute):
        return ()
    if isinstance(statement, ast.Assign) and (masked := _masked(editor, statement, write)):
        return masked
    if isinstance(statement, ast.Assign) and name not in names_read(value):
        return (editor.insert_before(statement, f"{name} = {name}.clone()"),)
    if isinstance(statement, ast.Assign) and statement.targets != [write.target]:
        return ()
    copy = unused_name(editor.module, f"new_{name.rpartition('.')[2]}")
    written = copy + editor.text_of(write.target).removeprefix(name)
    given = editor.text_of(value)
    if isinstance(statement, ast.AugAssign):
        given = _applied(editor, statement)
    lines = [f"{copy} = {name}.clone()", *f"{written} = {given}".splitlines(), f"{name} = {copy}"]
    return (rewritten(editor, [statement], lines),)


def _masked(editor: Editor, statement: ast.Assign, write: Write) -> tuple[Edit, ...]:
    """Return `x = torch.where(mask, v, x)` for `x[mask] = v`, if the index is clearly a mask."""
    match statement:
        case ast.Assign(
            targets=[
                ast.Subscript(value=ast.Name() | ast.Attribute(), slice=ast.Compare() as mask)
            ],
            value=ast.Constant() | ast.UnaryOp() as value,
        ):
            where = f"{alias(editor.module, 'torch')}.where"
            texts = f"{editor.text_of(mask)}, {editor.text_of(value)}, {write.name}"
            return (editor.replace(statement, f"{write.name} = {where}({texts})"),)
    return ()


def _calls(editor: Editor, statement: ast.stmt, found: list[Write]) -> Iterator[Edit]:
    """Yield edits that make in-place calls out of place and keep their results.

    They lose the underscore, the `inplace` flag or `out=`.
    """
    whole = isinstance(statement, ast.Expr)
    calls = [write.node for write in found if isinstance(write.node, ast.Call)]
    outermost, name, target = found[0], found[0].name, found[0].target
    only = any(operation(call) in _ONLY_IN_PLACE for call in calls)
    entry = _is_entry(editor, target) and not only
    if whole and not entry and (only or (outermost.indexed and not _is_chain(found))):
        if isinstance(unsliced(target), ast.Name | ast.Attribute):
            yield editor.insert_before(statement, f"{name} = {name}.clone()")
            return
    if only and not whole:
        return
    if whole and (entry or isinstance(target, ast.Name | ast.Attribute | ast.Call)):
        name = editor.text_of(target) if entry else name
        if len(calls) == 1 and (text := _otherwise(editor, calls[0], name)):
            yield editor.replace(statement, f"{name} = {text}")
            return
        start, _ = editor.span(statement)
        yield Edit(editor.module.path, start, start, f"{name} = ")
    for call in calls:
        yield from _bare(editor, call)


def _is_chain(found: list[Write]) -> bool:
    """Return True if the writes are a chain of methods on the whole tensor: `x.mul_(a).div_(b)`."""
    return len(found) > 1 and isinstance(found[-1].target, ast.Name | ast.Attribute)


def _otherwise(editor: Editor, call: ast.Call, name: str) -> str:
    """Return the new value for a method that has no out-of-place counterpart;
    empty for the others.
    """
    method = operation(call)
    if is_library(call):
        return ""
    if method == "copy_" and call.args:
        text = editor.text_of(call.args[0])  # a computed value is a tensor of its own already
        return text if isinstance(call.args[0], ast.Call | ast.BinOp) else f"{text}.clone()"
    arguments = ", ".join(editor.text_of(argument) for argument in call.args)
    torch = alias(editor.module, "torch")
    return _OTHERWISE.get(method, "").format(torch=torch, x=name, arguments=arguments)


def _bare(editor: Editor, call: ast.Call) -> Iterator[Edit]:
    """Yield edits that remove the call's trailing underscore, `inplace=True` or `out=`."""
    name = operation(call)
    if writes_in_place(name):
        end = editor.span(call.func)[1]
        yield Edit(editor.module.path, end - 1, end, "")
    yield from without_true(editor, call, "inplace")
    for keyword in call.keywords:
        if keyword.arg == "out":
            yield without_argument(editor, call, keyword)


def clone_before(module: Module, statement: ast.stmt, wanted: Wanted) -> tuple[Edit, ...]:
    """Return edits that insert a copy under the same name before the statement that writes."""
    names = dict.fromkeys(w.name for w in writes(statement) if wanted(w.name))
    lines = [f"{name} = {name}.clone()" for name in names if is_path(name)]
    return (Editor(module).insert_before(statement, *lines),) if lines else ()


def _read_here(where: SourceLocation, names: Set[str]) -> set[str]:
    """Return the names without parameters that the function does not read after the write, unless
    it takes the result: the write is for the caller, who would not see it in a new tensor.
    """
    function, own = where.scope, set(walk(where.statement))
    if not isinstance(function, FUNCTIONS):
        return {*names}
    loops = where.module.loops_around(where.statement)
    end = where.statement.end_lineno or where.statement.lineno
    again = {node for loop in loops for inner in loop.body for node in walk(inner)} - own
    nodes = names_loaded(walk_scope(function), *(names & named(function)))
    taken = {w.name for w in writes(where.statement) if isinstance(w.node, ast.Call)}
    if isinstance(where.statement, ast.Expr):  # nobody gets what the call returns
        taken = set()
    return {*names} - (named(function) - taken) | {
        node.id for node in nodes if node.lineno > end or node in again
    }


def cloned_first(where: SourceLocation, names: set[str], rank: int) -> Iterator[Proposal]:
    """Yield the same as a proposal."""
    names = _read_here(where, names)
    edits = clone_before(where.module, where.statement, names.__contains__)
    if edits:
        title = f"Clone {said(sorted(names))} before writing to it"
        yield Proposal("clone-before-write", title, edits, "One copy more.", rank)


def given_new(
    written: Iterable[tuple[SourceLocation, Set[str]]], how: str, rank: int
) -> Iterator[Proposal]:
    """Yield a proposal that makes the writes of these statements to those names out of place; `how`
    ends the title. Other names of the tensor are either rebound with it, or keep the old value.
    """
    edits, following = list[Edit](), list[Edit]()
    names, others = list[str](), list[str]()
    for where, wanted in ((where, _read_here(where, names)) for where, names in written):
        made = out_of_place(where.module, where.statement, wanted.__contains__)
        edits += made
        for write in writes(where.statement) if made else ():
            if write.name in wanted:
                names.append(write.name)
                alike = list(other_names(where, write.name))
                lines = [f"{other} = {write.name}" for other in alike]
                following += [where.editor.insert_after(where.statement, *lines)] if lines else []
                others += alike
    if not edits:
        return
    late = 2 if sum(edit.text.count(".clone()") for edit in edits) > 1 else 0
    title = f"Give {said(names)} a new tensor instead of writing {how}"
    if others:
        whole_title = f"{title}; {said(others)} {'follow' if len(others) > 1 else 'follows'} it"
        yield Proposal("out-of-place", whole_title, joined([*edits, *following]), "", rank + late)
        title, late = (
            f"{title}; {said(others)} keep{'s' * (len(others) == 1)} the old value",
            late + 1,
        )
    yield Proposal("out-of-place", title, joined(edits), "", rank + late)


def other_names(where: SourceLocation, name: str) -> Iterator[str]:
    """Yield names that alias a written tensor and are read after the write: `r` of
    `r = h; h += x`."""
    alike = set[str]()
    for statement in ahead_of(where.module, where.statement):
        given = [(spelled(target), spelled(value)) for target, value in assigned_pairs(statement)]
        for one, other in given or [(bound, "") for bound in bindings(statement)]:
            if one == name:
                alike = {other} if is_path(other) else set()
            elif other == name or other in alike:
                alike.add(one)
            else:
                alike.discard(one)
    following = statements_after(where.module, where.statement)
    yield from (other for other in sorted(alike) if first_use(following, other) == "read")
