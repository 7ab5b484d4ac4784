"""Fix leaves that are updated by hand: under `no_grad`, in place, as the same leaf."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.advice.graphs import modules_named
from analyzers.explain.listed import said
from analyzers.explain.missing import element_of
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import (
    alias,
    indentation,
    lines_with,
    missing_import,
    rewritten,
    wrapped,
)
from analyzers.repair.copy.outofplace import out_of_place
from analyzers.repair.rewrite import unused_name
from analyzers.source.backward import backward_calls
from analyzers.source.callees import is_call
from analyzers.source.calls import calls_of, keeps_gradients, operations_in, reads_gradient
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    declared_outer,
    definitions,
    mentions,
    names_read,
    run_around,
    statements_of,
    value_of,
)
from analyzers.source.project import FUNCTIONS, Loop, Module, spelled
from analyzers.source.reads import reads_after
from analyzers.source.targets import assigned_pairs, target_names
from analyzers.source.trees import position, walk
from analyzers.source.writes import Write, unsliced, writes


def no_grad_header(module: Module) -> str:
    """Return `with torch.no_grad():` in the module's own spelling."""
    return f"with {alias(module, 'torch.no_grad')}():"


def no_grad_on(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Edit:
    """Return an edit that decorates a function with `no_grad`, in the module's own spelling."""
    return Editor(module).decorate(function, f"@{alias(module, 'torch.no_grad')}()")


def written_alike(where: SourceLocation) -> list[ast.stmt]:
    """Return the adjacent statements of the block that write in place as this one does."""
    alike = [s for s in where.block if is_update(s)]
    return run_around(where.module, where.statement, [*alike, where.statement])


def is_update(statement: ast.stmt) -> bool:
    """Return True if a statement, by its form, only writes to tensors; for a loop, only that and
    selecting by plain names what to write.
    """
    if isinstance(statement, ast.For):
        updates = [s for s in statement.body if is_update(s)]
        others = [s for s in statement.body if s not in updates]
        return bool(updates) and all(isinstance(s, ast.Assign) for s in others)
    if isinstance(statement, ast.AugAssign):
        return not isinstance(statement.value, ast.Constant)
    resets = isinstance(statement, ast.Assign) and spelled(statement.targets[0]).endswith(".grad")
    return resets or (isinstance(statement, ast.Expr | ast.Assign) and any(writes(statement)))


_LEAVING = ("torch.Tensor.requires_grad_", "torch.Tensor.detach")
_FILLING = ("zero_", "fill_", "copy_", "normal_", "uniform_", "trunc_normal_", "set_")


def is_made_by_hand(where: SourceLocation) -> bool:
    """Return True if a write belongs to no forward pass: it sets initial values, or updates the
    leaf after a backward call, by a gradient, or in a loop over a model's parameters as averages
    do.
    """
    stored, loops = where.statement, where.module.loops_around(where.statement)
    from_gradient = {
        name
        for node in statements_of(where.scope)
        if (value := value_of(node)) is not None and reads_gradient(value)
        for name in bindings(node)
    }
    return (
        any(backward_calls(s) for s in where.block if position(s) < position(stored))
        or any(
            calls_of(loop, "torch.nn.Module.parameters", "torch.nn.Module.named_parameters")
            for loop in map(_over, loops)
        )
        or bool(operations_in(stored, _FILLING))
        or isinstance(getattr(stored, "value", None), ast.Constant)
        or bool(names_read(stored) & from_gradient)
        or reads_gradient(stored)
        or _edits_a_module(where)
    )


def is_value_of_forward(where: SourceLocation) -> bool:
    """Return True if a method writes to its own name for an attribute, and computes with it after:
    `scale = self.scale; scale += shift`. What is meant is a value, not another parameter.
    """
    if not isinstance(where.scope, FUNCTIONS):
        return False
    names = {write.name for write in writes(where.statement) if write.name.isidentifier()}
    return any(
        isinstance(value, ast.Attribute) and spelled(value).startswith("self.")
        for name in names
        if reads_after(where.scope, where.statement, name)
        for made in definitions(where.scope, name)
        if (value := value_of(made)) is not None
    )


def _edits_a_module(where: SourceLocation) -> bool:
    """Return True if a script writes into a module's parameter from outside, as in
    `net.fc.weight[0] = 0`: a copy under another name would leave the module as it was.
    """
    if isinstance(where.scope, FUNCTIONS):
        return False
    roots = {re.split(r"[.\[]", write.name)[0] for write in writes(where.statement)}
    return not roots.isdisjoint(modules_named(where.module))


def _over(loop: Loop) -> ast.expr:
    """Return what a loop iterates over, or tests before each iteration."""
    return loop.test if isinstance(loop, ast.While) else loop.iter


def under_no_grad(
    where: SourceLocation, rank: int = 0, what: str = "the leaf"
) -> Iterator[Proposal]:
    """Yield a proposal that puts the update, with adjacent ones, under `torch.no_grad()`."""
    statements = written_alike(where)
    edit = wrapped(where.editor, statements, no_grad_header(where.module))
    if edit is not None:
        title = f"Update {what} under `torch.no_grad()`"
        edits = (edit, *missing_import(where.editor))
        yield Proposal("under-no-grad", title, edits, "", rank)


def leaf_out_of_place(where: SourceLocation, names: Sequence[str]) -> Iterator[Proposal]:
    """Yield a proposal that computes a new tensor from the leaf, as a part of the graph; not under
    a local name that nothing reads afterwards, nor for what a module holds: it would be lost.
    """
    if _edits_a_module(where):
        return
    found = [w for w in writes(where.statement) if w.name in names or not names]
    wanted = {write.name for write in found}
    local = isinstance(where.scope, FUNCTIONS) and not wanted & declared_outer(where.scope)
    if local and not any(_is_taken_up(where, name) for name in wanted):
        return
    if len(wanted) == 1 and "." in found[0].name:
        edits = _under_local_name(where, found[0])
    else:
        edits = out_of_place(where.module, where.statement, wanted.__contains__)
    if edits and (not mentions(where.statement, "grad") or keeps_gradients(where.scope)):
        title = f"Compute a new tensor from {said(sorted(wanted))}"
        yield Proposal("out-of-place", title, edits, "", 1)


def _is_taken_up(where: SourceLocation, name: str) -> bool:
    """Return True if anything reads a name after a write to it, including the next iteration of a
    loop.
    """
    statement = where.statement
    if reads_after(where.scope, statement, name):
        return True
    others = [s for s in definitions(where.scope, name) if s is not statement]
    return any(
        any(mentions(s, name) for s in loop.body if s is not statement)
        and not any(where.module.holds(loop, s) for s in others)
        for loop in where.module.loops_around(statement)
    )


def _under_local_name(where: SourceLocation, write: Write) -> tuple[Edit, ...]:
    """Return edits that bind the new tensor to a local name, which is read from there on: a module
    keeps its parameter under the attribute. Empty if it is no whole statement, or if nothing
    afterwards uses the value: then the write is meant for the module's user.
    """
    editor, statement = where.editor, where.statement
    later = reads_after(where.scope, statement, write.name)
    filled = {unsliced(w.target) for s in statements_of(where.scope) for w in writes(s)}
    if filled.issuperset(later):
        return ()
    edits = out_of_place(where.module, statement, {write.name}.__contains__)
    local = unused_name(where.module, write.name.rpartition(".")[2])
    given = re.compile(f"^{re.escape(write.name)}")
    lines = [given.sub(local, line) for line in lines_with(editor, statement, edits)]
    edits = (rewritten(editor, [statement], lines),) if edits else ()
    return (*edits, *(editor.replace(node, local) for node in later)) if edits else ()


def in_place_of(editor: Editor, statement: ast.stmt) -> Edit | None:
    """Return the assignment as in-place updates: `w -= x` for `w = w - x`, a loop for a
    comprehension, one line for each name. None if that is impossible.
    """
    updates = [_in_place(editor, *pair) for pair in assigned_pairs(statement)]
    lines = [line for update in updates for line in update]
    return rewritten(editor, [statement], lines) if all(updates) and lines else None


def _in_place(editor: Editor, target: ast.expr, value: ast.expr) -> list[str]:
    """Return `w -= x` for `w = w - x`, `w.clamp_(...)` for a clamp, `w.copy_(...)` for any other
    value. The name stays a leaf, so calls that make the value a leaf are left out.
    """
    name, value = editor.text_of(target), _before_leaf(value)
    match value:
        case ast.ListComp() | ast.DictComp():
            return loop_of(editor, value)
        case ast.BinOp(left=own, op=op, right=right) if type(op) in SIGNS:
            if spelled(own) == spelled(target):
                return [f"{name} {SIGNS[type(op)]}= {editor.text_of(right)}"]
        case ast.Call(func=ast.Attribute(value=holder, attr="clamp" | "clip" as method)):
            by_method = spelled(holder) == spelled(target)
            own, *given = [holder, *value.args] if by_method else value.args
            bounds = ", ".join(editor.text_of(one) for one in [*given, *value.keywords])
            if spelled(own) == spelled(target):
                return [f"{name}.{method}_({bounds})"]
    return [f"{name}.copy_({editor.text_of(value)})"]


def _before_leaf(value: ast.expr) -> ast.expr:
    """Return what a new leaf is made from: `x` for `x.detach().requires_grad_()` and for
    `nn.Parameter(x)`.
    """
    match value:
        case ast.Call(func=ast.Attribute(value=inner)) if is_call(value, *_LEAVING):
            return _before_leaf(inner)
        case ast.Call(args=[inner]) if is_call(value, "torch.nn.Parameter"):
            return _before_leaf(inner)
    return value


SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def loop_of(editor: Editor, value: ast.ListComp | ast.DictComp) -> list[str]:
    """Return `for p in ps: p -= x` for `[p - x for p in ps]`; empty for anything more complex."""
    source, element = value.generators[0], element_of(value)
    leaf = _leaf_of(source.target, element)
    if len(value.generators) > 1 or source.ifs or leaf is None:
        return []
    target, iterated = editor.text_of(source.target), editor.text_of(source.iter)
    lines = _in_place(editor, leaf, element)
    if not clears(editor.module.tree, ""):
        lines.append(f"{spelled(leaf)}.grad = None")
    return [f"for {target} in {iterated}:", *(indentation(editor.module) + x for x in lines)]


def _leaf_of(target: ast.expr, element: ast.expr) -> ast.expr | None:
    """Return the comprehension's variable whose next value the element is: the left operand of a
    sum; else the only name, or the last, as in `items()`.
    """
    if isinstance(element, ast.BinOp) and isinstance(element.op, ast.Add | ast.Sub | ast.Mult):
        return element.left if spelled(element.left) in target_names(target) else None
    last = target.elts[-1] if isinstance(target, ast.Tuple) else target
    return last if isinstance(last, ast.Name) and mentions(element, last.id) else None


def clears(within: ast.AST, name: str) -> bool:
    """Return True if the leaf's gradient is cleared somewhere; without a name, any leaf's."""
    names = {name, *_taken_from_several(within, name)}
    for node in walk(within):
        match node:
            case ast.Attribute(attr="zero_" | "zero_grad", value=owner):
                found = any(spelled(owner).startswith(one) for one in names)
            case ast.Assign(targets=[ast.Attribute(attr="grad", value=owner), *_]):
                found = not name or spelled(owner) in names
            case _:
                found = False
        if found:
            return True
    return False


def _taken_from_several(within: ast.AST, name: str) -> Iterator[str]:
    """Yield the variable of loops over a literal list that contains this name."""
    for node in walk(within):
        match node:
            case ast.For(target=target, iter=ast.Tuple(elts=several) | ast.List(elts=several)):
                if name in map(spelled, several):
                    yield spelled(target)
