"""Build edits that several patterns share: detach at a boundary, one backward of a sum, moved
statements.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined
from analyzers.source.backward import backward_root
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.project import Loop, Module
from analyzers.source.writes import is_true


def unused_name(module: Module, wanted: str) -> str:
    """Return the name, with a number appended if the script uses it already."""
    taken = {node.id for node in module.each(ast.Name)} | {a.arg for a in module.each(ast.arg)}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def head_of(loop: Loop | ast.FunctionDef) -> ast.stmt:
    """Return the statement before which new work for each iteration or call goes (after a
    docstring).
    """
    first = loop.body[0]
    if len(loop.body) > 1 and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return loop.body[1]
    return first


def with_keyword(editor: Editor, call: ast.Call, keyword: str, value: str = "True") -> Edit:
    """Return an edit that sets a keyword of a call."""
    for given in call.keywords:
        if given.arg == keyword:
            return editor.replace(given.value, value)
    _, end = editor.span(call)
    inside = editor.module.text[editor.span(call.func)[1] : end]
    has_arguments = bool(call.args or call.keywords)
    comma = "" if not has_arguments or inside.rstrip(")").rstrip().endswith(",") else ", "
    return Edit(editor.module.path, end - 1, end - 1, f"{comma}{keyword}={value}")


def without_argument(editor: Editor, call: ast.Call, argument: ast.expr | ast.keyword) -> Edit:
    """Return an edit that removes an argument of a call and its comma."""
    start, end = editor.span(argument)
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    given.sort(key=lambda one: editor.span(one)[0])
    at = given.index(argument)
    if at > 0:
        start = editor.span(given[at - 1])[1]
    elif len(given) > 1:
        end = editor.span(given[1])[0]
    else:
        rest = editor.module.text[end:]
        end += len(rest) - len(rest.lstrip().removeprefix(",")) if rest.lstrip()[:1] == "," else 0
    return Edit(editor.module.path, start, end, "")


def without_true(editor: Editor, call: ast.Call, flag: str) -> Iterator[Edit]:
    """Yield an edit that removes a keyword argument that is `True`."""
    for keyword in call.keywords:
        if keyword.arg == flag and is_true(keyword.value):
            yield without_argument(editor, call, keyword)


def without_retaining(where: SourceLocation | None) -> Iterator[Edit]:
    """Yield an edit that removes `retain_graph=True` from the backward call at a place."""
    call = where.call("torch.Tensor.backward") if where is not None else None
    if where is not None and call is not None:
        yield from without_true(where.editor, call, "retain_graph")


def recomputed(strategy: str, title: str, *edits: Edit, rank: int = 0) -> Proposal:
    """Return a proposal that recomputes in each iteration a value that was computed once."""
    return Proposal(strategy, title, joined(edits), "It is computed again in each iteration.", rank)


def top_level_in(module: Module, node: ast.AST, block: Sequence[ast.stmt]) -> ast.stmt | None:
    """Return the statement of the block that contains the node or is it."""
    return next((s for s in block if module.holds(s, node)), None)


def sum_in_loop(
    editor: Editor,
    loop: Loop,
    statement: ast.stmt,
    call: ast.Call,
    name: str,
    *,
    loss_first: bool = False,
) -> tuple[Edit, ...] | None:
    """Return edits that replace a backward call in each iteration by a sum and one backward call
    after the loop. `loss_first`: only the loss's own type can be added to a number.
    """
    loss = backward_root(call)
    if loss is None or not isinstance(statement, ast.Expr) or statement.value is not call:
        return None
    start, end = editor.span(statement)
    text = editor.text_of(loss)
    bare = f"({text})" if loss_first and needs_parentheses(loss) else text
    added = f"{bare} + {name}" if loss_first else f"{name} + {text}"
    given = ", ".join(
        editor.text_of(keyword)
        for keyword in call.keywords
        if keyword.arg not in ("retain_graph", "create_graph", "gradient")
    )
    return (
        editor.insert_before(loop, f"{name} = 0"),
        Edit(editor.module.path, start, end, f"{name} = {added}"),
        editor.insert_after(loop, backward_of(editor, call, name, given)),
    )


def backward_of(editor: Editor, call: ast.Call, loss: str, given: str = "") -> str:
    """Return the source of a backward call like another one, on another loss. An engine that
    receives its loss stays (`accelerator.backward(total)`).
    """
    if isinstance(call.func, ast.Attribute) and backward_root(call) is call.func.value:
        return f"{loss}.backward({given})"
    return f"{editor.text_of(call.func)}({', '.join(filter(None, (loss, given)))})"


def move_into(editor: Editor, chain: Sequence[ast.stmt], head: ast.stmt) -> tuple[Edit, ...]:
    """Return edits that move statements before `head`, in order."""
    return (*editor.delete_all(chain), *copy_into(editor, chain, head))


def copy_into(editor: Editor, chain: Sequence[ast.stmt], head: ast.stmt) -> tuple[Edit, ...]:
    """Return edits as of `move_into`, but keep the first computation."""
    return (editor.insert_before(head, *editor.lines_of(*chain)),)


def move_after(editor: Editor, moved: Sequence[ast.stmt], last: ast.stmt) -> list[Edit]:
    """Return edits that move statements after `last`, in order."""
    return [*editor.delete_all(moved), editor.insert_after(last, *editor.lines_of(*moved))]
