"""Model a project's source for the analyses: trees, scopes, loops, statements by line."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import TypeVar, cast

from analyzers.source.callees import definitions_called, own_name, plain_name
from analyzers.source.cells import NotebookCell, cells_in
from analyzers.source.name_resolution import Names
from analyzers.source.scope_bindings import USUAL, Def
from analyzers.source.temporaries import join_handed_on
from analyzers.source.trees import children, remembered, walk

N = TypeVar("N", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = Function | ast.Module
Loop = ast.For | ast.AsyncFor | ast.While

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Module:
    """One parsed file, `imported` by others maybe. Raises `SyntaxError` when it is not Python.

    `resolved`: its names are resolved, and its calls know it.
    """

    def __init__(self, path: str, text: str, imported: bool = False, resolved: bool = True) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self.handed_on = join_handed_on(self.tree, imported)
        self.lines = text.splitlines()
        self._by_class = defaultdict[type[ast.AST], list[ast.AST]](list)
        if resolved:
            self.names = Names(self.tree)

    @cached_property
    def raw_lines(self) -> list[str]:
        """Return the lines with their endings."""
        return self.text.splitlines(keepends=True)

    @cached_property
    def line_starts(self) -> list[int]:
        """Return the offset at which each line starts, and that of the end, in characters."""
        return [0, *accumulate(len(line) for line in self.raw_lines)]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Return every node of the file, outer ones before inner ones."""
        return walk(self.tree)

    def each(self, kind: type[N]) -> list[N]:
        """Return the nodes of one class (`ast.Call`), outer ones first; nobody may change them."""
        if not self._by_class:
            for node in self.nodes:
                self._by_class[type(node)].append(node)
        if kind not in self._by_class:
            self._by_class[kind] = [node for node in self.nodes if isinstance(node, kind)]
        return cast(list[N], self._by_class[kind])

    @cached_property
    def scopes(self) -> list[ast.Module | ast.FunctionDef | ast.AsyncFunctionDef]:
        """Return the module itself and every function in it."""
        return [self.tree, *(node for node in self.nodes if isinstance(node, FUNCTIONS[:2]))]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Return each node's parent."""
        return {child: node for node in self.nodes for child in children(node)}

    def in_library(self, path: str) -> bool:
        """Return True if a path leads into a package, imported or known by its usual name."""
        root = path.partition(".")[0]
        return root in self.names.imported or root in USUAL

    @cached_property
    def _statements(self) -> dict[int, ast.stmt]:
        """Return the innermost statement that covers each line."""
        covered: dict[int, ast.stmt] = {}
        for node in self.each(ast.stmt):  # breadth first: inner statements come later
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                covered[line] = node
        return covered

    @cached_property
    def cells(self) -> tuple[NotebookCell, ...]:
        """Return the cells of a script that was a notebook or has markers; usually none."""
        return cells_in(self.lines, self._statements)

    def cell_at(self, line: int) -> NotebookCell | None:
        """Return the cell that a line belongs to."""
        return next((cell for cell in self.cells if line in cell), None)

    def code(self, line: int) -> str:
        """Return the source of a line without its indentation; empty if there is none."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""

    def statement_at(self, line: int, column: int = -1) -> ast.stmt | None:
        """Return the innermost statement that covers a line. If several begin there, return the one
        that contains the column, else the last.
        """
        if column >= 0:
            for statement in reversed(self._sharing.get(line, ())):
                end = (statement.end_lineno or line, statement.end_col_offset or 0)
                if statement.col_offset <= column and (line, column) < end:
                    return statement
        return self._statements.get(line)

    @cached_property
    def _sharing(self) -> dict[int, list[ast.stmt]]:
        """Return the statements that begin on each line, outer ones first."""
        found: dict[int, list[ast.stmt]] = {}
        for node in self.each(ast.stmt):
            found.setdefault(node.lineno, []).append(node)
        return found

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the node's parents, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def holds(self, outer: ast.AST | None, node: ast.AST) -> bool:
        """Return True if one node is the other or contains it."""
        return node is outer or any(parent is outer for parent in self.ancestors(node))

    def scope_of(self, node: ast.AST) -> Scope:
        """Return the function (or the module) whose names the node sees first."""
        for parent in self.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return parent
        return self.tree

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class around the node."""
        return next((p for p in self.ancestors(node) if isinstance(p, ast.ClassDef)), None)

    def loops_around(self, node: ast.AST) -> list[Loop]:
        """Return the loops whose body contains the node, innermost first,
        within its own function.
        """
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
        """Return the list of statements that contains this one."""
        parent = self.parents[statement]
        for field in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    @cached_property
    def _functions(self) -> dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Return the functions of the file by their plain names, outer ones first."""
        found = defaultdict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]](list)
        for node in self.nodes:
            if isinstance(node, FUNCTIONS[:2]):
                found[node.name].append(node)
        return found

    def functions_named(self, name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Return every function and method of this plain name, outer ones first."""
        return self._functions.get(name, [])

    def function_named(self, qualname: str) -> Function | None:
        """Return the function whose qualified name ends with these parts."""
        parts = [p for p in reversed(qualname.split(".")) if p != "<locals>"]
        for node in self._functions.get(parts[0], ()):
            around = (p.name for p in self.ancestors(node) if isinstance(p, Def))
            if [node.name, *around][: len(parts)] == parts:
                return node
        return None


@dataclass(frozen=True)
class Project:
    """The files of a request. Files that are not Python, or do not parse, have no module.

    `notebook`: the entry was made from one, so messages refer to its cells. `recalled`: the files
    hold only the lines which a traceback shows. `rerun` are the labels (`cell 4`) of cells that
    were run more than once.
    """

    files: Mapping[str, str]
    entry: str = "train.py"
    notebook: bool = False
    rerun: frozenset[str] = frozenset()
    recalled: bool = False

    @cached_property
    def parsed(self) -> dict[str, Module]:
        """Return the files that are Python, by their paths: their syntax alone."""
        parsed: dict[str, Module] = {}
        for path, text in self.files.items():
            if path.endswith(".py") or path == self.entry:
                with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                    parsed[path] = Module(path, text, path != self.entry, resolved=False)
        return parsed

    @cached_property
    def modules(self) -> dict[str, Module]:
        """Return the files that are Python, by their paths."""
        for module in self.parsed.values():
            module.names = Names(module.tree)
        for path, module in self.parsed.items():
            module.names.link({p: other.names for p, other in self.parsed.items() if p != path})
        return self.parsed

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs; it parses the files itself."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def kept(self) -> dict[object, object]:
        """Return the cache of results about the project, by their computation."""
        return {}

    def module(self, path: str) -> Module | None:
        """Return the module of this path."""
        return self.modules.get(path)

    def each(self, kind: type[N]) -> Iterator[tuple[Module, N]]:
        """Yield the nodes of one class in all modules, in the order of `Module.each`."""
        for module in self.modules.values():
            for node in module.each(kind):
                yield module, node

    def functions_named(
        self, name: str
    ) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Yield every function and method of this plain name, in all modules."""
        for module in self.modules.values():
            for function in module.functions_named(name):
                yield module, function

    def functions_called(
        self, call: ast.Call
    ) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Yield the script's functions that a call may run: all of its name if it is not known."""
        named = [*self.functions_named(plain_name(call))]
        known = definitions_called(call) if named else []
        if known is None:
            yield from self.functions_named(own_name(call))
            return
        for module in self.modules.values():
            for function in known:
                if function in module.names.around and not isinstance(function, ast.ClassDef):
                    yield module, function

    def functions_by_name(self, qualname: str) -> Iterator[tuple[Module, Function]]:
        """Yield, for each module, the function with this qualified name if it has one."""
        for module in self.modules.values():
            if qualname and (function := module.function_named(qualname)) is not None:
                yield module, function

    def code(self, path: str, line: int) -> str:
        """Return the source of a line, or an empty string."""
        return module.code(line) if (module := self.module(path)) else ""


def is_path(name: str) -> bool:
    """Return True for a name or an attribute path (`x`, `self.x`), not for an item (`xs[0]`)."""
    return all(part.isidentifier() for part in name.split("."))


def spelled(node: ast.AST) -> str:
    """Return the expression as source, on one line."""
    return _dotted(node) or _unparsed(node)


@remembered
def _unparsed(node: ast.AST) -> str:
    return ast.unparse(node)


def _dotted(node: ast.AST) -> str:
    """Return `a.b.c` for a dotted name, the most frequent case; empty for anything else."""
    last = ""
    while isinstance(node, ast.Attribute):
        last = f".{node.attr}{last}"
        node = node.value
    return node.id + last if isinstance(node, ast.Name) else ""
