"""A project's source as the analyses see it: trees, scopes, loops, statements by line."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import TypeVar, cast

from analyzers.source.cells import Cell, cells_in
from analyzers.source.receivers import mark_receivers
from analyzers.source.temporaries import join_handed_on
from analyzers.source.trees import children, walk

N = TypeVar("N", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = Function | ast.Module
Loop = ast.For | ast.AsyncFor | ast.While

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
# What scripts call the packages that they compute with: fragments come without their imports.
LIBRARIES = frozenset({"torch", "th", "nn", "F", "functional", "init", "np", "math"})


class Module:
    """One parsed file, `imported` by others maybe. Raises `SyntaxError` when it is not Python."""

    def __init__(self, path: str, text: str, imported: bool = False) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self.handed_on = join_handed_on(self.tree, imported)
        mark_receivers(self.tree)
        self.lines = text.splitlines()

    @cached_property
    def raw_lines(self) -> list[str]:
        """The lines with their endings."""
        return self.text.splitlines(keepends=True)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line starts, and that of the end, in characters."""
        return [0, *accumulate(len(line) for line in self.raw_lines)]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the file, outer ones before inner ones."""
        return walk(self.tree)

    @cached_property
    def _by_class(self) -> dict[type[ast.AST], list[ast.AST]]:
        return {}

    def each(self, kind: type[N]) -> list[N]:
        """The nodes of one class (`ast.Call`), outer ones before inner ones; not to be changed."""
        if kind not in self._by_class:
            self._by_class[kind] = [node for node in self.nodes if isinstance(node, kind)]
        return cast(list[N], self._by_class[kind])

    @cached_property
    def scopes(self) -> list[ast.Module | ast.FunctionDef | ast.AsyncFunctionDef]:
        """The module itself and every function in it."""
        return [self.tree, *(node for node in self.nodes if isinstance(node, FUNCTIONS[:2]))]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node's parent."""
        return {child: node for node in self.nodes for child in children(node)}

    @cached_property
    def _imported(self) -> set[str]:
        """The names that the file's imports bind."""
        return {
            item.asname or item.name.partition(".")[0]
            for node in self.nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for item in node.names
        }

    def in_library(self, path: str) -> bool:
        """Whether a path leads into a package: its first name is imported, or usual for one."""
        root = path.partition(".")[0]
        return root in self._imported or root in LIBRARIES

    @cached_property
    def _statements(self) -> dict[int, ast.stmt]:
        """The innermost statement that covers each line."""
        covered: dict[int, ast.stmt] = {}
        for node in self.each(ast.stmt):  # breadth first: inner statements come later
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                covered[line] = node
        return covered

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of a script that was a notebook, or that markers part; mostly none."""
        return cells_in(self.lines, self._statements)

    def cell_at(self, line: int) -> Cell | None:
        """The cell that a line belongs to."""
        return next((cell for cell in self.cells if line in cell), None)

    def code(self, line: int) -> str:
        """The text of a line without its indentation; empty when there is none."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""

    def statement_at(self, line: int, column: int = -1) -> ast.stmt | None:
        """The innermost statement that covers a line; of several that begin there, the one in
        which the column lies, else the last."""
        if column >= 0:
            for statement in reversed(self._sharing.get(line, ())):
                end = (statement.end_lineno or line, statement.end_col_offset or 0)
                if statement.col_offset <= column and (line, column) < end:
                    return statement
        return self._statements.get(line)

    @cached_property
    def _sharing(self) -> dict[int, list[ast.stmt]]:
        """The statements that begin on each line, outer ones first."""
        found: dict[int, list[ast.stmt]] = {}
        for node in self.each(ast.stmt):
            found.setdefault(node.lineno, []).append(node)
        return found

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node's parents, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def holds(self, outer: ast.AST | None, node: ast.AST) -> bool:
        """Whether one node is the other, or lies within it."""
        return node is outer or any(parent is outer for parent in self.ancestors(node))

    def scope_of(self, node: ast.AST) -> Scope:
        """The function (or the module) whose names the node sees first."""
        for parent in self.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return parent
        return self.tree

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around the node."""
        return next((p for p in self.ancestors(node) if isinstance(p, ast.ClassDef)), None)

    def loops_around(self, node: ast.AST) -> list[Loop]:
        """The loops whose body holds the node, innermost first, within its own function."""
        found: list[Loop] = []
        child = node
        for parent in self.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                break
            if isinstance(parent, LOOPS) and child in parent.body:
                found.append(parent)
            child = parent
        return found

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that holds this one."""
        parent = self.parents[statement]
        for field in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    @cached_property
    def _functions(self) -> dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
        """The functions of the file by their plain names, outer ones first."""
        found: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        for node in self.nodes:
            if isinstance(node, FUNCTIONS[:2]):
                found.setdefault(node.name, []).append(node)
        return found

    def functions_named(self, name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method of this plain name, outer ones first."""
        return self._functions.get(name, [])

    def function_named(self, qualname: str) -> Function | None:
        """The function with this name, by qualified name's last parts."""
        parts = [p for p in qualname.split(".") if p != "<locals>"]
        for node in self._functions.get(parts[-1], ()):
            owner = self.class_of(node)
            if len(parts) < 2 or owner is None or owner.name == parts[-2]:
                return node
        return None


@dataclass(frozen=True)
class Project:
    """The files of a request. Files that are not Python, or do not parse, have no module.

    `notebook`: the entry was made from one, so people know its lines by their cells.
    `recalled`: the files hold no more than the lines which a traceback shows.
    `rerun` are the labels (`cell 4`) of those cells that were run more than once.
    """

    files: Mapping[str, str]
    entry: str = "train.py"
    notebook: bool = False
    rerun: frozenset[str] = frozenset()
    recalled: bool = False

    @cached_property
    def modules(self) -> dict[str, Module]:
        """The files that are Python, by their paths."""
        parsed: dict[str, Module] = {}
        for path, text in self.files.items():
            if path.endswith(".py") or path == self.entry:
                try:
                    parsed[path] = Module(path, text, imported=path != self.entry)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    continue
        return parsed

    def __getstate__(self) -> dict[str, object]:
        """What another process needs to know: it parses for itself."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def kept(self) -> dict[object, object]:
        """What was found out about the project and is asked for again, by who found it out."""
        return {}

    def module(self, path: str) -> Module | None:
        """The module of this path."""
        return self.modules.get(path)

    def each(self, kind: type[N]) -> Iterator[tuple[Module, N]]:
        """The nodes of one class in all modules, as `Module.each` gives them."""
        for module in self.modules.values():
            for node in module.each(kind):
                yield module, node

    def functions_named(
        self, name: str
    ) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Every function and method of this plain name, in all modules."""
        for module in self.modules.values():
            for function in module.functions_named(name):
                yield module, function

    def functions_by_name(self, qualname: str) -> Iterator[tuple[Module, Function]]:
        """In each module the function with this name, if it has one."""
        for module in self.modules.values():
            if qualname and (function := module.function_named(qualname)) is not None:
                yield module, function

    def is_package(self, path: str) -> bool:
        """Whether a path leads into a package that scripts compute with, as they call it."""
        return path.partition(".")[0] in self._packages

    @cached_property
    def _packages(self) -> set[str]:
        """The usual names of such packages, and those that the files give them."""
        named = {
            item.asname
            for module in self.modules.values()
            for node in module.nodes
            if isinstance(node, ast.Import)
            or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch"))
            for item in node.names
            if item.asname
        }
        return named | LIBRARIES

    def code(self, path: str, line: int) -> str:
        """The text of a line, or nothing."""
        return module.code(line) if (module := self.module(path)) else ""


def is_path(name: str) -> bool:
    """Whether it is a name, or attributes of one: `x`, `self.x`; an item (`xs[0]`) is not."""
    return all(part.isidentifier() for part in name.split("."))


def spelled(node: ast.AST) -> str:
    """The expression as source, in one line."""
    return _dotted(node) or ast.unparse(node)


def _dotted(node: ast.AST) -> str:
    """`a.b.c`, the spelling most asked for; empty for anything else."""
    last = ""
    while isinstance(node, ast.Attribute):
        last = f".{node.attr}{last}"
        node = node.value
    return node.id + last if isinstance(node, ast.Name) else ""
