"""A name that only hands a value on: the two statements are read and fixed as one."""

import ast

from analyzers.source.edits import Editor, apply
from analyzers.source.project import Module

LOOP = """\
for x in data:
    made = net(x)  # once
    out = made
    out.sum().backward()
"""


def _statements(module: Module) -> list[str]:
    return [ast.unparse(s) for s in ast.walk(module.tree) if isinstance(s, ast.Assign)]


def test_the_pair_is_one_statement_over_both_lines() -> None:
    module = Module("train.py", LOOP)
    assert _statements(module) == ["out = net(x)"]
    statement = module.statement_at(2)
    assert statement is module.statement_at(3)
    editor = Editor(module)
    assert editor.lines_of(statement) == ["made = net(x)  # once", "out = made"]  # type: ignore[arg-type]
    assert isinstance(statement, ast.Assign)
    cut = apply(LOOP, [editor.append_to(statement.value, ".detach()")])
    assert cut == LOOP.replace("net(x)", "net(x).detach()")


def test_a_chain_and_parts_are_joined_too() -> None:
    module = Module("train.py", "a = f(x); b = a\nc = b\npair = g(c)\nleft, right = pair\n")
    assert _statements(module) == ["c = f(x)", "left, right = g(c)"]


def test_what_is_read_elsewhere_stays() -> None:
    for text in (
        "made = f(x)\nout = made\nprint(made)\n",  # read again
        "made = 0\nfor x in data:\n    made = f(x)\n    out = made\n",  # bound twice
        "made = f(x)\n\n\nout = made\n",  # not one behind the other
        "class Config:\n    made = f(1)\n    out = made\n",  # an attribute
        "def g():\n    global made\n    made = f(x)\n    out = made\n",
        "made = f(x)\nout = made + 1  # computes\n",
    ):
        assert "out = made" in "\n".join(_statements(Module("train.py", text))), text


def test_a_file_that_others_import_keeps_its_own_names() -> None:
    text = "made = f(1)\nout = made\n\ndef g(x):\n    inner = f(x)\n    y = inner\n    return y\n"
    module = Module("config.py", text, imported=True)
    assert _statements(module) == ["made = f(1)", "out = made", "y = f(x)"]


def test_each_part_is_reported_of_the_name_that_it_is_handed_on_to() -> None:
    module = Module("train.py", "pair = cell(x, h)\nout, (h, self.c) = pair\n")
    assert module.handed_on == [("pair[0]", "out"), ("pair[1][0]", "h"), ("pair[1][1]", "self.c")]
    whole = Module("train.py", "pair = cell(x, h)\nfirst, *rest = pair\n")
    assert whole.handed_on == [("pair[0]", "first")]
