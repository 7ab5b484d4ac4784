"""The tracked source files, and what each of them imports."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("app", "analyzers", "sandbox", "provenance", "gradmend")
ENTRIES = ("app.diagnose", "sandbox.inside.main", "sandbox.launcher.__main__")
DISCOVERED = "analyzers.patterns"  # patterns are found by listing their folder, not imported


@dataclass(frozen=True)
class Source:
    """One tracked Python file."""

    path: Path  # below ROOT
    text: str

    @property
    def module(self) -> str:
        """Return the dotted name."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return self.text.count("\n")

    @cached_property
    def tree(self) -> ast.Module:
        """Return the parsed file."""
        return ast.parse(self.text)


def sources(root: Path = ROOT, packages: Sequence[str] = PACKAGES) -> dict[str, Source]:
    """Return the tracked Python files of the packages, by module name."""
    listed = subprocess.run(
        ["git", "ls-files", *packages], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = [Source(Path(name), (root / name).read_text()) for name in listed if name[-3:] == ".py"]
    return {source.module: source for source in found}


def imported(
    source: Source, known: Mapping[str, Source], *, at_import: bool = False
) -> Iterator[str]:
    """Yield the project's modules that a file imports: wherever in it the import is located, or
    those alone that importing the file imports.
    """
    for node in _run_at_import(source.tree) if at_import else ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = _imported_from(source, node)
            names = {f"{base}.{alias.name}" for alias in node.names}
            yield from known.keys() & names or known.keys() & {base}


def _imported_from(source: Source, node: ast.ImportFrom) -> str:
    """Return the module that an import names, a relative one in full."""
    if not node.level:
        return node.module or ""
    package = source.path.with_suffix("").parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def _run_at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a file that run when it is imported, not for a type checker alone."""
    for child in ast.iter_child_nodes(node):
        deferred = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if not (deferred or for_types):
            yield child
            yield from _run_at_import(child)


def in_cycles(known: Mapping[str, Source]) -> list[str]:
    """Return the modules that, as they are imported, lead back to themselves."""
    graph = {
        name: {other for other in imported(source, known, at_import=True) if other != name}
        for name, source in known.items()
    }
    while ends := [name for name, others in graph.items() if not others & graph.keys()]:
        for name in ends:
            del graph[name]
    while ends := [n for n in graph if not any(n in others for others in graph.values())]:
        for name in ends:
            del graph[name]
    return sorted(graph)


def reached(known: Mapping[str, Source]) -> set[str]:
    """Return the modules that one diagnosis reaches by imports, patterns and tracer included."""
    patterns = [name for name in known if name.startswith(f"{DISCOVERED}.")]
    todo, seen = [*ENTRIES, *patterns], set[str]()
    while todo:
        name = todo.pop()
        if name in seen or name not in known:
            continue
        seen.add(name)
        todo += imported(known[name], known)
    return seen
