"""A loop that asks an iterator for its next part up to its end is read and fixed as a `for`."""

import ast

import pytest

from analyzers.source.edits import Editor, apply
from analyzers.source.project import Module

SENTINEL = """\
walker = iter(zip(xs, ys))
while True:
    item = next(walker, END)
    if item is END:
        break
    x, y = item
    made = net(x)
    out = made
    loss(out, y).backward()
"""
CAUGHT = """\
batches = loader()
while True:
    try:
        x, y = next(batches)
    except StopIteration:
        break
    out = net(x)
    loss(out, y).backward()
"""


@pytest.mark.parametrize(("text", "over"), [(SENTINEL, "zip(xs, ys)"), (CAUGHT, "loader()")])
def test_it_is_one_loop_over_all_its_lines(text: str, over: str) -> None:
    module = Module("train.py", text)
    [loop] = module.tree.body
    assert ast.unparse(loop).splitlines() == [
        f"for x, y in {over}:",
        "    out = net(x)",
        "    loss(out, y).backward()",
    ]
    assert module.statement_at(3) is loop
    behind = apply(text, [Editor(module).insert_after(loop, "optimizer.step()")])
    assert behind == f"{text}optimizer.step()\n"


def test_the_part_keeps_its_name_where_it_is_read() -> None:
    module = Module("train.py", SENTINEL.replace("net(x)", "net(x, len(item))"))
    [loop] = module.tree.body
    assert isinstance(loop, ast.For)
    assert ast.unparse(loop.target) == "item"
    assert ast.unparse(loop.body[0]) == "x, y = item"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("walker = iter(zip(xs, ys))", "walker = iter(zip(xs, ys))\nnext(walker)"),
        ("    x, y = item", "    x, y = item\n    ahead = next(walker)"),
        ("while True", "while more"),
        ("item is END", "item is NONE"),
        ("        break", "        continue"),
    ],
)
def test_another_loop_stays_what_it_is(old: str, new: str) -> None:
    module = Module("train.py", SENTINEL.replace(old, new))
    assert not module.each(ast.For)
    assert module.each(ast.While)
