"""Several versions of a program in one paste: the one that fails is read."""

from __future__ import annotations

import pytest

from analyzers.request.input_split import split_inputs

RESTATED = """\
RuntimeError: one of the variables needed for gradient computation has been modified by an \
inplace operation

This is where it stops:

first.backward(retain_graph=True)
self.optimizer.step()
second.backward()
self.optimizer.step()

When I change the code to

first.backward(retain_graph=True)
second.backward()
self.optimizer.step()

it goes on. Why?
"""
ONE, TWO = "print(torch.vmap(head)(x))", "print(torch.vmap(head)(x, n))"


def read(text: str) -> str:
    """Return the program of a paste that is read."""
    found = split_inputs(text, "", ()).pasted
    assert found is not None
    return found.text


def test_statements_that_are_restated_are_another_version() -> None:
    assert read(RESTATED).count("second.backward()") == 1
    assert read(RESTATED).count("self.optimizer.step()") == 2


def test_the_other_way_of_a_backward_is_another_version() -> None:
    text = (
        "We may write:\n\nout = head(x)\nout.backward()\n\nFor five values we would say "
        "instead:\n\nout.backward(torch.ones(5))\n\nIs that so?\n"
    )
    assert read(text).count("backward(") == 1
    both = text.replace("For five values we would say instead:", "Then it goes on:")
    assert read(both).count("backward(") == 2


@pytest.mark.parametrize(
    ("before", "between", "after"),
    [
        ("This works:", "With a bound it stops:", ""),
        ("Hello,", "The first one runs fine, but this one raises:", ""),
        ("Hello,", "works well, but when I pass the bound", "I get an error."),
        ("这样正常：", "加上边界就报错：", ""),
    ],
)
def test_a_version_that_is_said_to_work_is_not_read(before: str, between: str, after: str) -> None:
    fence = "```\n{}\n{}\n{}\n```\n"
    first = fence.format("import torch", "x = torch.ones(3)", ONE)
    second = fence.format("import torch", "x, n = torch.ones(3), 2", TWO)
    text = f"{before}\n\n{first}\n{between}\n\n{second}\n{after}\n"
    assert TWO in read(text)
    assert ONE not in read(text)


def test_a_version_that_is_said_not_to_work_is_read() -> None:
    text = "This never works:\n\n```\nimport torch\nx = torch.ones(3)\n```\n\nand this works:\n\n"
    text += "```\nimport torch\nx = torch.ones(3, requires_grad=True)\n```\n"
    assert "requires_grad" not in read(text)


@pytest.mark.parametrize(
    ("before", "read"),
    [
        ("The working version was:", False),
        ("This works fine:", False),
        ("This works in PyTorch 1.4:", True),
        ("This is what I run:", True),
    ],
)
def test_the_only_code_is_no_evidence_of_an_error_if_it_is_what_works(
    before: str, read: bool
) -> None:
    code = "for x in data:\n    total = total + net(x)\n    total.backward()\n"
    error = "RuntimeError: Trying to backward through the graph a second time"
    text = f"{error}\n\n{before}\n\n```\n{code}```\n\nI made two functions of it.\n"
    assert (split_inputs(text, "", ()).pasted is not None) == read
    assert split_inputs(text.replace(error, "Hello"), "", ()).pasted is not None
