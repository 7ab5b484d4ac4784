"""What counts as a decision by a spelling, and that few functions of the analyzers make one."""

from __future__ import annotations

import ast

import pytest

from benchmarks.house import functions
from benchmarks.source_files import sources
from benchmarks.spelling import decides_by_spelling

MOST = 0.1  # of the functions


@pytest.mark.parametrize(
    ("body", "decides"),
    [
        ("return plain_name(call) in KNOWN", True),
        ("return _SHARP.search(name)", True),
        ("return spelled(node) == 'self'", True),
        ("return node.attr in _VIEWS", True),
        ("name = node.id\n    return name.endswith('loss')", True),
        ("match node:\n        case ast.Attribute(attr='grad'): return 1", True),
        ("match node:\n        case ast.Name(id=name): return name in KNOWN", True),
        ("return spelled(one) == spelled(other)", False),
        ("return f'{spelled(node)}.detach()'", False),
        ("return spelled(keyword.value) == 'True'", False),
        ("return is_call(node, 'torch.Tensor.detach')", False),
        ("return operation(node) in VIEWS", False),
    ],
)
def test_a_decision_by_a_spelling(body: str, decides: bool) -> None:
    assert decides_by_spelling(ast.parse(f"def f(node):\n    {body}")) is decides


def test_few_functions_decide_by_a_spelling() -> None:
    found = [decides_by_spelling(one) for one in functions(sources(), "analyzers.")]
    assert sum(found) < MOST * len(found)
