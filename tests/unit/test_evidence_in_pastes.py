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
        ("Should clip_grad_norm_ come before scaler.unscale_?", "still multiplied by the scaler"),
    ],
)
def test_words_choose_the_cause(words: str, part: str) -> None:
    assert part in said(words)


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
