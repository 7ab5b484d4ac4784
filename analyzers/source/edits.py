"""Edit source text: collect edits as spans and apply them from the end, so that every untouched
byte stays the same (comments, quotes, tabs, line endings).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analyzers.source.linediff import matching_blocks, unified
from analyzers.source.project import Module
from analyzers.source.trees import remembered


class EditConflict(ValueError):
    """Two edits overlap: they cannot both be made."""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace `[start, end)` (offsets in characters) of a file by `text`."""

    path: str
    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the source with all edits made. An insertion at the start of another edit comes before
    it. Raises `EditConflict` if two overlap or insert at one place.
    """
    last, inserted = len(text) + 1, -1
    for edit in sorted(set(edits), reverse=True):
        if edit.end > last or edit.start == edit.end == inserted:
            raise EditConflict(f"edits overlap at offset {edit.start}")
        text = text[: edit.start] + edit.text + text[edit.end :]
        last = edit.start
        inserted = edit.start if edit.start == edit.end else -1
    return text


class Editor:
    """Makes edits for one module from its syntax tree's positions."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._raw, self._starts = module.raw_lines, module.line_starts
        self.newline = "\r\n" if self._raw and self._raw[0].endswith("\r\n") else "\n"

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a syntax tree position, whose
        columns count UTF-8 bytes.
        """
        text = self._raw[line - 1] if line <= len(self._raw) else ""
        return self._starts[line - 1] + len(text.encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the character offsets of an expression or statement."""
        assert isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword)
        end_line, end_column = node.end_lineno, node.end_col_offset
        assert end_line is not None
        assert end_column is not None
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(end_line, end_column),
        )

    def text_of(self, node: ast.AST) -> str:
        """Return the node's source, as written."""
        start, end = self.span(node)
        return self.module.text[start:end]

    def delete_lines(self, node: ast.expr | ast.stmt) -> Edit:
        """Take out whole lines: those of a decorator, say."""
        start, end = (self.offset(line, 0) for line in (node.lineno, (node.end_lineno or 0) + 1))
        return Edit(self.module.path, start, end, "")

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Return an edit that replaces the node."""
        return Edit(self.module.path, *self.span(node), text)

    def append_to(self, node: ast.AST, suffix: str) -> Edit:
        """Return an edit that appends to an expression, with parentheses if necessary:
        `x.detach()`.
        """
        if needs_parentheses(node):
            return self.replace(node, f"({self.text_of(node)}){suffix}")
        _, end = self.span(node)
        return Edit(self.module.path, end, end, suffix)

    def append_to_names(self, statement: ast.ImportFrom, name: str) -> Edit:
        """Return an edit that adds a name to a `from … import` statement."""
        last = statement.names[-1]
        end = self.offset(last.end_lineno or last.lineno, last.end_col_offset or 0)
        return Edit(self.module.path, end, end, f", {name}")

    def indent_of(self, statement: ast.stmt) -> str:
        """Return the white space before a statement's line."""
        line = self._raw[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def _alone(self, statement: ast.stmt) -> bool:
        """Return True if the statement shares its lines with no other (no `;`, no `if x:
        statement`).
        """
        start, end = self.span(statement)
        first = statement_first_line(statement)
        before = self.module.text[self._starts[first - 1] : start]
        rest = self.module.text[end : self._starts[statement.end_lineno or 1]].strip()
        decorated = first != statement.lineno
        return (decorated or not before.strip()) and (not rest or rest.startswith("#"))

    def _headed(self, statement: ast.stmt) -> bool:
        """Return True if the block is on its header's line: `if x: statement`. Compound statements
        cannot be joined to it; `leave_python` rejects such an edit later.
        """
        parent = self.module.parents[statement]
        return not isinstance(parent, ast.Module) and any(
            s.lineno == getattr(parent, "lineno", 0) for s in self.module.block_of(statement)
        )

    def insert_before(self, statement: ast.stmt, *lines: str) -> Edit:
        """Return an edit that inserts statements before this one, at its indentation."""
        if not self._alone(statement):
            if self._headed(statement) or all(_stale_edges(line) for line in lines):
                start, _ = self.span(statement)
                return Edit(self.module.path, start, start, "; ".join(lines) + "; ")
            start, _, lead, _ = self.apart(statement, statement)
            text = lead + self._lines(statement, lines) + self._break(statement)
            return Edit(self.module.path, start, self.span(statement)[0], text)
        at = self._starts[statement_first_line(statement) - 1]
        return Edit(self.module.path, at, at, self._block(self.indent_of(statement), lines))

    def decorate(self, function: ast.FunctionDef | ast.AsyncFunctionDef, decorator: str) -> Edit:
        """Return an edit that adds an innermost decorator; those above it receive its result."""
        if not function.decorator_list:
            return self.insert_before(function, decorator)
        at = self._starts[function.lineno - 1]
        return Edit(self.module.path, at, at, self._block(self.indent_of(function), [decorator]))

    def insert_after(self, statement: ast.stmt, *lines: str) -> Edit:
        """Return an edit that inserts statements after this one, at its indentation."""
        if not self._alone(statement):
            _, end = self.span(statement)
            if self._headed(statement) or all(_stale_edges(line) for line in lines):
                return Edit(self.module.path, end, end, "; " + "; ".join(lines))
            _, following, _, tail = self.apart(statement, statement)
            text = self._break(statement) + self._lines(statement, lines) + tail
            return Edit(self.module.path, end, following, text)
        at = self._starts[statement.end_lineno or statement.lineno]
        block = self._block(self.indent_of(statement), lines)
        if not self._raw[(statement.end_lineno or 1) - 1].endswith(("\n", "\r")):
            block = self.newline + block.removesuffix(self.newline)
        return Edit(self.module.path, at, at, block)

    def apart(self, first: ast.stmt, last: ast.stmt) -> tuple[int, int, str, str]:
        """Return the span of adjacent statements with the `;` around them, and the line breaks that
        separate them from neighbours on their lines instead (empty if there are none).
        """
        start, end = self.span(first)[0], self.span(last)[1]
        lead = tail = ""
        begun = self._starts[first.lineno - 1]
        before = self.module.text[begun:start].rstrip()
        if before.endswith(";"):
            start, lead = begun + len(before[:-1].rstrip()), self._break(first)
        elif not before:
            start = self._starts[statement_first_line(first) - 1] + len(self.indent_of(first))
        rest = self.module.text[end : self._starts[last.end_lineno or 1]]
        following = rest.lstrip(" \t;")
        if rest.lstrip().startswith(";") and following.strip() and not following.startswith("#"):
            end, tail = end + len(rest) - len(following), self._break(first)
        return start, end, lead, tail

    def _break(self, statement: ast.stmt) -> str:
        return self.newline + self.indent_of(statement)

    def _lines(self, statement: ast.stmt, lines: Iterable[str]) -> str:
        return self._break(statement).join(line for line in lines if line)

    def _block(self, indent: str, lines: Iterable[str]) -> str:
        return "".join(f"{indent}{line}{self.newline}" if line else self.newline for line in lines)

    def delete(self, statement: ast.stmt) -> Edit:
        """Remove a statement; a block that would be left empty gets `pass`."""
        start, end = self.span(statement)
        if len(self.module.block_of(statement)) == 1:
            return Edit(self.module.path, start, end, "pass")
        if not self._alone(statement):
            text = self.module.text
            if text[end:].lstrip(" \t").startswith(";"):  # `a(); b()` → `b()`
                end += len(text[end:]) - len(text[end:].lstrip(" \t")) + 1
                end += len(text[end:]) - len(text[end:].lstrip(" \t"))
            else:  # the last of its line: take the `;` before it
                kept = text[:start].rstrip(" \t")
                start = len(kept.removesuffix(";").rstrip(" \t"))
            return Edit(self.module.path, start, end, "")
        first = statement_first_line(statement) - 1
        last = statement.end_lineno or 1
        if self._blank(first - 1):  # do not leave two gaps where one was
            while self._blank(last):
                last += 1
        return Edit(self.module.path, self._starts[first], self._starts[last], "")

    def _blank(self, index: int) -> bool:
        return 0 <= index < len(self._raw) and not self._raw[index].strip()

    def delete_all(self, statements: Iterable[ast.stmt]) -> list[Edit]:
        """Take statements out."""
        return [self.delete(statement) for statement in statements]

    def lines_of(self, *statements: ast.stmt) -> list[str]:
        """Return the lines of statements without the indentation of their first lines; with their
        comments if no other statement shares the line.
        """
        return [line for statement in statements for line in self._lines_of(statement)]

    def _lines_of(self, statement: ast.stmt) -> list[str]:
        indent = self.indent_of(statement)
        raw = self._raw[statement_first_line(statement) - 1 : statement.end_lineno]
        if not self._alone(statement):
            raw = self.text_of(statement).splitlines()
        return [line.rstrip("\r\n").removeprefix(indent) for line in raw]


def _stale_edges(line: str) -> bool:
    """Return True if a line can be joined with others by `;`."""
    try:
        body = ast.parse(line).body
    except SyntaxError:
        return False
    return "#" not in line and not any(hasattr(statement, "body") for statement in body)


def leave_python(module: Module, edits: Sequence[Edit], text: str) -> bool:
    """Return True if `text`, the module after these edits, is valid Python. Only the changed part
    is parsed: from the outermost statement before the first edit to the one after the last.
    """
    starts = [module.line_starts[line - 1] for line in _first_lines(module.tree)]
    first, last = min(e.start for e in edits), max(e.end for e in edits)
    begin = max((start for start in starts if start < first), default=0)
    end = min((start for start in starts if start > last), default=len(module.text))
    try:
        ast.parse(text[begin : end + len(text) - len(module.text)])
    except (SyntaxError, ValueError):
        return False
    return True


@remembered
def _first_lines(tree: ast.Module) -> list[int]:
    return [statement_first_line(statement) for statement in tree.body]


def statement_first_line(statement: ast.stmt) -> int:
    """Return the statement's first line, including decorators."""
    decorators = getattr(statement, "decorator_list", [])
    lines: list[int] = [statement.lineno, *(d.lineno for d in decorators)]
    return min(lines)


def needs_parentheses(node: ast.AST) -> bool:
    """Return True if `.attr` appended to the expression would bind to only a part of it."""
    return not isinstance(
        node,
        ast.Name
        | ast.Attribute
        | ast.Call
        | ast.Subscript
        | ast.Tuple
        | ast.List
        | ast.Dict
        | ast.ListComp,
    )


def unified_diff(path: str, before: str, after: str) -> str:
    """Return a diff that `git apply` and `patch -p1` accept; empty if nothing changed."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return unified(path, old, new, matching_blocks(old, new))
