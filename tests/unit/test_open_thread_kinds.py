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
        ("训练时梯度累积有问题？", "opt.zero_grad()", "", 4, "is called before the backward"),
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
    assert examined.hints[0].text.startswith("`(page, by, out)` are unpacked, but `save_for")


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


@pytest.mark.parametrize("marks", ['" {}”', "`{}`", "```{}```"])
def test_a_write_between_quotation_marks_is_read(marks: str) -> None:
    quoted = marks.format("x[:, i] = x[:, i] * scale + shift")
    examined = asked(f"in-place problem about {quoted} in the decoder\n")
    assert examined.hints[0].text.startswith("the words quote `x[:, i] = x[:, i] * scale + shift`")


def test_what_generates_under_autocast_leaves_casts_without_a_graph() -> None:
    code = (
        "with torch.autocast('cuda'):\n    text = net.generate(page)\n    out = net(page)\n"
        "out.mean().backward()\n"
    )
    examined = asked(f"The gradients of all weights are None, why?\n\n{code}")
    assert examined.asked == "nothing-learns"
    assert any("`net.generate`" in hint.text for hint in examined.hints)


HOOKED = """\
{question}

import torch
from torch import nn

net = nn.Linear(2, 1)


def look(module, inward, outward):
    {body}


net.register_full_backward_hook(look)
net(torch.ones(3, 2)).sum().backward()
"""


@pytest.mark.parametrize(
    ("body", "line", "answer"),
    [
        ("print(module.weight.grad)", 10, "before those of its parameters"),
        ("print(torch.ones(2, requires_grad=True).exp())", 10, "where recording is off"),
        ("print(outward)", 0, "recording is off inside a hook"),
    ],
)
def test_what_a_backward_hook_cannot_see_is_explained(body: str, line: int, answer: str) -> None:
    question = "Why is the grad None in my backward hook?"
    examined = asked(HOOKED.format(question=question, body=body))
    assert examined.asked == "gradient-in-hook"
    hint = examined.hints[0]
    assert (hint.place.line if hint.place is not None else 0) == line
    assert answer in hint.text


def test_what_is_recorded_again_in_a_hook_is_no_fault() -> None:
    body = "with torch.enable_grad(): torch.ones(2, requires_grad=True)"
    question = "Why is there no grad_fn in a backward hook?"
    examined = asked(HOOKED.format(question=question, body=body))
    assert examined.hints[0].place is None


CAPTURED = (
    "RuntimeError: During a grad (vjp, jvp, grad, etc) transform, the function provided attempted "
    "to call in-place operation (aten::{op}) that would mutate a captured Tensor."
)


@pytest.mark.parametrize(
    ("text", "op", "answer"),
    [
        ("It only fails under DistributedDataParallel.", "copy_", "without its wrapper"),
        (
            "norm = nn.BatchNorm1d(3)\njacrev(norm)(page)\n",
            "add_.Tensor",
            "`nn.BatchNorm1d` writes",
        ),
        ("def f(page):\n    seen[0] = page\n    return page\n", "copy_", "`seen` is written"),
    ],
)
def test_a_transform_that_writes_what_it_captured(text: str, op: str, answer: str) -> None:
    examined = asked(f"{text}\n\n{CAPTURED.format(op=op)}\n")
    assert any(answer in hint.text for hint in examined.hints[:1])


@pytest.mark.parametrize(
    "message",
    [
        "using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`",
        "'skip function grad in file /lib/torch/autograd/__init__.py'",
        "Unsupported Tensor.backward() call",
    ],
)
def test_a_gradient_inside_of_what_is_compiled(message: str) -> None:
    found = entry_of(message)
    assert found is not None
    assert found.id == "untraced-gradient"
    code = "def slope(page):\n    return torch.autograd.grad(page.sum(), page)\n"
    examined = asked(f"{code}\nIt raises this.\n\ntorch._dynamo.exc.Unsupported: {message}\n")
    assert examined.hints[0].text.startswith("`torch.autograd.grad` is called inside")


@pytest.mark.parametrize(
    "error",
    [
        "AssertionError: No inf checks were recorded for this optimizer.",
        "ValueError: optimizer got an empty parameter list",
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    ],
)
def test_adapters_that_were_loaded_for_inference_are_named(error: str) -> None:
    code = 'net = PeftModel.from_pretrained(net, "some/adapter"{more})\nscaler.step(opt)\n'
    frozen = asked(f"{code.format(more='')}\n{error}\n")
    assert frozen.hints[0].text.startswith("`PeftModel.from_pretrained` loads adapters")
    trained = asked(f"{code.format(more=', is_trainable=True')}\n{error}\n")
    assert all("loads adapters" not in hint.text for hint in trained.hints)


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("self.keys = torch.randn(4, 2)", True),
        ("self.keys = nn.Parameter(torch.randn(4, 2))", False),
        ("self.noise = torch.randn(4, 2)", False),
    ],
)
def test_a_plain_tensor_in_a_module_is_no_parameter(made: str, named: bool) -> None:
    examined = asked(f"Why do my keys not change? The model is not training.\n\n{made}\n")
    assert examined.asked == "nothing-learns"
    assert any("is a plain tensor" in hint.text for hint in examined.hints) == named


def test_a_sum_of_losses_that_is_only_shown() -> None:
    examined = asked("You want to accumulate the gradient here.\nIs backward(total_loss) better?\n")
    assert examined.asked == "accumulation"
    assert "only for output" in examined.hints[0].text


@pytest.mark.parametrize(("op", "named"), [("DivBackward0", True), ("TBackward", False)])
def test_the_operation_of_a_message_says_that_no_step_did_it(op: str, named: bool) -> None:
    error = (
        "RuntimeError: one of the variables needed for gradient computation has been modified by "
        f"an inplace operation: [torch.FloatTensor [2, 3]], which is output 0 of {op}, is at "
        "version 2; expected version 1 instead."
    )
    hints = asked(f"{error}\n").hints
    assert ("no optimizer step changes a result" in hints[0].text) == named


def test_a_registered_backward_is_named_where_its_gradients_are_counted() -> None:
    code = "def slope(ctx, grad):\n    return ()\n\n\nhalf.register_autograd(slope)\n"
    error = (
        "RuntimeError: function GeneratedBackwardFor_mine_half_default returned an incorrect "
        "number of gradients (expected 2, got 1)"
    )
    hint = asked(f"{code}\n{error}\n").hints[0]
    assert hint.place is not None
    assert hint.place.line == 5
    assert "`half.register_autograd` registers" in hint.text
