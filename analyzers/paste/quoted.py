"""Statements that the words around the code quote: `net = nn.Sequential(...)`, in backquotes."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from itertools import islice

from analyzers.paste.parsing import statement
from analyzers.source.flow import bound_within, mentions, names_read

LOOKED_AT, MOST = 64, 8  # quotations, and those of them that are taken
_QUOTED = re.compile(r"(?<!`)`([^`\n;]{3,300})`(?!`)")
_DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def with_quoted(python: str, text: str) -> str:
    """The code with what the words of its text say of names that it uses and does not bind: each
    ahead of where that is used and behind what it is made of itself: in the place of the words that
    quote it, else on an empty line."""
    rows = python.splitlines(keepends=True)
    lines = enumerate(zip(rows, text.splitlines(), strict=False))
    said = ((at, q) for at, (row, line) in lines if not row.strip() for q in _QUOTED.findall(line))
    made = [(at, *found) for at, q in islice(said, LOOKED_AT) if (found := _making(q))]
    for at, name, quoted in made[:MOST]:
        python = "".join(rows)
        empty = _places(ast.parse(python), name, quoted, rows) if name in _free(python) else []
        for row in [at] if at in empty else empty[-1:]:
            rows[row] = quoted + rows[row]
    return "".join(rows)


def _making(quoted: str) -> tuple[str, str] | None:
    """The name that a quotation makes, of other things than itself, and the statement."""
    match statement(quoted.strip()):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if not mentions(value, name):
            renames = isinstance(value, ast.Name | ast.Attribute)
            return None if renames else (name, quoted.strip())
    return None


def _free(python: str) -> set[str]:
    """Names that the code reads, and neither binds nor has from Python."""
    try:
        pending = [symtable.symtable(python, "pasted", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    read, bound = set[str](), set(dir(builtins))
    for table in pending:  # grows
        pending += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global():
                given = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
                (bound if given else read).add(symbol.get_name())
    return read - bound


def _places(tree: ast.Module, name: str, quoted: str, rows: list[str]) -> list[int]:
    """The indexes of the empty lines at the top level where the statement may stand."""
    uses = [s.lineno for s in tree.body if mentions(s, name) and not isinstance(s, _DEFINED)]
    needs = names_read(ast.parse(quoted))
    behind = [s for s in tree.body if needs & {*bound_within(s), getattr(s, "name", "")}]
    last = max((s.end_lineno or 0 for s in behind), default=0)
    taken = {n for s in tree.body for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    ahead = range(last + 1, min(uses, default=len(rows) + 1))
    return [n - 1 for n in ahead if n not in taken and not rows[n - 1].strip()]
