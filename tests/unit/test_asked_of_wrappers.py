"""Questions about wrappers, modes and switches: what a compiled function, a scaler, a gathering or
a checkpoint does to gradients; and what the words around the code say of which cause it is."""

from __future__ import annotations

import pytest

from analyzers.messages import entry_of, question_in
from analyzers.request.examine import examine

ASKED = {
    "Does no_sync() have to include the forward?": "where-no-sync-belongs",
    "With bf16 params, where do the fp32 grads come from?": "gradients-in-full-precision",
    "Is it safe to set find_unused_parameters=False?": "unused-flag-safe",
    "gather_with_grad: is the gradient scaled by the world size?": "gathered-with-gradient",
    "retain_grad() does nothing under torch.compile": "retained-inside-compiled",
    "toggle_optimizer fails with torch.compile": "flags-toggled-in-compiled",
    "Can I train through torch.func.jvp without create_graph?": "training-through-jvp",
    "My custom Function returns a larger gradient, and it is summed over the batch": (
        "gradient-summed-to-input"
    ),
    "The distance map is computed under no_grad, is that a problem?": "constant-factor-of-loss",
    "I froze the encoder and call eval(), and its gradient is lost": "frozen-part-in-between",
    "Is the hidden state carried over to the next batch?": "state-of-recurrent",
    "Which gradient has softmax with cross entropy?": "softmax-derivative",
    "Broadcasting: the gradient shape is wrong in the backward of add": "broadcast-in-backward",
    "Why does += belong into the backward of a multiplication?": "hand-written-derivatives",
    "Why does autograd.grad return a tuple, why the [0]?": "tuple-of-gradients",
    "Does the policy loss affect the value network?": "policy-and-value",
    "Is torch.gradient the same as autograd.grad?": "gradient-by-differences",
    "Is the activation a leaf, and requires_grad?": "results-require-gradients",
}
OTHERS = (
    "The value should be none in this configuration.",
    "How do you generate the pseudo label?",
    "The numpy graph of the results is broken.",
    "We accumulate the inner product of both lists.",
    "DDP broadcasts the parameters in the first forward.",
    "Does gather preserve the order of the rows?",
    "How is the carry bit handled?",
    "The frozen lake is fixed on the map.",
    "We gather all reports of the network by hand.",
    "The map of distances is printed.",
    "Safe to delete this file?",
)


@pytest.mark.parametrize(("words", "entry"), ASKED.items(), ids=lambda text: text[:40])
def test_a_wrapper_that_is_asked_about_is_known(words: str, entry: str) -> None:
    found = question_in(words)
    assert found is not None
    assert found.id == entry


@pytest.mark.parametrize("words", OTHERS)
def test_words_of_other_things_ask_nothing(words: str) -> None:
    assert question_in(words) is None


@pytest.mark.parametrize(
    ("message", "entry"),
    [
        ("ZeroTensors are immutable. Please use the materialized zero tensor", "zero-tensor"),
        ("Shapes of gradients are not equal. Expected: [2, 1], got: [2, 4]", "broadcast-in"),
        ("A module has unknown inputs or outputs type (<class 'a.B'>)", "unknown-output-type"),
    ],
)
def test_a_message_is_known(message: str, entry: str) -> None:
    found = entry_of(message)
    assert found is not None
    assert found.id.startswith(entry)


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
