"""The gradient that a Function hands as None, written from what its `forward` computes."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.reconnect.function_none_grad import Withheld, handed_on, withheld
from analyzers.source.edits import apply
from analyzers.source.project import Project
from analyzers.source.trees import walk
from provenance import CodeLine


def script(forward: str, backward: str, call: str = "F.apply(x, t)") -> str:
    """A Function with these bodies, and a statement that applies it."""
    parts = (
        "import torch",
        "class F(torch.autograd.Function):",
        "    @staticmethod",
        "    def forward(ctx, x, t):",
        textwrap.indent(forward, " " * 8),
        "    @staticmethod",
        "    def backward(ctx, g):",
        textwrap.indent(backward, " " * 8),
        f"y = {call}",
        "",
    )
    return "\n".join(parts)


def found(text: str) -> Withheld | None:
    """What the last statement's Function withholds from `t`."""
    project = Project({"train.py": text})
    module = project.modules["train.py"]
    where = SourceLocation(module, module.tree.body[-1], CodeLine("train.py", 1))
    return withheld(where, lambda node: any(map(_is_t, walk(node))), project)


def _is_t(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "t"


def mended(text: str) -> list[str]:
    """The lines that the repair adds."""
    given = found(text)
    assert given is not None
    (proposal,) = handed_on(given)
    before = text.splitlines()
    after = apply(text, proposal.edits).splitlines()
    ast.parse("\n".join(after))
    return [line.strip() for line in after if line not in before]


def test_the_input_is_saved_and_its_gradient_computed_from_the_formula() -> None:
    text = script(
        "y = x.abs() - t\nctx.save_for_backward(x)\nreturn torch.relu(y)",
        "(a,) = ctx.saved_tensors\nreturn g * (a > 0), None",
    )
    assert mended(text) == [
        "ctx.save_for_backward(x, t)",
        "(a, t,) = ctx.saved_tensors",
        "_, pullback = torch.func.vjp(lambda t: torch.relu(a.abs() - t), t)",
        "(to_t,) = pullback(g)",
        "return g * (a > 0), to_t",
    ]


def test_what_the_context_keeps_is_used_and_the_asked_for_is_asked() -> None:
    text = script(
        "ctx.t = t\nctx.x = x\nreturn x * t",
        "to_x = to_t = None\nif ctx.needs_input_grad[0]:\n    to_x = g * ctx.t\nreturn to_x, to_t",
    )
    assert mended(text) == [
        "if ctx.needs_input_grad[1]:",
        "_, pullback = torch.func.vjp(lambda t: ctx.x * t, ctx.t)",
        "(to_t,) = pullback(g)",
    ]


def test_nothing_was_saved_so_far() -> None:
    added = mended(script("return x + t", "return g, None"))
    assert added[:2] == ["ctx.save_for_backward(t, x)", "t, x = ctx.saved_tensors"]


@pytest.mark.parametrize(
    ("backward", "call"),
    [
        ("return g, g.sum()", "F.apply(x, t)"),
        ("return g, (g.sum() if ctx.k else None)", "F.apply(x, t)"),
        ("d = None\nif ctx.k:\n    d = g\nreturn g, d", "F.apply(x, t)"),
        ("return g, None", "F.apply(t, 3)"),
        ("return g, None", "F.apply(*x, t)"),
        ("return g, None", "F.other(x, t)"),
    ],
)
def test_what_may_get_a_gradient_is_not_reported(backward: str, call: str) -> None:
    assert found(script("return x + t", backward, call)) is None


def test_a_name_for_the_application_is_followed() -> None:
    text = script("return x + t", "return g, None", "f(x, t)")
    assert found(text.replace("y = f", "f = F.apply\ny = f")) is not None


def test_a_formula_that_grows_with_every_name_is_left_alone() -> None:
    lines = [f"v{i + 1} = {' + '.join([f'v{i}'] * 60)}" for i in range(6)]
    forward = "\n".join(["v0 = x * t", *lines, "return v6"])
    given = found(script(forward, "return g, None"))
    assert given is not None
    assert not list(handed_on(given))
