"""What one pass of a loop is made of."""

import ast

from analyzers.source.project import LOOPS, Module, pass_of


def test_a_with_around_all_of_the_body_is_no_step_of_its_own() -> None:
    text = "for x in xs:\n    with a:\n        with b, c:\n            f(x)\n            g(x)\n"
    loop = Module("train.py", text).tree.body[0]
    assert isinstance(loop, LOOPS)
    assert [ast.unparse(s) for s in pass_of(loop)] == ["f(x)", "g(x)"]


def test_a_with_beside_other_statements_is_one_of_them() -> None:
    loop = Module("train.py", "while go:\n    with a:\n        f(x)\n    g(x)\n").tree.body[0]
    assert isinstance(loop, LOOPS)
    assert pass_of(loop) == loop.body
