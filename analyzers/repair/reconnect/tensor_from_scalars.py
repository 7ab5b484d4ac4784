"""Rewrite tensors that torch creates from plain numbers so that their source tensors keep their
graph: `torch.linspace(a, b, n)`, `torch.full(size, a)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, text_with
from analyzers.repair.reconnect.cutting_expressions import base_of
from analyzers.source.callees import is_call
from analyzers.source.calls import operations_in
from analyzers.source.edits import Editor, needs_parentheses
from analyzers.source.flow import names_read
from analyzers.source.project import spelled

_ONES = {"full": "ones", "full_like": "ones_like", "new_full": "new_ones"}


def filled(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Yield a proposal with numbers from 0 to 1, scaled and shifted; or ones, times the value."""
    numpy = alias(where.module, "numpy")
    calls = [
        call
        for call in operations_in(where.statement, {"linspace", *_ONES})
        if not spelled(call.func).startswith(f"{numpy}.")
    ]
    made = [(call, text) for call in calls if (text := _with_graph(where.editor, call))]
    if made:
        functions = " and ".join(dict.fromkeys(f"`{spelled(call.func)}`" for call, _ in made))
        edits = tuple(where.editor.replace(call, text) for call, text in made)
        title = f"Keep the graph, which {functions} drops"
        yield Proposal("keep-graph", title, edits, "", rank)


def _with_graph(editor: Editor, call: ast.Call) -> str | None:
    made = _range(editor, call) if is_call(call, "torch.Tensor.linspace") else _ones(editor, call)
    alone = isinstance(editor.module.parents.get(call), ast.Assign | ast.Return)
    return made if alone or made is None else f"({made})"


def _range(editor: Editor, call: ast.Call) -> str | None:
    if len(call.args) < 2 or not any(map(names_read, call.args[:2])):
        return None
    first, last = (_operand(editor, one) for one in call.args[:2])
    ends = [editor.replace(one, text) for one, text in zip(call.args, "01", strict=False)]
    return f"{first} + ({last} - {first}) * {text_with(editor, call, ends)}"


def _ones(editor: Editor, call: ast.Call) -> str | None:
    if len(call.args) < 2 or not isinstance(call.func, ast.Attribute):
        return None
    size, value, *others = call.args
    if not names_read(value):
        return None
    owner, name = editor.text_of(call.func.value), _ONES[call.func.attr]
    words = [f"{word.arg}={editor.text_of(word.value)}" for word in call.keywords if word.arg]
    given = ", ".join([editor.text_of(one) for one in (size, *others)] + words)
    return f"{_operand(editor, value)} * {owner}.{name}({given})"


def _operand(editor: Editor, node: ast.expr) -> str:
    """Return the value as a factor or a term; if it is a number taken from a
    tensor, that tensor.
    """
    base = base_of(node)
    text = editor.text_of(base)
    return f"({text})" if needs_parentheses(base) and not isinstance(base, ast.Constant) else text
