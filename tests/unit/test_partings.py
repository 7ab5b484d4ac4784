"""What takes a tensor apart, and what puts it together again."""

from __future__ import annotations

import ast

import pytest

from analyzers.source.unpacking import unpacking, whole_of


@pytest.mark.parametrize(
    ("text", "whole", "joint", "dim"),
    [
        ("x.unbind()", "x", "stack", None),
        ("x.unbind(1)", "x", "stack", "1"),
        ("torch.unbind(f(x), dim=-1)", "f(x)", "stack", "-1"),
        ("x.chunk(2)", "x", "cat", None),
        ("x.chunk(2, dim=1)", "x", "cat", "1"),
        ("torch.split(x, [3, 5], 2)", "x", "cat", "2"),
    ],
)
def test_a_parting_knows_its_whole_and_its_dimension(
    text: str, whole: str, joint: str, dim: str | None
) -> None:
    found = unpacking(ast.parse(text, mode="eval").body)
    assert found is not None
    assert (ast.unparse(found.whole), found.joint) == (whole, joint)
    assert (ast.unparse(found.dim) if found.dim is not None else None) == dim


def test_the_whole_stands_behind_all_partings() -> None:
    assert ast.unparse(whole_of(ast.parse("x.chunk(2)[0]", mode="eval").body)) == "x.chunk(2)[0]"
    assert ast.unparse(whole_of(ast.parse("x.t().unbind(0)", mode="eval").body)) == "x.t()"
    assert unpacking(ast.parse("x.sum(0)", mode="eval").body) is None
