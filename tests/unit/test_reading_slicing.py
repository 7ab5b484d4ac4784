"""Which statements share values, and that a second run of no more than those finds the same."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analyzers.evidence import GraphReuse
from analyzers.reading import read
from analyzers.reading.slicing import related
from analyzers.source.project import Project

SHARING = {
    "a name bound anew is another value": ("a = f()\nb = g(a)\na = h()\nc = a + 1\n", 4, [3, 4]),
    "a chain of names": ("a = f()\nb = g(a)\nc = h(b)\nd = 2\n", 3, [1, 2, 3]),
    "what others do with the same value": ("a = f()\na.change()\nb = 1\nuse(a)\n", 4, [1, 2, 4]),
    "functions read their free names when called": (
        "w = 1\ndef f():\n    return w\nw = 2\nz = f()\n",
        5,
        [2, 4, 5],
    ),
    "an object's methods read theirs": (
        "k = 2\nclass A:\n    def f(self):\n        return k\na = A()\nb = 1\nuse(a)\n",
        7,
        [1, 2, 5, 7],
    ),
    "locals are nobody else's": ("x = f()\ndef g():\n    x = 1\n    return x\ng()\n", 5, [2, 5]),
    "a loop that binds a name first": (
        "loss = f()\nfor x in data:\n    loss = g(x)\n    loss.backward()\n",
        2,
        [2],
    ),
    "a loop that reads it first": ("loss = 0\nfor x in data:\n    loss = loss + x\n", 2, [1, 2]),
    "added to": ("n = 0\nm = 0\nn += 1\n", 3, [1, 3]),
    "a comprehension's own name": ("i = f()\nxs = [i for i in data]\n", 2, [2]),
    "imports tie nothing together": ("import torch\nx = torch.f()\ny = torch.g()\n", 3, [1, 3]),
    "a global that a function sets": (
        "n = 0\ndef f():\n    global n\n    n = 1\nf()\nprint(n)\n",
        6,
        [1, 2, 5, 6],
    ),
}


@pytest.mark.parametrize("name", SHARING)
def test_statements_that_share_values_stay_together(name: str) -> None:
    source, line, expected = SHARING[name]
    body = ast.parse(source).body
    wanted = {statement for statement in body if statement.lineno == line}
    library = {statement for statement in body if isinstance(statement, ast.Import)}
    assert [statement.lineno for statement in related(body, wanted, library)] == expected


PART = """\
model = nn.Linear(4, 4)
state = torch.zeros(4)
for step in range(5):
    state = model(state + torch.randn(4))
    loss = state.sum()
    if elsewhere.ready():
        FIRST
    else:
        OTHER
"""


def run_backward_again(source: str) -> set[int]:
    evidence = read(Project({"train.py": "import torch\nfrom torch import nn\n" + source})).evidence
    return {found.reached.at.line for found in evidence if isinstance(found, GraphReuse)}


def part(first: str, other: str) -> str:
    return PART.replace("FIRST", first).replace("OTHER", other)


def test_both_arms_are_read_in_every_part_of_a_long_script() -> None:
    walk, cut = "loss.backward()", "state = state.detach()"
    parts = [part(walk, cut), part(cut, walk), part(cut, cut), part(cut, walk)]
    length = PART.count("\n")
    assert run_backward_again("".join(parts)) == {
        line + n * length for n, text in enumerate(parts) for line in run_backward_again(text)
    }
    assert len(run_backward_again("".join(parts))) == 3


def test_arms_in_a_function_that_the_script_calls() -> None:
    body = textwrap.indent(part("state = state.detach()", "loss.backward()"), "    ")
    assert run_backward_again(f"def main():\n{body}main()\n") == {12}
