"""Measure the structure of the source: size, names, vocabulary, and what one diagnosis reaches.

    python -m benchmarks.house [--json]

Figures:

- files and lines of Python by package, with the median and the longest file;
- what is beyond its bound: files above 300 lines, functions above 60, modules in import cycles;
- modules and lines that a static import closure reaches from `app.diagnose`, with the patterns and
  the tracer (what a reader must be able to open to follow one diagnosis);
- functions that decide by a spelling (see `benchmarks.spelling`);
- class names and module names that occur more than once;
- words that the glossary retires, in code, tests, messages, pages and documents.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import statistics
import subprocess
import tokenize
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from benchmarks.source_files import PACKAGES, ROOT, Source, in_cycles, reached, sources
from benchmarks.spelling import decides_by_spelling

T = TypeVar("T", bound=Hashable)
FILE_LINES, FUNCTION_LINES = 300, 60
SCRIPTS = ("app/examples/",)  # of users
_LIST = Path("docs/GLOSSARY.md")
DOCUMENTS = ("docs/*.md", "docs/images/*.svg", ".github", ":(glob)*.md", "editor/vscode/README.md")
WRITTEN = (".py", ".md", ".toml", ".html", ".js", ".css", ".svg", ".yml")  # by people
API_NAMES = {"mended", "starved", "starved-parameter", "starved_parameter"}
"""Names that the HTTP API gives, which stay."""
_CODE = re.compile(rf"`[^`]*`|\bguide\.(?:{'|'.join(sorted(API_NAMES))})\b")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def retired_words(glossary: str) -> re.Pattern[str]:
    """Return what finds the words of the glossary's table "never write"."""
    table = glossary.partition("| never write |")[2].partition("\n\n")[0]
    words = [
        word.strip() for row in table.splitlines()[2:] for word in row.split("|")[1].split(",")
    ]
    return re.compile(rf"\b({'|'.join(map(re.escape, words))})\b".replace(r"\ ", r"\s+"), re.I)


RETIRED = retired_words((ROOT / _LIST).read_text())


def written(root: Path = ROOT) -> Iterator[tuple[Path, str]]:
    """Yield what people write and read here: code, its tests, messages, pages and documents."""
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES, "benchmarks/*.py", "tests/*.py", *DOCUMENTS],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for path in map(Path, listed):
        if path.suffix in WRITTEN and not str(path).startswith(SCRIPTS) and path != _LIST:
            yield path, (root / path).read_text()


def retired_in(path: Path, text: str) -> list[str]:
    """Return the retired words of a file's name and text. Code within backquotes does not count,
    nor do strings of tests, which are scripts.
    """
    pieces = [_parts(path.stem), text]
    if not RETIRED.search(" ".join([str(path.stem), *_PART.findall(text)])):
        return []  # no reading of it finds any
    if path.suffix == ".py":
        pieces[1:] = python_pieces(text, strings=path.parts[0] != "tests")
    elif path.suffix == ".toml":
        pieces[1:] = text.splitlines()
    return [word for each in pieces for word in RETIRED.findall(_CODE.sub("", each))]


def python_pieces(text: str, *, strings: bool) -> Iterator[str]:
    """Yield the words of a module's names, its comments and docstrings, and its other strings."""
    docs = {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield _parts(token.string)
        elif token.type == tokenize.COMMENT or token.start in docs:
            yield token.string
        elif token.type == tokenize.STRING and strings:
            yield "" if token.string.strip("\"'") in API_NAMES else token.string


def _parts(name: str) -> str:
    """Return the words of a name."""
    return "" if name in API_NAMES else " ".join(_PART.findall(name))


def long_files(known: Mapping[str, Source]) -> list[str]:
    """Return the files above the bound."""
    return sorted(str(source.path) for source in known.values() if source.lines > FILE_LINES)


def long_functions(known: Mapping[str, Source]) -> list[str]:
    """Return the functions above the bound, as `module.function`."""
    return sorted(
        f"{name}.{node.name}"
        for name, source in known.items()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_LINES
    )


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
    """Yield the names of all classes, nested ones and stubs of libraries included."""
    for source in known.values():
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
    words = Counter(path.parts[0] for path, text in written() for _ in retired_in(path, text))
    modules = (s.path.name for s in known.values() if s.path.name != "__init__.py")
    return {
        "size": sizes,
        "beyond_bounds": {
            "files": len(long_files(known)),
            "functions": len(long_functions(known)),
            "modules in import cycles": len(in_cycles(known)),
        },
        "reached": {"modules": len(chain), "lines": sum(known[name].lines for name in chain)},
        "decides_by_spelling_percent": by_spelling,
        "class_names_repeated": repeated(class_names(known)),
        "module_names_repeated": {n: c for n, c in repeated(modules).items() if c > 2},
        "retired_words": {"all": words.total(), **words},
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
