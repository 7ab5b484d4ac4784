"""Only the files in `analyzers/patterns` know the names of patterns."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import analyzers
import app
import sandbox
from analyzers.explain.pattern import pattern_for, patterns
from analyzers.tracebacks import parse

PATTERNS = Path(analyzers.__file__).parent / "patterns"
SOURCES = [
    path
    for package in (analyzers, app, sandbox)
    for path in sorted(Path(package.__file__ or "").parent.rglob("*.py"))
    if PATTERNS not in path.parents
]


def names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines on which a pattern is called by its name, or its file is imported."""
    files = {name.replace("-", "_") for name in patterns()}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if text in patterns() or text in files:
                yield node.lineno, text
            case ast.ImportFrom(module=str(module)) if module.startswith("analyzers.patterns"):
                yield node.lineno, module
            case ast.Import(names=names):
                yield from (
                    (node.lineno, n.name) for n in names if n.name.startswith("analyzers.patterns")
                )


def test_nothing_else_knows_their_names() -> None:
    found = {
        f"{path.parent.name}/{path.name}:{line}": name
        for path in SOURCES
        for line, name in names_in(ast.parse(path.read_text()))
    }
    assert not found, "declare it in the pattern's own file, and read it from there"


def test_a_name_would_be_seen() -> None:
    assert list(names_in(ast.parse("kind = 'inplace-leaf'"))) == [(1, "inplace-leaf")]


@pytest.mark.parametrize("declared", ["KIND", "SEEN_AS"])
def test_what_a_pattern_is_known_by_is_its_own(declared: str) -> None:
    reported = Counter(getattr(p, declared) for p in patterns().values() if hasattr(p, declared))
    assert reported
    assert max(reported.values()) == 1


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("a view of a leaf Variable is a view and is being modified inplace", "inplace-view"),
        ("grad can be implicitly created only for scalar outputs", "non-scalar-backward"),
        ("Can't call numpy() on Tensor that requires grad.", "numpy-on-grad"),
        ("Trying to backward through the graph a second time", None),
    ],
)
def test_a_message_points_to_the_pattern_that_declares_its_kind(
    message: str, name: str | None
) -> None:
    assert pattern_for(parse(f"RuntimeError: {message}").kind) == name
