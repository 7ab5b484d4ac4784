"""Measure the structure of the source: size, names, vocabulary, and what one diagnosis reaches.

    python -m benchmarks.house [--json]

Figures:

- files and lines of Python by package, with the median and the longest file;
- modules and lines that a static import closure reaches from `app.diagnose`, with the patterns and
  the tracer (what a reader must be able to open to follow one diagnosis);
- functions that decide by a spelling (see `benchmarks.spelling`);
- class names and module names that occur more than once;
- words that the glossary retires, by package.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import statistics
import subprocess
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from benchmarks.spelling import decides_by_spelling

T = TypeVar("T", bound=Hashable)
ROOT = Path(__file__).parent.parent
PACKAGES = ("app", "analyzers", "sandbox", "provenance", "gradmend")
ENTRIES = ("app.diagnose", "sandbox.inside.main", "sandbox.launcher.__main__")
IMITATIONS = ("sandbox.inside.standins", "app.examples")  # with names that others have given
DISCOVERED = "analyzers.patterns"  # patterns are found by listing their folder, not imported
RETIRED = re.compile(
    r"\b(told|tells|anew|beside|walked|reckon\w*|stands for|made up|starv\w+|mended|in front of)\b",
    re.IGNORECASE,
)


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


def sources(root: Path = ROOT) -> dict[str, Source]:
    """Return the tracked Python files of the four packages, by module name."""
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = [Source(Path(name), (root / name).read_text()) for name in listed if name[-3:] == ".py"]
    return {source.module: source for source in found}


def imported(source: Source, known: Mapping[str, Source]) -> Iterator[str]:
    """Yield the project's modules that a file imports, wherever in it the import is located."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            submodules = [name for name in names if name in known]
            yield from submodules or ([node.module] if node.module in known else [])


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


def functions(known: Mapping[str, Source], package: str) -> Iterator[ast.AST]:
    """Yield every function of a package."""
    for name, source in known.items():
        if name.startswith(package):
            for node in ast.walk(source.tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield node


def repeated(names: Iterator[T]) -> dict[T, int]:
    """Return the names that occur more than once, most frequent first."""
    return {name: n for name, n in Counter(names).most_common() if n > 1}


def class_names(known: Mapping[str, Source]) -> Iterator[str]:
    """Yield the names of all classes, but for imitations of libraries and of users' scripts."""
    for module, source in known.items():
        if not module.startswith(IMITATIONS):
            for node in ast.walk(source.tree):
                if isinstance(node, ast.ClassDef):
                    yield node.name


def measured(known: Mapping[str, Source]) -> dict[str, object]:
    """Return every figure, by its name."""
    sizes: dict[str, dict[str, int]] = {}
    for package in (*PACKAGES, "analyzers.repair", "analyzers.explain", "sandbox.inside"):
        inside = [s.lines for name, s in known.items() if f"{name}.".startswith(f"{package}.")]
        sizes[package] = {
            "files": len(inside),
            "lines": sum(inside),
            "median": round(statistics.median(inside)),
            "longest": max(inside),
        }
    chain = reached(known)
    by_spelling = {}
    for package in ("analyzers", "analyzers.repair", "analyzers.explain", "analyzers.patterns"):
        found = [decides_by_spelling(function) for function in functions(known, package)]
        by_spelling[package] = round(100 * sum(found) / len(found), 1)
    words = {
        package: sum(
            len(RETIRED.findall(s.text)) for n, s in known.items() if n.partition(".")[0] == package
        )
        for package in PACKAGES
    }
    modules = (s.path.name for s in known.values() if s.path.name != "__init__.py")
    return {
        "size": sizes,
        "reached": {"modules": len(chain), "lines": sum(known[name].lines for name in chain)},
        "decides_by_spelling_percent": by_spelling,
        "class_names_repeated": repeated(class_names(known)),
        "module_names_repeated": {n: c for n, c in repeated(modules).items() if c > 2},
        "retired_words": words,
    }


def table(figures: Mapping[str, object]) -> str:
    """Return the figures as indented text."""
    lines = []
    for title, value in figures.items():
        lines.append(title.replace("_", " "))
        assert isinstance(value, dict)
        for name, figure in value.items():
            text = (
                "  ".join(f"{k} {v:,}" for k, v in figure.items())
                if isinstance(figure, dict)
                else f"{figure:,}"
            )
            lines.append(f"  {name:24} {text}")
    return "\n".join(lines)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    figures = measured(sources())
    print(json.dumps(figures, indent=1) if parser.parse_args().json else table(figures))


if __name__ == "__main__":
    main()
