"""One statement's text at a time: is it Python, and is it code rather than a sentence?"""

from __future__ import annotations

import ast
import warnings

MAX_STATEMENT = 40_000  # characters
_OF_SETTINGS = frozenset({"true", "false", "null", "yes", "no"})
# What must stand around a line so that it can be parsed alone.
_AROUND = {
    "elif": "if 1: pass\n",
    "else": "if 1: pass\n",
    "except": "try: pass\n",
    "finally": "try: pass\n",
}


def is_python(text: str) -> bool:
    """Whether the whole text parses."""
    with warnings.catch_warnings(action="ignore"):
        return _tree(text) is not None


def statement(text: str) -> ast.stmt | None:
    """A logical line, without its indentation, as a statement; a header gets an empty body.
    None for what is not Python. For `else:` and its kin, the statement that they belong to."""
    if len(text) > MAX_STATEMENT:
        return None
    if (tree := _tree(text)) is not None:
        return tree.body[0] if tree.body else ast.Pass()
    if text.startswith("@"):
        tree = _tree(f"{text}\ndef f(): pass")
    else:
        word = text.split(None, 1)[0].rstrip(":") if text.strip() else ""
        tree = _tree(f"{_AROUND.get(word, '')}{text}\n pass")
        if tree is None and word == "try":
            tree = _tree(f"{text}\n pass\nfinally: pass")
    return tree.body[0] if tree is not None else None


def opens_block(text: str) -> bool:
    """Whether a logical line wants an indented body below it."""
    return not text.startswith("@") and _tree(text) is None and statement(text) is not None


def is_sentence(node: ast.stmt) -> bool:
    """Whether a statement could as well be words or a printed result: `Thanks`, `not sure`,
    `note: it`, `0.25`, `tensor([1.])`. None of these does anything in a program. A name in two
    scripts, as in `在哪里设置requires_grad=True呢`, is words that no space parts, and a number
    that is called, as in `batch = 4 (on two GPUs)`, is followed by a remark."""
    if any(_is_remark(inner) for inner in ast.walk(node)):
        return True
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return False
        case ast.Expr(value=ast.Call(func=ast.Name(id="tensor" | "array" | "Parameter"))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name.endswith("Error"):
            return True  # made, and not raised: `ValueError("…")`
        case ast.Expr(value=value):
            return not isinstance(value, ast.Call | ast.Await | ast.Yield | ast.YieldFrom)
        case ast.AnnAssign(value=None) | ast.Global() | ast.Nonlocal():
            return True
    return False


def _is_remark(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return _in_two_scripts(name)
        case ast.Call(func=ast.Constant(value=called)):
            return not isinstance(called, str)
    return False


def _in_two_scripts(name: str) -> bool:
    latin = any(sign.isascii() and sign.isalpha() for sign in name)
    return latin and any("\u3040" <= sign <= "\u9fff" for sign in name)


def statement_acts(text: str) -> bool:
    """Return False for what could as well be a quoted message (`"RuntimeError: …"`, the line of a
    library that raises it), the line that Python prints below a warning, or a line of a
    configuration (`lr = 0.1`, `resume = true`, `[model]`).
    """
    match statement(text):
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="warnings")))):
            return False
        case ast.Raise():
            return False
        case None | ast.Expr(value=ast.Constant() | ast.List() | ast.Name()):
            return False
        case ast.Assign(targets=[ast.Name()], value=value):
            names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} - _OF_SETTINGS
            return bool(names) or isinstance(value, ast.Call)
    return True


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
