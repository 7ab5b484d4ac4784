"""Rewrites of in-place operations as out-of-place ones: `x += y` as `x = x + y`, `x.relu_()` as
`x = x.relu()`, `x[i] = y` as a write into a copy."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.repair.blocks import alias, rewritten
from analyzers.repair.rewrite import unused_name, without_keyword, without_true
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import called_name, names_read
from analyzers.source.project import Module, is_path
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

Wanted = Callable[[str], bool]


def out_of_place(module: Module, statement: ast.stmt, wanted: Wanted) -> tuple[Edit, ...]:
    """The statement without its in-place writes to the wanted names; empty where that cannot be
    said in the same place."""
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
    if isinstance(statement.target, ast.Subscript):
        write = Write(statement.target, statement)
        return into_copy(editor, statement, write)
    target = editor.text_of(statement.target)
    operation = f"{target} = {_applied(editor, statement)}"
    return (editor.replace(statement, operation),)


def _applied(editor: Editor, statement: ast.AugAssign) -> str:
    """`x + y` for `x += y`."""
    value = editor.text_of(statement.value)
    simple = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant
    if not isinstance(statement.value, simple) and not _binds_tighter(statement):
        value = f"({value})"
    return f"{editor.text_of(statement.target)} {_SYMBOLS[type(statement.op)]} {value}"


def _binds_tighter(statement: ast.AugAssign) -> bool:
    """Whether the value needs no parentheses behind `+` or `-`."""
    value = statement.value
    return (
        isinstance(statement.op, ast.Add | ast.Sub)
        and isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.Mult | ast.Div | ast.MatMult | ast.Pow)
    )


def into_copy(
    editor: Editor, statement: ast.Assign | ast.AugAssign, write: Write
) -> tuple[Edit, ...]:
    """An indexed write as one into a copy that takes the name afterwards. Where the new value
    does not read the tensor, the copy takes the name at once."""
    name = write.name
    if isinstance(unsliced(write.target), ast.Name | ast.Attribute) is False:
        return ()
    if isinstance(statement, ast.Assign) and (masked := _masked(editor, statement, write)):
        return masked
    value = statement.value
    if isinstance(statement, ast.Assign) and name not in names_read(value):
        return (editor.insert_before(statement, f"{name} = {name}.clone()"),)
    copy = unused_name(editor.module, f"new_{name.rpartition('.')[2]}")
    written = copy + editor.text_of(write.target).removeprefix(name)
    if isinstance(statement, ast.AugAssign):
        new = f"{written} = {_applied(editor, statement)}"
    elif len(statement.targets) == 1 and statement.targets[0] is write.target:
        new = f"{written} = {editor.text_of(value)}"
    else:
        return ()
    lines = [f"{copy} = {name}.clone()", *new.splitlines(), f"{name} = {copy}"]
    return (rewritten(editor, [statement], lines),)


def _masked(editor: Editor, statement: ast.Assign, write: Write) -> tuple[Edit, ...]:
    """`x[mask] = v` as `x = torch.where(mask, v, x)`, where the index is plainly a mask."""
    target = write.target
    single = len(statement.targets) == 1 and statement.targets[0] is target
    if not single or not isinstance(target, ast.Subscript):
        return ()
    if not isinstance(target.slice, ast.Compare) or isinstance(target.value, ast.Subscript):
        return ()
    if not isinstance(statement.value, ast.Constant | ast.UnaryOp):
        return ()
    torch = alias(editor.module, "torch")
    mask, value = editor.text_of(target.slice), editor.text_of(statement.value)
    return (
        editor.replace(statement, f"{write.name} = {torch}.where({mask}, {value}, {write.name})"),
    )


def _calls(editor: Editor, statement: ast.stmt, found: list[Write]) -> Iterator[Edit]:
    """Calls that write: without the underscore, the flag or `out=`, and their result kept."""
    whole = isinstance(statement, ast.Expr)
    outermost = found[0]
    part = outermost.indexed and not _chain_is_plain(outermost, found[-1])
    if any(_only_in_place(write.node) for write in found):
        if not whole:
            return
        part = True
    if part and whole and isinstance(unsliced(outermost.target), ast.Name | ast.Attribute):
        yield editor.insert_before(statement, f"{outermost.name} = {outermost.name}.clone()")
        return
    if whole and isinstance(outermost.target, ast.Name | ast.Attribute | ast.Call):
        yield from _named_result(editor, statement, found)
        return
    for write in found:
        if isinstance(write.node, ast.Call):
            yield from _bare(editor, write.node)


def _only_in_place(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called_name(node) in _ONLY_IN_PLACE


def _chain_is_plain(outermost: Write, innermost: Write) -> bool:
    """Whether a chain of methods (`x.mul_(a).div_(b)`) starts from the whole tensor."""
    return isinstance(innermost.target, ast.Name | ast.Attribute) and outermost is not innermost


def _named_result(editor: Editor, statement: ast.stmt, found: list[Write]) -> Iterator[Edit]:
    name = found[0].name
    start, _ = editor.span(statement)
    special = found[0].node
    if len(found) == 1 and isinstance(special, ast.Call) and not is_library(special):
        if text := _otherwise(editor, special, name):
            yield editor.replace(statement, f"{name} = {text}")
            return
    yield Edit(editor.module.path, start, start, f"{name} = ")
    for write in found:
        if isinstance(write.node, ast.Call):
            yield from _bare(editor, write.node)


def _otherwise(editor: Editor, call: ast.Call, name: str) -> str:
    """The new value of a method that has no counterpart; empty for the others."""
    method = called_name(call)
    if method == "copy_" and call.args:
        return _copied(editor, call.args[0])
    if method not in _OTHERWISE or not isinstance(call.func, ast.Attribute):
        return ""
    arguments = ", ".join(editor.text_of(argument) for argument in call.args)
    torch = alias(editor.module, "torch")
    return _OTHERWISE[method].format(torch=torch, x=name, arguments=arguments)


def _copied(editor: Editor, value: ast.expr) -> str:
    """A value as a tensor of its own: a computed one is that already."""
    text = editor.text_of(value)
    return text if isinstance(value, ast.Call | ast.BinOp) else f"{text}.clone()"


def _bare(editor: Editor, call: ast.Call) -> Iterator[Edit]:
    """The call without its trailing underscore, `inplace=True` or `out=`."""
    name = called_name(call)
    if writes_in_place(name):
        end = editor.span(call.func)[1]
        yield Edit(editor.module.path, end - 1, end, "")
    yield from without_true(editor, call, "inplace")
    for keyword in call.keywords:
        if keyword.arg == "out":
            yield without_keyword(editor, call, keyword)


def clone_before(module: Module, statement: ast.stmt, wanted: Wanted) -> tuple[Edit, ...]:
    """A copy under the same name in front of the statement that writes."""
    names = dict.fromkeys(w.name for w in writes(statement) if wanted(w.name))
    lines = [f"{name} = {name}.clone()" for name in names if is_path(name)]
    return (Editor(module).insert_before(statement, *lines),) if lines else ()


def cloned_first(where: Spot, names: set[str], rank: int) -> Iterator[Proposal]:
    """The same as a proposal."""
    edits = clone_before(where.module, where.statement, names.__contains__)
    if edits:
        told = " and ".join(f"`{name}`" for name in sorted(names)) or "the value"
        title = f"Clone {told} before writing to it"
        yield Proposal("clone-before-write", title, edits, "One copy more.", rank)
