"""What users read is in the field's words: none of those that only this project uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRIVATE = re.compile(
    r"\b(walk\w*|carr(?:y|ies|ied|ier|iers)|segments?|stale|boundar(?:y|ies)|"
    r"(?:all|each|earlier|every|later|next|previous) pass(?:es)?|pass (?:\d+|by pass))\b",
    re.IGNORECASE,
)
FILES = sorted(
    path.relative_to(ROOT)
    for package in ("analyzers", "app", "sandbox")
    for path in (ROOT / package).rglob("*")
    if path.suffix in (".py", ".html", ".toml") and "migrations" not in path.parts
)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """String constants of several words that are no docstrings: what may be shown to somebody."""
    tree = ast.parse(text)
    reported = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in reported
        ):
            if " " in node.value.strip():
                yield node.lineno, node.value


def test_the_check_sees_what_it_looks_for() -> None:
    (found,) = sentences('"""It walks."""\nTITLE = f"{name} walks a stale graph in each pass"\n')
    assert PRIVATE.findall(found[1]) == ["walks", "stale", "each pass"]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_no_private_word_is_shown(path: Path) -> None:
    text = (ROOT / path).read_text("utf-8")
    shown: Iterable[tuple[object, str]] = re.findall(r"()>([^<>{}]+)<", text)
    if path.suffix == ".py":
        shown = sentences(text)
    elif path.suffix == ".toml":
        shown = re.findall(r"^(because|do|means|title|wrong) = (.+)$", text, re.MULTILINE)
    assert [(line, words) for line, words in shown if PRIVATE.search(words)] == []
