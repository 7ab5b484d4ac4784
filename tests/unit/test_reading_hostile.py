"""Hostile source: the reader always comes back, soon, with what it could follow."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.evidence import GraphReuse
from analyzers.reading import read
from analyzers.source.project import Project
from tests.fuzz.__main__ import mutated
from tests.fuzz.grammar import Writer

SCRIPT = "h = torch.zeros(3)\nfor x in data:\n    h = model(x, h)\n    h.sum().backward()\n"


def nested(opening: str, depth: int) -> str:
    return "".join("    " * i + opening + "\n" for i in range(depth)) + "    " * depth + "pass\n"


HOSTILE = {
    "parentheses": "x = " + "(" * 10_000 + "1" + ")" * 10_000,
    "brackets": "x = " + "[" * 150 + "]" * 150 + "\n" + SCRIPT,
    "long sum": "x = " + "+".join(["a"] * 20_000) + "\nloss.backward()\n",
    "attribute chain": "x = a" + ".b" * 20_000 + "\nloss.backward()\n",
    "call chain": "x = a" + ".b()" * 5_000 + "\nloss.backward()\n",
    "many lines": SCRIPT + "x = f(x)\n" * 100_000,
    "one big list": "x = [" + "1," * 500_000 + "]\nloss.backward()\n",
    "one big string": "x = '" + "a" * 1_000_000 + "' * 10**9\nloss.backward()\n",
    "nested loops": nested("for i in range(9):", 18) + SCRIPT,
    "nested loops over state": nested("for i in range(10**9):", 12).replace(
        "pass", "h = f(h); loss = g(h, i); loss.backward()"
    ),
    "nested branches": nested("if f(x):", 18) + SCRIPT,
    "functions that call twice": "def f0(x): return x.backward()\n"
    + "".join(f"def f{i}(x): return f{i - 1}(f{i - 1}(x))\n" for i in range(1, 60))
    + "f59(x)\n",
    "comprehensions": "x = " + "[" * 12 + "i" + " for i in range(99)]" * 12 + "\nx.backward()\n",
    "recursion": "def f(x):\n    return f(f(x)).backward()\nf(1)\n",
    "mutual recursion": "def f(x): g(x); g(x)\ndef g(x): f(x); f(x); x.backward()\nf(1)\n",
    "a list in itself": "x = []\nx.append(x)\nx[0] = x\nloss = sum(x)\nloss.backward()\n",
    "a dict in itself": "d = {}\nd['a'] = d\nmodel(d).backward()\n",
    "an object in itself": "class A: pass\na = A()\na.a = a\nmodel(a).backward()\n",
    "doubling": "x = [1]\n" + "x = x + x\n" * 200 + "loss.backward()\n",
    "doubling graph": "x = w * 1\n" + "x = x * x\n" * 200 + "x.backward()\nx.backward()\n",
    "growing pairs": "x = model(1)\n" + "x = (x, x)\n" * 200 + "model(x).backward()\n",
    "numbers": "x = 9\n" + "x = x ** x\n" * 50 + "loss.backward()\n",
    "exec": "exec('loss.backward()')\neval('1' * 10**9)\nloss.backward()\n",
    "endless generator": "def g():\n    while True:\n        yield model(1)\n"
    "for x in g():\n    x.backward()\n",
    "a generator that goes through itself": "def g(n):\n    for x in g(n - 1) + [model(n)]:\n"
    "        yield x\nfor x in g(3):\n    x.backward()\n",
    "class inherits itself": "class A: pass\nclass A(A):\n    def f(self): self.f().backward()\n",
    "imports itself": "from train import *\nimport train\nloss.backward()\n",
    "null": "x = 1\0\nloss.backward()\n",
    "decorators": "@f\n@g\n@(lambda x: x)\ndef h(x): x.backward()\nh(h)\n",
    "deep lambda": "f = " + "lambda: " * 90 + "x.backward()\n",
    "retained": SCRIPT.replace("backward()", "backward(retain_graph=True)") * 200,
}


@pytest.mark.timeout(120)  # a guard against runaway growth, not a measurement
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_source_is_read_in_bounded_time(name: str) -> None:
    reading = read(Project({"train.py": HOSTILE[name]}))
    assert len(reading.evidence) <= 16


def test_what_was_not_read_is_said() -> None:
    assert read(Project({"train.py": "def (:\n"})).incomplete == ("train.py: not valid Python",)
    endless = read(Project({"train.py": HOSTILE["nested loops over state"]}))
    assert any("too long" in reason for reason in endless.incomplete)


def test_the_beginning_of_an_endless_script_is_still_read() -> None:
    reading = read(Project({"train.py": SCRIPT + HOSTILE["nested loops over state"]}))
    assert reading.incomplete
    assert any(
        isinstance(found, GraphReuse) and found.reached.at.line == 4 for found in reading.evidence
    )


def test_behind_an_expression_that_is_nested_too_deeply_is_still_read() -> None:
    reading = read(Project({"train.py": f"scale = {'-' * 800}1\n{SCRIPT}"}))
    assert "expressions nested too deeply" in reading.incomplete
    assert any(
        isinstance(found, GraphReuse) and found.reached.at.line == 5 for found in reading.evidence
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_random_programs_are_read(seed: int, cut: bool) -> None:
    program = Writer(seed, depth=3).program()
    text = mutated(program, random.Random(seed)) if cut else program
    assert len(read(Project({"train.py": text})).evidence) <= 16


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    project = Project({"train.py": text + "\nx.backward()\n"})
    parsed = project.module("train.py") is not None
    assert bool(read(project).incomplete) or parsed


@pytest.mark.timeout(20)
def test_an_import_in_a_file_with_an_absolute_path_is_looked_up_once() -> None:
    entry = "/home/user/train.py"
    reading = read(Project({entry: "from helpers import step\nstep()\n"}, entry))
    assert reading.incomplete == ()
