"""What the words around the code say of a wrapper, a mode or a switch: which cause it is."""

from __future__ import annotations

import pytest

from analyzers.messages import question_in
from analyzers.request.examine import examine


def said(text: str) -> str:
    return " ".join(hint.text for hint in examine(text, "train.py", {}, "").hints[:1])


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            "Frozen normalization\n\nThe frozen layers still change: running_mean is updated.",
            "flags say nothing about them",
        ),
        (
            "Inference tensors cannot be saved for backward.\n\nThe backbone is frozen.",
            "the part that is not trained",
        ),
        ("toggle_optimizer fails with torch.compile", "set `requires_grad`, so a compiled"),
        (
            "# State\n\nIs the state carried over to the next example if it is halted?",
            "where a sequence has halted",
        ),
        (
            "micrograd: zero_grad only clears the parameters, not all nodes?",
            "makes the values on the way again",
        ),
    ],
)
def test_words_choose_among_the_causes(words: str, part: str) -> None:
    assert part in said(words)


def test_a_call_names_the_cause_of_a_general_question() -> None:
    text = "# Gradient checkpointing\n\nwhy?\n\n```python\nmodel.{call}()\n```\n"
    assert "sets that by a hook" in said(text.format(call="enable_input_require_grads"))
    assert "sets that by a hook" not in said(text.format(call="train"))


def test_a_single_sample_is_no_question_of_a_batch_dimension() -> None:
    text = "We sum along the batch dimension for per-sample gradients, in a custom Function."
    found = question_in(text)
    assert found is None or found.id != "sample-without-batch"


def test_a_loss_of_numbers_is_named() -> None:
    text = (
        "# Nothing trains\n\nIs this right?\n\n```python\n"
        "loss = torch.tensor([criterion(a, b) for a, b in pairs], requires_grad=True).sum()\n"
        "loss.backward()\n```\n"
    )
    assert "`torch.tensor` copies the losses" in said(text)
    for old, new in (
        ("torch.tensor(", "torch.stack("),
        (", requires_grad=True", ""),
        ("loss.backward()", "plot(loss)"),
        ("loss = torch.tensor(", "loss = rate * torch.tensor("),
    ):
        assert "copies the losses" not in said(text.replace(old, new))


def test_a_layer_that_is_made_after_the_move_is_named() -> None:
    message = "RuntimeError: expected scalar type Half but found Float"
    code = (
        "import torch.nn as nn\nmodel = Net().to(device)\nmodel.fc = nn.Linear(8, 2)\n"
        "out = model(x)\nout.sum().backward()\n"
    )
    moved = code.replace("out =", "model = model.to(device)\nout =")
    assert "model.fc" in said(f"{message}\n\n```python\n{code}```\n")
    assert "model.fc" not in said(f"{message}\n\n```python\n{moved}```\n")
