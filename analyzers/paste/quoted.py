"""Statements that the words around the code quote: `net = nn.Sequential(...)`, in backquotes."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from dataclasses import dataclass
from itertools import islice

from analyzers.paste.parsing import statement
from analyzers.source.flow import bound_within, mentions, names_read

BETWEEN = "; "
ROWS = 4_000  # of more no quotation is looked for
LOOKED_AT, MOST = 64, 8  # quotations, and those of them that are taken
_QUOTED = re.compile(r"(?<!`)`([^`\n;]{3,300})`(?!`)")
_DEFINED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Quoted:
    """A statement in the words of line `at`, from 0, and the name that it makes."""

    at: int
    name: str
    statement: str
    needs: frozenset[str]


def with_quoted(python: str, text: str) -> str:
    """The code with what the words of its text say of names that it uses and does not bind: each
    ahead of where that is used and behind what it is made of itself: in the place of the words that
    quote it, one behind the other, else on an empty line."""
    rows = python.splitlines(keepends=True)
    lines = enumerate(zip(rows, text.splitlines(), strict=False))
    said = ((at, q) for at, (row, line) in lines if not row.strip() for q in _QUOTED.findall(line))
    found = (Quoted(at, *f) for at, q in islice(said, LOOKED_AT) if (f := _making(q)))
    made = [*dict.fromkeys(found)] if len(rows) <= ROWS else []
    left, placed = list(made), dict[int, list[Quoted]]()
    for _ in range(MOST):
        if (one := _wanted(left, "".join(rows))) is None:
            break
        left.remove(one)
        here = [row for row in made if row in [*placed.get(one.at, []), one]]  # in their order
        joined = BETWEEN.join(quoted.statement for quoted in here)
        joined_rows = [*rows[: one.at], joined + _end(rows[one.at]), *rows[one.at + 1 :]]
        if _fits(joined_rows, one):
            rows, placed[one.at] = joined_rows, here
        elif empty := _places(rows, one):
            rows[empty[-1]] = one.statement + rows[empty[-1]]
    return "".join(rows)


def _wanted(left: list[Quoted], python: str) -> Quoted | None:
    """The first of the quotations that makes a name which the code reads and does not bind."""
    free = _free(python) if left else set()
    return next((one for one in left if one.name in free), None)


def _end(row: str) -> str:
    return row[len(row.rstrip("\r\n")) :]


def _fits(rows: list[str], one: Quoted) -> bool:
    """Whether a statement in its own place stands ahead of all uses and behind what it is of."""
    try:
        body = ast.parse("".join(rows)).body
    except SyntaxError:  # the words stand within a statement
        return False
    here = [n for n, s in enumerate(body) if s.lineno == one.at + 1 and one.name in bound_within(s)]
    if not here:
        return False
    uses = [n for n, s in enumerate(body) if n not in here and _uses(s, one.name)]
    behind = [n for n, s in enumerate(body) if one.needs and one.needs & _binds(s)]
    return max(behind, default=-1) < here[0] < min(uses, default=len(body))


def _making(quoted: str) -> tuple[str, str, frozenset[str]] | None:
    """The name that a quotation makes, of other things than itself, the statement, and the names
    that it reads."""
    match statement(quoted.strip()):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if not mentions(value, name):
            renames = isinstance(value, ast.Name | ast.Attribute)
            return None if renames else (name, quoted.strip(), frozenset(names_read(value)))
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


def _places(rows: list[str], one: Quoted) -> list[int]:
    """The indexes of the empty lines at the top level where the statement may stand."""
    body = ast.parse("".join(rows)).body
    uses = [s.lineno for s in body if _uses(s, one.name)]
    last = max((s.end_lineno or 0 for s in body if one.needs and one.needs & _binds(s)), default=0)
    taken = {n for s in body for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    ahead = range(last + 1, min(uses, default=len(rows) + 1))
    return [n - 1 for n in ahead if n not in taken and not rows[n - 1].strip()]


def _uses(statement: ast.stmt, name: str) -> bool:
    return mentions(statement, name) and not isinstance(statement, _DEFINED)


def _binds(statement: ast.stmt) -> set[str]:
    return {*bound_within(statement), getattr(statement, "name", "")}
