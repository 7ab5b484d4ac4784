"""Kinds of public threads: accumulation, checkpointed adapters, custom Functions, what is plotted,
and writes that words quote."""

from __future__ import annotations

import pytest

from analyzers.messages import entry_of
from analyzers.request.examine import examine
from analyzers.request.examined import Examined

ACCUMULATED = """\
with helper.accumulate(net):
    {first}
    cost = net(page)
    helper.backward(cost)
    opt.step()
    {last}
"""
FUNCTION = """\
import torch


class Shift(torch.autograd.Function):
    @staticmethod
    def forward(ctx, page, by):
        {forward}
        ctx.save_for_backward(page, by)
        return page * by

    @staticmethod
    def backward(ctx, slope):
        {unpacked} = ctx.saved_tensors
        {backward}
        return slope * by, slope * page
"""
UNPACKED = "ValueError: not enough values to unpack (expected 3, got 2)"


def asked(text: str) -> Examined:
    return examine(text, "train.py", {}, "")


def function(forward: str = "", unpacked: str = "page, by", backward: str = "") -> str:
    return FUNCTION.format(forward=forward, unpacked=unpacked, backward=backward)


@pytest.mark.parametrize(
    ("question", "first", "last", "line", "answer"),
    [
        ("训练时梯度累积有问题？", "opt.zero_grad()", "", 4, "comes before the backward"),
        ("Is my gradient accumulation with accelerate wrong?", "", "opt.zero_grad()", 0, "skips"),
    ],
)
def test_the_order_decides_whether_accelerate_accumulates(
    question: str, first: str, last: str, line: int, answer: str
) -> None:
    examined = asked(f"{question}\n\n{ACCUMULATED.format(first=first, last=last)}")
    assert examined.asked == "accumulation"
    hint = examined.hints[0]
    assert (hint.place.line if hint.place is not None else 0) == line
    assert answer in hint.text


def test_adapters_that_fail_under_checkpointing_have_an_answer() -> None:
    examined = asked("Training with PEFT and gradient checkpointing crashes\n")
    assert examined.asked == "adapters-checkpointing"
    assert "enable_input_require_grads" in examined.hints[0].text


def test_a_backward_that_writes_what_it_saved_is_named() -> None:
    text = "Mutation during backward of what was saved\n\n" + function(backward="by.add_(slope)")
    examined = asked(text)
    assert examined.asked == "written-in-backward"
    assert examined.hints[0].text.startswith("`by.add_` is changed in place in `backward`")
    untouched = asked("Mutation during backward of what was saved\n\n" + function())
    assert untouched.hints[0].place is None


@pytest.mark.parametrize(
    ("forward", "shown"),
    [("page[1:2] += by", True), ("page[1:2] += by; ctx.mark_dirty(page)", False)],
)
def test_an_input_that_forward_writes_has_to_be_marked(forward: str, shown: bool) -> None:
    examined = asked("An in-place problem in a Function\n\n" + function(forward=forward))
    assert any("mark_dirty" in hint.text for hint in examined.hints) == shown


def test_what_is_unpacked_has_to_be_what_was_saved() -> None:
    code = function(unpacked="page, by, out")
    frame = '  File "train.py", line 13, in backward\n    page, by, out = ctx.saved_tensors\n'
    examined = examine(
        f"{code}\nTraceback (most recent call last):\n{frame}{UNPACKED}", "t.py", {}, ""
    )
    assert examined.hints[0].text.startswith("`(page, by, out)` are unpacked, of another number")


def test_other_values_that_are_unpacked_are_no_fault_of_a_function() -> None:
    assert entry_of(UNPACKED) is None
    assert entry_of(UNPACKED, "a, b, c = batch") is None
    found = entry_of(UNPACKED, "a, b, c = ctx.saved_tensors")
    assert found is not None
    assert found.id == "saved-unpacked"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("plt.plot(turns, losses)", "losses"),
        ("plt.plot(turns, heights)", None),
        ("plt.plot(heights)", "heights"),
    ],
)
def test_of_several_arguments_that_are_plotted_the_losses_are_meant(
    call: str, named: str | None
) -> None:
    error = (
        "RuntimeError: Can't call numpy() on Tensor that requires grad. "
        "Use tensor.detach().numpy() instead."
    )
    text = f'Traceback (most recent call last):\n  File "a.py", line 7, in <module>\n    {call}\n'
    (cause, *_) = asked(text + error).from_traceback
    assert (cause.carrier.name if cause.carrier is not None else None) == named


def test_a_write_between_quotation_marks_is_read() -> None:
    examined = asked('in-place problem about " x[:, i] = x[:, i] * scale + shift” in the decoder\n')
    assert examined.hints[0].text.startswith("the words quote `x[:, i] = x[:, i] * scale + shift`")


def test_what_generates_under_autocast_leaves_casts_without_a_graph() -> None:
    code = (
        "with torch.autocast('cuda'):\n    text = net.generate(page)\n    out = net(page)\n"
        "out.mean().backward()\n"
    )
    examined = asked(f"The gradients of all weights are None, why?\n\n{code}")
    assert examined.asked == "nothing-learns"
    assert any("`net.generate`" in hint.text for hint in examined.hints)
