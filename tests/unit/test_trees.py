"""Walking trees gives what the standard library's walk gives, in its order."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from analyzers.source.trees import children, walk

OURS = sorted((Path(__file__).parents[2] / "analyzers").glob("*.py"))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_every_node_but_contexts_in_the_library_s_order(path: Path) -> None:
    tree = ast.parse(path.read_text())
    wanted = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert walk(tree) == wanted


def test_children_keep_the_order_of_the_source() -> None:
    loop = ast.parse("for x in xs:\n    f(x)\nelse:\n    g()").body[0]
    assert [ast.unparse(child) for child in children(loop)] == ["x", "xs", "f(x)", "g()"]
