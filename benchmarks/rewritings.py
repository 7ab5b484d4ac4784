"""Scripts rewritten without changing what they do: ten ways, each on the syntax tree."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Iterator
from itertools import pairwise

from benchmarks.renamings import IMPORTS, aliases, bound, kept_words, names

Rewriting = Callable[[ast.Module], ast.Module]
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Delete, ast.Assert, ast.Return)


class NotApplicable(ValueError):
    """The script holds something that this way of rewriting would change."""


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements."""
    for node in list(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def temporaries(tree: ast.Module) -> ast.Module:
    """`y = f(x)` as `temporary = f(x)` and `y = temporary`."""
    for number, block in enumerate(list(_blocks(tree))):
        written: list[ast.stmt] = []
        for place, statement in enumerate(block):
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Assign) and not isinstance(value, ast.Constant | ast.Name):
                name = f"temporary_{number}_{place}"
                first = ast.Assign([ast.Name(name, ast.Store())], statement.value)
                statement.value = ast.Name(name, ast.Load())
                written.append(first)
            written.append(statement)
        if not any(isinstance(n, ast.ClassDef) and n.body is block for n in ast.walk(tree)):
            block[:] = written
    return tree


def _split(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The imports, and the rest, of a script whose functions do not ask for the module's names."""
    if any(isinstance(node, ast.Global) for node in ast.walk(tree)):
        raise NotApplicable
    return _split_loosely(tree)


def one_function(tree: ast.Module) -> ast.Module:
    """Everything but the imports in one function."""
    imports, rest = _split(tree)
    made = ast.parse("def everything():\n    pass\neverything()").body
    made[0].body = rest  # type: ignore[attr-defined]
    return ast.Module([*imports, *made], [])


def one_class(tree: ast.Module) -> ast.Module:
    """Everything but the imports in a method of a class."""
    imports, rest = _split(tree)
    text = "class Everything:\n    def run(self_):\n        pass\nEverything().run()"
    made = ast.parse(text).body
    made[0].body[0].body = rest  # type: ignore[attr-defined]
    return ast.Module([*imports, *made], [])


class _Attributes(ast.NodeTransformer):
    """Variables of the module read and written as attributes of `box`."""

    def __init__(self, moved: set[str]) -> None:
        self._moved = [moved]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._moved[-1]:
            return node
        return ast.Attribute(ast.Name("box", ast.Load()), node.id, node.ctx)

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        left = [name for name in node.names if name not in self._moved[0]]
        return ast.Global(left) if left else ast.Pass()

    def _scope(self, node: ast.AST) -> ast.AST:
        self._moved.append(self._moved[-1] - bound(node))
        node = self.generic_visit(node)
        self._moved.pop()
        return node

    visit_FunctionDef = visit_Lambda = visit_ClassDef = _scope  # noqa: N815


def attributes(tree: ast.Module) -> ast.Module:
    """Variables of the module as attributes of one object."""
    inner: set[str] = kept_words(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension | ast.NamedExpr):
            inner |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner.add(node.name)
    moved = bound(tree) - inner
    imports, rest = _split_loosely(_Attributes(moved).visit(tree))
    made = ast.parse("class Box:\n    pass\nbox = Box()").body
    return ast.Module([*imports, *made, *rest], [])


def _split_loosely(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.stmt]]:
    imports: list[ast.stmt] = [s for s in tree.body if isinstance(s, IMPORTS)]
    return imports, [s for s in tree.body if not isinstance(s, IMPORTS)]


def while_loops(tree: ast.Module) -> ast.Module:
    """`for x in xs` as `while True` around `next`."""
    for number, block in enumerate(list(_blocks(tree))):
        for place, loop in reversed(list(enumerate(block))):
            if isinstance(loop, ast.For) and not loop.orelse:
                walker, item = f"walker_{number}_{place}", f"item_{number}_{place}"
                text = (
                    f"{walker} = iter(0)\nwhile True:\n    {item} = next({walker}, STOP)\n"
                    f"    if {item} is STOP:\n        break\n    x = {item}"
                )
                begun, made = ast.parse(text).body
                begun.value.args = [loop.iter]  # type: ignore[attr-defined]
                assert isinstance(made, ast.While)
                made.body[-1].targets = [loop.target]  # type: ignore[attr-defined]
                made.body += loop.body
                block[place : place + 1] = [begun, made]
    imports, rest = _split_loosely(tree)
    return ast.Module([*imports, *ast.parse("STOP = object()").body, *rest], [])


def with_blocks(tree: ast.Module) -> ast.Module:
    """`with nullcontext():` around the body of each loop."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While):
            held = ast.parse("with nullcontext():\n    pass").body[0]
            assert isinstance(held, ast.With)
            held.body, node.body = node.body, [held]
    imports, rest = _split_loosely(tree)
    return ast.Module([*imports, *ast.parse("from contextlib import nullcontext").body, *rest], [])


class _Helpers(ast.NodeTransformer):
    """The values of assignments, computed by functions of their own."""

    def __init__(self, outside: set[str]) -> None:
        self._outside = outside
        self.made: list[ast.stmt] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        for method in node.body:
            if isinstance(method, ast.FunctionDef):
                self.generic_visit(method)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        inside = list(ast.walk(node.value))
        computed = isinstance(node.value, ast.Call | ast.BinOp)
        if not computed or any(isinstance(n, _OWN) for n in inside):
            return node
        read = {n.id for n in inside if isinstance(n, ast.Name)}
        if "super" in read:
            return node
        given = sorted(read - self._outside)
        name = f"computed_{len(self.made)}"
        text = f"def {name}({', '.join(given)}):\n    return 0"
        made = ast.parse(text).body[0]
        made.body[0].value = node.value  # type: ignore[attr-defined]
        self.made.append(made)
        node.value = ast.parse(f"{name}({', '.join(given)})", mode="eval").body
        return node


# What belongs to the place where it stands: names of its own, or a way out of its function.
_OWN = (ast.Lambda, ast.comprehension, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def helpers(tree: ast.Module) -> ast.Module:
    """`y = f(x)` as `y = computed_1(x)`, with a function that returns `f(x)`."""
    imported = {
        (item.asname or item.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, IMPORTS)
        for item in node.names
    }
    made = _Helpers(imported | set(dir(builtins)))
    imports, rest = _split_loosely(made.visit(tree))
    if not made.made:
        raise NotApplicable
    return ast.Module([*imports, *made.made, *rest], [])


def joined(tree: ast.Module) -> str:
    """Simple statements that follow each other on one line, parted by `;`."""
    text = ast.unparse(ast.fix_missing_locations(tree))
    lines = text.splitlines()
    again = ast.parse(text)
    for block in _blocks(again):
        for first, second in reversed(list(pairwise(block))):
            alone = first.lineno == first.end_lineno and second.lineno == second.end_lineno
            if alone and isinstance(first, SIMPLE) and isinstance(second, SIMPLE):
                lines[first.lineno - 1] += "; " + lines[second.lineno - 1].strip()
                lines[second.lineno - 1] = ""
    return "\n".join(line for line in lines if line.strip()) + "\n"


def control(tree: ast.Module) -> ast.Module:
    """The script as Python writes it: without comments, in its own layout."""
    return tree


WAYS: dict[str, Rewriting | Callable[[ast.Module], str]] = {
    "control": control,
    "all names changed": names,
    "other aliases of imports": aliases,
    "a temporary for each assignment": temporaries,
    "all of it in one function": one_function,
    "all of it in a class": one_class,
    "globals as attributes": attributes,
    "`for` as `while`": while_loops,
    "`with` around loops' bodies": with_blocks,
    "helpers extracted": helpers,
    "statements joined by `;`": joined,
}


def rewritten(text: str, way: str) -> str | None:
    """The script in another way; None where that would change it."""
    try:
        made = WAYS[way](copy.deepcopy(ast.parse(text)))
        found = made if isinstance(made, str) else ast.unparse(ast.fix_missing_locations(made))
        compile(found, "train.py", "exec")
    except (NotApplicable, SyntaxError):
        return None
    return found.rstrip("\n") + "\n"
