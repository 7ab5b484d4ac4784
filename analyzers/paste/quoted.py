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
    on an empty line ahead of where that is used, behind what it is made of itself."""
    rows = python.splitlines(keepends=True)
    words = zip(rows, text.splitlines(), strict=False)
    said = (q for row, line in words if not row.strip() for q in _QUOTED.findall(line))
    made = [found for quoted in islice(said, LOOKED_AT) if (found := _making(quoted))]
    for name, quoted in made[:MOST]:
        python = "".join(rows)
        row = _place(ast.parse(python), name, quoted, rows) if name in _free(python) else None
        if row is not None:
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


def _place(tree: ast.Module, name: str, quoted: str, rows: list[str]) -> int | None:
    """The index of the last empty line at the top level ahead of what uses the name."""
    uses = [s.lineno for s in tree.body if mentions(s, name) and not isinstance(s, _DEFINED)]
    needs = names_read(ast.parse(quoted))
    behind = [s for s in tree.body if needs & {*bound_within(s), getattr(s, "name", "")}]
    last = max((s.end_lineno or 0 for s in behind), default=0)
    taken = {n for s in tree.body for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    ahead = range(last + 1, min(uses, default=len(rows) + 1))
    empty = [n - 1 for n in ahead if n not in taken and not rows[n - 1].strip()]
    return empty[-1] if empty else None
