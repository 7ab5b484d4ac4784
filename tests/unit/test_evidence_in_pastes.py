"""What decides between causes: a line, a frame, the rest of a message, what is imported or set."""

from __future__ import annotations

import pytest

from analyzers.messages import nearest_in
from analyzers.request.examine import examine
from app.run.completion import is_own
from sandbox.records import Assumed, Trace

CHANGED = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [torch.FloatTensor [8]], which is output 0 of {}, is at version 1; "
    "expected version 0 instead."
)
UNUSED = "Expected to have finished reduction in the prior iteration before starting a new one."


def said(text: str) -> str:
    return " ".join(hint.text for hint in examine(text, "train.py", {}, "").hints[:1])


def test_the_message_names_whose_result_was_changed() -> None:
    assert "the result of `clamp` was changed" in said(CHANGED.format("ClampBackward1"))
    for shared in ("TBackward0", "AsStridedBackward0", "SliceBackward0", "ViewBackward0"):
        assert "the result of" not in said(CHANGED.format(shared))


def test_the_message_comes_before_words_that_make_a_cause_likelier() -> None:
    text = "My LSTM fails.\n\n{}"
    assert "the result of `relu` was changed" in said(text.format(CHANGED.format("ReluBackward0")))
    assert "a hidden state keeps its graph" in said(text.format(CHANGED.format("SliceBackward0")))


def test_a_line_that_writes_to_that_result_comes_first() -> None:
    code = "```python\ns = scores(x)\ns = s.clamp(-1, 1)\n{}\nloss = s.sum()\n```\n\n"
    found = examine(code.format("s[rows] = 0") + CHANGED.format("ClampBackward1"), "a.py", {}, "")
    assert "`s`, which holds the result of `clamp`," in found.hints[0].text
    assert [hint.place.line for hint in found.hints[:1] if hint.place] == [4]
    healthy = code.format("s = s * keep") + CHANGED.format("ClampBackward1")
    assert "which holds" not in said(healthy)


def test_a_frame_within_a_backward_names_the_function() -> None:
    frame = 'File "ops/scan.py", line 9, in backward\n    kernel.scan_backward(*args)\n'
    error = "RuntimeError: expected scalar type Float but found BFloat16"
    assert "custom Function (`kernel.scan_backward(*args)`)" in said(frame + error)
    assert "custom Function (" not in said(frame.replace("in backward", "in forward") + error)


def test_a_traceback_of_a_backward_that_is_cut_off_is_no_question() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n'
        "    loss.backward({})\n"
        '  File "/site-packages/torch/_tensor.py", line 581, in backward\n'
        "    torch.autograd.backward("
    )
    assert "is often there to silence" in said(trace.format("retain_graph=True"))
    assert "send the last line" in said(trace.format(""))
    warned = (
        "My LSTM fails\n\nUserWarning: Error detected in MulBackward0. "
        "Traceback of forward call that caused the "
        'error:\n  File "train.py", line 4, in step\n    out, h = net(x, h)\n'
    )
    assert "detach it at the start of each iteration" in said(warned)


def test_what_is_set_already_is_not_proposed() -> None:
    words = "I have already set `find_unused_parameters=True`, and still get: "
    assert "makes DDP follow the outputs" in said(f"# DDP\n\n{words}RuntimeError: {UNUSED}")
    enabled = f"RuntimeError: {UNUSED} Since `find_unused_parameters=True` is enabled, this likely"
    assert "makes DDP follow the outputs" in said(enabled)
    advice = f"RuntimeError: {UNUSED} by passing the keyword argument `find_unused_parameters=True`"
    assert "makes DDP follow the outputs" not in said(advice)


def test_a_title_does_not_cut_off_the_message_below() -> None:
    below = f"{UNUSED} This error indicates that …\nParameters which did not receive grad for rank "
    text = f"Several GPUs: {UNUSED}\n\n{below}1: net.head.weight, net.head.bias"
    assert "`net.head.weight, net.head.bias`" in said(text)


def test_a_hook_below_the_first_compiled_call_is_named() -> None:
    call, hook = "f(x)\n", "layer.register_forward_hook(hook)\n"
    code = "@torch.compile\ndef f(x):\n    return layer(x)\n"
    text = "# torch.compile ignores a forward hook\n\n```python\n{}```\nWhy?\n"
    assert "comes after a call of what is compiled" in said(text.format(code + call + hook))
    assert "comes after a call" not in said(text.format(code + hook + call))


def test_a_loop_of_derivatives_is_named() -> None:
    text = (
        "# Per-sample gradients are too slow\n\n```python\nfor i in range(n):\n"
        "    g = torch.autograd.grad({}, w, retain_graph=True)[0]\n```\n"
    )
    assert "one backward for each element" in said(text.format("losses[i]"))
    assert "one backward for each element" not in said(text.format("loss"))


def test_what_is_imported_is_what_is_asked_about() -> None:
    text = "# second derivatives\n\nHow?\n\n```python\nfrom {} import Tensor\nx = Tensor(2.)\n```\n"
    assert examine(text.format("tinygrad"), "a.py", {}, "").asked == "second-derivative-of-engine"
    assert examine(text.format("torch"), "a.py", {}, "").asked != "second-derivative-of-engine"


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("What is “with torch.no_grad()” here for, what is its purpose?", "why-no-grad"),
        ("The decoder is not in torch.no_grad, is it a problem?", "why-no-grad"),
        ("Per-sample gradients in a loop are too slow", "jacobians"),
        ("Gradients continue to accumulate even after zero_grad", "whose-zero-grad"),
        ("Does k adaptation steps of MAML mean a k-th order derivative?", "second-order-or-not"),
        (
            "How can the gradient flow back through gumbel_softmax with hard=True?",
            "straight-through",
        ),
        ("The backward of pow with an exponent of 0.5 is wrong", "gradient-of-powers"),
        ("The loss become 0 from the second step", "loss-is-zero"),
    ],
)
def test_questions(words: str, entry: str) -> None:
    found = nearest_in(words)
    assert found is not None
    assert (found.entry.id, found.known) == (entry, True)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            "UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n\n"
            "Can I ignore this?",
            "the warning is harmless",
        ),
        ("The loss become 0 from the second step.", "one update with an infinite gradient"),
        ("How does hard=True of gumbel softmax pass a gradient?", "y_hard - y_soft.detach()"),
        (
            "micrograd: is a gradient for the exponent missing in __pow__?",
            "needs the second formula",
        ),
        ("bug：self.pos_emb的参数不更新，需要加到优化组里", "no optimizer holds"),
        ("Should clip_grad_norm_ come before scaler.unscale_?", "still multiplied by the scaler"),
    ],
)
def test_words_choose_the_cause(words: str, part: str) -> None:
    assert part in said(words)


def test_a_message_below_the_title_that_cuts_it_off_is_read() -> None:
    title, whole = CHANGED.format("ClampBackward1")[:60], CHANGED.format("ClampBackward1")
    frame = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    loss.backward()\n'
    assert "the result of `clamp`" in said(f"{title}\n\n{frame}{whole}\n")


def test_flags_in_lines_of_a_cut_off_backward_are_named() -> None:
    text = (
        "# Freezing raises an error\n\nI changed this:\n\n    for p in net.parameters():\n"
        "        p.requires_grad = False\n\nTraceback (most recent call last):\n"
        '  File "train.py", line 7, in <module>\n    loss.backward()\n'
        '  File "/site-packages/torch/tensor.py", line 221, in backward\n    torch.autograd.'
    )
    assert "`p.requires_grad` freezes parameters" in said(text)


def test_a_computed_weight_is_no_parameter() -> None:
    error = (
        "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place"
    )
    text = f"{error} operation.\n\n```python\nnet.emb.weight = {{}}\n```\n"
    assert "torch.func.functional_call" in said(text.format("mix(w)"))
    assert "torch.func.functional_call" not in said(text.format("nn.Parameter(w)"))


def test_a_write_under_no_grad_in_compiled_code_is_named() -> None:
    error = (
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."
    )
    code = "def f(x):\n    with torch.no_grad():\n        x.add_(1)\n"
    text = "# Why?\n\n```python\n{}f(w)\n```\n" + error
    assert "replay such a write" in said(text.format(f"@torch.compile\n{code}"))
    assert "replay such a write" not in said(text.format(code))


@pytest.mark.parametrize(
    ("kinds", "own"),
    [
        (["import"], True),
        (["import", "api"], True),
        (["import", "name"], False),
        (["api"], False),
        ([], False),
    ],
)
def test_code_that_lacks_only_imports_is_its_own(kinds: list[str], own: bool) -> None:
    assumed = [Assumed(t="assumed", kind=kind, name="torch", text="") for kind in kinds]
    assert is_own(Trace(assumed=assumed)) is own
