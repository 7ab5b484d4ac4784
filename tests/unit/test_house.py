"""Names, docstrings and comments keep to the glossary: none holds a word that it retires."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from benchmarks.house import RETIRED, Source, sources

NOT_YET = (
    "analyzers.messages",
    "analyzers.paste",
    "analyzers.patterns",  # their docstrings are the pages that users read
    "app.agents",
    "app.api",
    "app.command",
    "app.examples",
    "app.pages",
    "app.schemas",
    "sandbox.inside",  # recorded runs depend on its names
    "sandbox.records",
)
"""What still holds retired words, or has them in texts that others rely on."""
FIELDS = frozenset({"mended"})
"""Names of the HTTP API, which stay."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CODE = re.compile(r"`[^`]*`")

CHECKED = {
    name: source
    for name, source in sources().items()
    if not f"{name}.".startswith(tuple(f"{package}." for package in NOT_YET))
}


def retired_names(source: Source) -> Iterator[str]:
    """Yield the names of a file that have a retired word as a part."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.NAME and token.string not in FIELDS:
            if RETIRED.search(" ".join(_WORD.findall(token.string))):
                yield token.string


def retired_prose(source: Source) -> Iterator[str]:
    """Yield the docstrings and comments of a file that hold a retired word outside of code."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if RETIRED.search(_CODE.sub("", str(node.value.value))):
                yield str(node.value.value)
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and RETIRED.search(_CODE.sub("", token.string)):
            yield token.string


def test_the_check_sees_what_it_looks_for() -> None:
    source = Source(
        next(iter(CHECKED.values())).path, '"""It `told`."""\nwalkedAgain = 1  # anew\n'
    )
    assert list(retired_names(source)) == ["walkedAgain"]
    assert list(retired_prose(source)) == ["# anew"]


@pytest.mark.parametrize("name", sorted(CHECKED))
def test_no_retired_word(name: str) -> None:
    assert [*retired_names(CHECKED[name]), *retired_prose(CHECKED[name])] == []
