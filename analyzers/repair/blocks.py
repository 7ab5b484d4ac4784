"""Edit whole runs of statements: rewrite them, or put them under a `with`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from analyzers.source.edits import Edit, Editor, apply, statement_first_line
from analyzers.source.flow import walk_scope
from analyzers.source.project import Module
from analyzers.source.trees import remembered, walk

_USUAL = {"torch.nn.functional": "F", "torch.nn": "nn", "numpy": "np"}


def text_with(editor: Editor, node: ast.AST, edits: Iterable[Edit]) -> str:
    """Return the node's source with edits made in it or right before it."""
    made, (start, end) = list(edits), editor.span(node)
    start = min([start, *(edit.start for edit in made)])
    moved = [Edit(e.path, e.start - start, e.end - start, e.text) for e in made]
    return apply(editor.module.text[start:end], moved)


def lines_with(editor: Editor, statement: ast.stmt, edits: Iterable[Edit] = ()) -> list[str]:
    """Return the statement's lines, edited, without the indentation of its first line."""
    indent = editor.indent_of(statement)
    text = text_with(editor, statement, edits)
    return [line.removeprefix(indent) for line in text.splitlines()]


def rewritten(editor: Editor, statements: Sequence[ast.stmt], lines: Sequence[str]) -> Edit:
    """Return an edit that replaces adjacent statements by lines at their indentation. The end of
    the last line (for example a comment) stays.
    """
    first, last = statements[0], statements[-1]
    if len(lines) == 1:
        return Edit(editor.module.path, editor.span(first)[0], editor.span(last)[1], lines[0])
    start, end, lead, tail = editor.apart(first, last)
    text = (editor.newline + editor.indent_of(first)).join(lines)
    return Edit(editor.module.path, start, end, lead + text + tail)


def wrapped(
    editor: Editor,
    statements: Sequence[ast.stmt],
    header: str,
    edits: Sequence[Edit] = (),
    following: Sequence[str] = (),
) -> Edit | None:
    """Return an edit that puts adjacent statements under a header such as `with torch.no_grad():`,
    with edits made inside them, and new lines after them. Return None if they contain multi-line
    strings.
    """
    if any(_spans_lines(node) for statement in statements for node in walk(statement)):
        return None
    first, last = statements[0], statements[-1]
    start, end, lead, tail = editor.apart(first, last)
    if not lead and editor.module.text[start : editor.span(first)[0]].strip():
        return None  # `if x: statement`
    indent, step = editor.indent_of(first), indentation(editor.module)
    if lead or tail or len({statement_first_line(s) for s in statements}) < len(statements):
        body = [
            line for s in statements for line in lines_with(editor, s, _inside(editor, s, edits))
        ]
    else:
        moved = [Edit(e.path, e.start - start, e.end - start, e.text) for e in edits]
        body = apply(editor.module.text[start:end], moved).splitlines()
    lines = [header] + [
        indent + step + line.removeprefix(indent) if line.strip() else ""
        for line in [*body, *following]
    ]
    return Edit(editor.module.path, start, end, lead + editor.newline.join(lines) + tail)


def _inside(editor: Editor, statement: ast.stmt, edits: Iterable[Edit]) -> list[Edit]:
    start, end = editor.span(statement)
    return [edit for edit in edits if start <= edit.start and edit.end <= end]


def joined(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return the edits with insertions at the same offset merged: in order, those of an inner block
    first.
    """
    inserted: dict[tuple[str, int], list[str]] = {}
    others: list[Edit] = []
    for edit in dict.fromkeys(edits):
        if edit.start == edit.end:
            inserted.setdefault((edit.path, edit.start), []).append(edit.text)
        else:
            others.append(edit)
    return (
        *others,
        *(
            Edit(path, at, at, "".join(sorted(texts, key=lambda t: len(t.lstrip()) - len(t))))
            for (path, at), texts in inserted.items()
        ),
    )


def _spans_lines(node: ast.AST) -> bool:
    is_text = isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
    return is_text and node.lineno != node.end_lineno  # type: ignore[attr-defined]


def unwrapped(editor: Editor, block: ast.If | ast.With) -> tuple[Edit, ...] | None:
    """Return edits that remove a `with`, or an `if`, and keep its statements."""
    if isinstance(block, ast.With) and len(block.items) != 1:
        return None
    start, end = editor.span(block)
    return (Edit(editor.module.path, start, end, unindented(editor, block).lstrip()),)


def unindented(editor: Editor, block: ast.If | ast.With) -> str:
    """Return the statements of a block, dedented; lines within a multi-line
    string stay the same.
    """
    inner, outer = editor.indent_of(block.body[0]), editor.indent_of(block)
    inside = {
        line
        for node in walk(block)
        if _spans_lines(node)
        for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)  # type: ignore[attr-defined]
    }
    start, end = editor.span(block.body[0])[0], editor.span(block)[1]
    lines = editor.module.text[start:end].splitlines(keepends=True)
    return "".join(
        line if number in inside or not line.startswith(inner) else outer + line[len(inner) :]
        for number, line in enumerate(lines, statement_first_line(block.body[0]))
    )


def indentation(module: Module) -> str:
    """Return one step of indentation, as the script has it."""
    for node in module.nodes:
        if not isinstance(node, ast.FunctionDef | ast.For | ast.If | ast.With | ast.ClassDef):
            continue
        outer = module.lines[node.lineno - 1]
        inner = module.lines[node.body[0].lineno - 1]
        step = inner[: len(inner) - len(inner.lstrip())].removeprefix(
            outer[: len(outer) - len(outer.lstrip())]
        )
        if step and not step.strip() and node.body[0].lineno > node.lineno:
            return step
    return "    "


def alias(module: Module, name: str) -> str:
    """Return how the module names a library or a part of one (`torch`, `torch.nn.functional`). If
    an import is missing, use the usual name if it occurs; else go through its owner.
    """
    if (known := imported(module, name)) is not None:
        return known
    usual = _USUAL.get(name)
    if usual is not None and any(node.id == usual for node in module.each(ast.Name)):
        return usual
    owner, _, last = name.rpartition(".")
    return f"{alias(module, owner)}.{last}" if owner else name


def imported(module: Module, name: str) -> str | None:
    """Return the name that the module's imports give a library or a part of
    one; None if none does.
    """
    return _imports(module.tree).get(name)


@remembered
def _imports(tree: ast.Module) -> dict[str, str]:
    """Return, by what an import names, the name that the first import outside of functions gives
    it.
    """
    called: dict[str, str] = {}
    for node in walk_scope(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            of = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for item in node.names:
                called.setdefault(of + item.name, item.asname or item.name)
    return called


def missing_import(editor: Editor) -> tuple[Edit, ...]:
    """Return an edit that imports torch if the module does not."""
    known = imported(editor.module, "torch") is not None
    for node in editor.module.tree.body if not known else ():
        if isinstance(node, ast.Import) or getattr(node, "module", "__future__") != "__future__":
            return (editor.insert_before(node, "import torch"),)
    return ()
