"""Rewrites of source, byte for byte: what changes is what had to, and nothing else."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analyzers.repair.blocks import joined, unwrapped, wrapped
from analyzers.repair.copy.outofplace import clone_before, out_of_place
from analyzers.repair.cut.detaching import TORCH
from analyzers.source.edits import Edit, Editor, apply
from analyzers.source.project import Module


def rewritten(line: str, name: str = "x") -> str:
    """One statement, out of place for a name."""
    module = Module("train.py", f"import torch\n{line}\n")
    edits = out_of_place(module, module.tree.body[1], name.__eq__)
    return apply(module.text, edits).removeprefix("import torch\n").rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x += y", "x = x + y"),
        ("x -= a - b", "x = x - (a - b)"),
        ("x += a * b  # skip", "x = x + a * b  # skip"),
        ("x *= a + b", "x = x * (a + b)"),
        ("x /= x.norm()", "x = x / x.norm()"),
        ("x **= 2", "x = x ** 2"),
        ("x @= y if z else w", "x = x @ (y if z else w)"),
        ("x.relu_()", "x = x.relu()"),
        ("x.mul_(mask).div_(keep)", "x = x.mul(mask).div(keep)"),
        ("x.masked_fill_(m, 0.0)", "x = x.masked_fill(m, 0.0)"),
        ("x.zero_()", "x = torch.zeros_like(x)"),
        ("x.fill_(3)", "x = torch.full_like(x, 3)"),
        ("torch.relu_(x)", "x = torch.relu(x)"),
        ("F.relu(x, inplace=True)", "x = F.relu(x)"),
        ("y = F.relu(x, inplace=True)", "y = F.relu(x)"),
        ("y = F.dropout(x, 0.5, inplace=True)", "y = F.dropout(x, 0.5)"),
        ("torch.mul(x, y, out=x)", "x = torch.mul(x, y)"),
        ("y = x.exp_() + 1", "y = x.exp() + 1"),
        ("x[i] = y", "x = x.clone()\nx[i] = y"),
        ("x[i] = x[i - 1] * w", "new_x = x.clone()\nnew_x[i] = x[i - 1] * w\nx = new_x"),
        ("x[:, 0] *= w", "new_x = x.clone()\nnew_x[:, 0] = x[:, 0] * w\nx = new_x"),
        ("x[x < 0] = 0.0", "x = torch.where(x < 0, 0.0, x)"),
        ("x[0].mul_(2)", "x = x.clone()\nx[0].mul_(2)"),
    ],
)
def test_an_inplace_statement_out_of_place(before: str, after: str) -> None:
    assert rewritten(before) == after


@pytest.mark.parametrize(
    "line",
    [
        "y += x",
        "x = x + 1",
        "x.requires_grad_()",
        "x.detach_()",
        "x.__len__()",
        "F.relu(x, inplace=False)",
        "y.append(x)",
    ],
)
def test_what_does_not_write_into_the_name_stays(line: str) -> None:
    assert rewritten(line) == line


def test_an_attribute_is_rebound_by_its_whole_path() -> None:
    assert rewritten("self.mem += current", "self.mem") == "self.mem = self.mem + current"


def test_a_clone_goes_in_front_at_the_same_indentation() -> None:
    module = Module("train.py", "if a:\n\tx[0] = 1\n")
    statement = module.statement_at(2)
    assert statement is not None
    edits = clone_before(module, statement, "x".__eq__)
    assert apply(module.text, edits) == "if a:\n\tx = x.clone()\n\tx[0] = 1\n"


def test_wrapping_keeps_comments_blank_lines_and_the_step_of_indentation() -> None:
    text = "for i in range(3):\n  w -= g  # down\n\n  b -= h\n  print(i)\n"
    module = Module("train.py", text)
    loop = module.tree.body[0]
    assert isinstance(loop, ast.For)
    edit = wrapped(Editor(module), loop.body[:2], "with torch.no_grad():")
    assert edit is not None
    assert apply(text, [edit]) == (
        "for i in range(3):\n  with torch.no_grad():\n    w -= g  # down\n\n    b -= h\n"
        "  print(i)\n"
    )


def test_wrapping_keeps_windows_line_ends() -> None:
    text = "w -= g\r\nb -= h\r\n"
    module = Module("train.py", text)
    edit = wrapped(Editor(module), module.tree.body, "with torch.no_grad():")
    assert edit is not None
    assert apply(text, [edit]) == ("with torch.no_grad():\r\n    w -= g\r\n    b -= h\r\n")


def test_strings_of_several_lines_are_not_indented() -> None:
    module = Module("train.py", 'w = f("""\nhere\n""")\n')
    assert wrapped(Editor(module), module.tree.body, "with torch.no_grad():") is None


def test_statements_among_others_of_their_line_are_wrapped_on_lines_of_their_own() -> None:
    module = Module("a.py", "def f():\n    a(); b(); c(); d()\n")
    function = module.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    edit = wrapped(Editor(module), function.body[1:3], "with torch.no_grad():")
    assert edit is not None
    assert apply(module.text, [edit]).splitlines() == [
        "def f():",
        "    a()",
        "    with torch.no_grad():",
        "        b()",
        "        c()",
        "    d()",
    ]


def test_unwrapping_keeps_the_lines_of_the_body() -> None:
    text = textwrap.dedent(
        """\
        def f(x):
            with torch.no_grad():
                y = g(x)  # two

                z = y + 1
            return z
        """
    )
    module = Module("train.py", text)
    block = module.statement_at(2)
    assert isinstance(block, ast.With)
    edits = unwrapped(Editor(module), block)
    assert edits is not None
    assert apply(text, edits) == ("def f(x):\n    y = g(x)  # two\n\n    z = y + 1\n    return z\n")


def test_insertions_at_one_place_become_one_the_inner_first() -> None:
    edits = [Edit("t", 3, 3, "outer\n"), Edit("t", 3, 3, "    inner\n"), Edit("t", 0, 1, "")]
    assert sorted(joined(edits)) == [Edit("t", 0, 1, ""), Edit("t", 3, 3, "    inner\nouter\n")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("keys.unbind(0)", "keys.detach().unbind(0)"),
        ("f(keys).chunk(2, 1)", "f(keys).detach().chunk(2, 1)"),
        ("keys.mean(0)", "keys.mean(0).detach()"),
    ],
)
def test_what_takes_a_tensor_apart_is_given_the_detached_one(before: str, after: str) -> None:
    module = Module("train.py", f"kept.extend({before})\n")
    value = next(call for call in module.each(ast.Call)).args[0]
    assert apply(module.text, [TORCH.at(Editor(module), value)]) == f"kept.extend({after})\n"
