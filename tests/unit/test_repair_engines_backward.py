"""Repairs of backward calls keep what they are called on: an accelerator stays one."""

from __future__ import annotations

import ast

import pytest

from analyzers.repair.rewrite import backward_of, sum_in_loop
from analyzers.repair.sites.statement_facts import loss_of, sole_backward
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.calls import calls_of
from analyzers.source.edits import Editor, apply
from analyzers.source.project import Module, spelled

HEAD = "from accelerate import Accelerator\naccelerator = Accelerator()\n"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("loss.backward()", "total.backward()"),
        ("accelerator.backward(loss)", "accelerator.backward(total)"),
        ("self.manual_backward(loss)", "self.manual_backward(total)"),
        ("scaler.scale(loss).backward()", "total.backward()"),
        ("torch.autograd.backward(loss)", "torch.autograd.backward(total)"),
    ],
)
def test_the_same_backward_of_another_loss(line: str, text: str) -> None:
    module = Module("train.py", f"{HEAD}import torch\nloss = model(x) + 1\n{line}\n")
    (call,) = calls_of(module.tree, *BACKWARD_CALLS)
    assert backward_of(Editor(module), call, "total") == text


def test_losses_are_added_up_for_the_accelerator() -> None:
    script = f"{HEAD}for x in data:\n    loss = model(x)\n    accelerator.backward(loss)\n"
    module = Module("train.py", script)
    (loop,) = module.each(ast.For)
    statement = loop.body[-1]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    edits = sum_in_loop(Editor(module), loop, statement, statement.value, "total")
    assert edits is not None
    text = apply(script, edits)
    assert "    total = total + loss\naccelerator.backward(total)\n" in text


@pytest.mark.parametrize(
    ("line", "loss"),
    [
        ("accelerator.backward(loss)", "loss"),
        ("loss.backward()", "loss"),
        ("loss.backward(gradient)", None),
    ],
)
def test_a_statement_that_only_goes_backward(line: str, loss: str | None) -> None:
    module = Module("train.py", f"{HEAD}loss = model(x) * 2\n{line}\n")
    call = sole_backward(module.tree.body[-1])
    assert (spelled(loss_of(call)) if call is not None else None) == loss
