"""What one iteration of a loop consists of."""

import ast

import pytest

from analyzers.source.loop_iterations import body_of, in_each_iteration
from analyzers.source.project import LOOPS, Module


def test_a_with_around_all_of_the_body_is_no_step_of_its_own() -> None:
    text = "for x in xs:\n    with a:\n        with b, c:\n            f(x)\n            g(x)\n"
    loop = Module("train.py", text).tree.body[0]
    assert isinstance(loop, LOOPS)
    assert [ast.unparse(s) for s in body_of(loop)] == ["f(x)", "g(x)"]


def test_a_with_next_to_other_statements_is_one_of_them() -> None:
    loop = Module("train.py", "while go:\n    with a:\n        f(x)\n    g(x)\n").tree.body[0]
    assert isinstance(loop, LOOPS)
    assert body_of(loop) == loop.body


@pytest.mark.parametrize(
    ("body", "each"),
    [
        ("f(x)\n    g(x)", True),
        ("if x:\n        continue\n    g(x)", False),
        ("for y in x:\n        continue\n    g(x)", True),
        ("if x:\n        g(x)", False),
    ],
)
def test_a_pass_may_end_before_a_statement(body: str, each: bool) -> None:
    loop = Module("train.py", f"for x in xs:\n    {body}\n").tree.body[0]
    assert isinstance(loop, LOOPS)
    last = loop.body[-1]
    statement = last.body[-1] if isinstance(last, ast.If) else last
    assert in_each_iteration(loop, statement) == each
