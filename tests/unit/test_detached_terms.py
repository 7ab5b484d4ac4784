"""What the detached part of a comparison, a sum or a context does, where a paste asks about it."""

from __future__ import annotations

import pytest

from analyzers.messages import question_in
from analyzers.request.examine import examine

ASKED = "# About detach()\n\nWhy is detach() used here?\n\n```python\n{code}```\n"
REFERENCE = "is the reference of this comparison"
THROUGH = "a straight-through estimator"


def said(text: str) -> str:
    return " ".join(hint.text for hint in examine(text, "train.py", {}, "").hints[:1])


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("loss = l1_loss(code, other.detach())\n", REFERENCE),
        ("loss = criterion(code.detach(), other)\n", REFERENCE),
        ("other = other.detach()\nloss = torch.mean(torch.abs(code - other))\n", REFERENCE),
        ("other = other.detach()\nloss = ((code - other) ** 2).mean()\n", REFERENCE),
        ("y = soft + (hard - soft).detach()\nloss = y.sum()\n", THROUGH),
        ("y = (hard - soft).detach() + soft\nloss = y.sum()\n", THROUGH),
    ],
)
def test_a_detached_term_is_named(code: str, part: str) -> None:
    assert part in said(ASKED.format(code=code))


@pytest.mark.parametrize(
    "code",
    [
        "loss = l1_loss(code.detach(), other.detach())\n",
        "loss = l1_loss(code, code.detach())\n",
        'log_loss("train", loss.detach())\n',
        "both = torch.cat([code, other.detach()])\n",
        "rest = code - other.detach()\nprint(rest)\n",
        "y = soft + (hard - other).detach()\nloss = y.sum()\n",
    ],
)
def test_what_is_no_such_term_is_not_named(code: str) -> None:
    found = said(ASKED.format(code=code))
    assert REFERENCE not in found
    assert THROUGH not in found


FUNCTION = """\
# Memory leak of an autograd.Function

```python
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.{kept} = {value}
        return y
```
"""


def test_an_output_on_the_context_is_named() -> None:
    assert "`ctx.y` keeps an output" in said(FUNCTION.format(kept="y", value="y"))
    assert "keeps an output" not in said(FUNCTION.format(kept="n", value="x.shape"))


def test_the_old_form_of_a_scaled_addition_is_named() -> None:
    text = "# EMA: is this correct?\n\n```python\n{code}\n```\n"
    old = "ema_p.data.mul_(decay).add_(1 - decay, p.data)"
    assert "adds the factor times the tensor" in said(text.format(code=old))
    new = "ema_p.data.mul_(decay).add_(p.data, alpha=1 - decay)"
    assert "adds the factor times the tensor" not in said(text.format(code=new))


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("Does the gradient backprop through to_numpy?", "through-numpy"),
        ("How do I write the double backward of a custom CUDA op?", "second-derivative-of-own"),
        ("Does gather preserve the gradient?", "collective-without-gradient"),
        ("Why do you scale the loss under DDP?", "gathered-with-gradient"),
        ("materialize_grads gives zeros that have requires_grad?", "materialized-gradients"),
        ("Should model.parameters() be all the parameters to the optimizer?", "optimizer-without"),
        ("The topk mask is discrete, so how is the gradient computed?", "gradient-of-extremes"),
        ("zero_grad() is called per microbatch", "accumulation"),
        ("Is the loss divided with gradient accumulation?", "accumulation"),
        ("PCGrad needs gradients that one combined backward has summed", "gradients-of-each"),
        ("Why is the gradient zero instead of None?", "none-or-zero"),
        ("autograd.functional.vjp gives zeros under no_grad", "functional-under-no-grad"),
        ("With FSDP the gradient norm differs from that of one GPU", "norm-of-sharded"),
        ("A full backward hook modifies the input", "hooks-wrap-inputs"),
        ("My value's gradient is overwritten by the backward of matmul", "hand-written"),
        ("The backward of matmul fails for a 1-D vector", "shapes-in-own-backward"),
        ("num_items_in_batch and gradient accumulation: divide again?", "loss-of-trainer"),
    ],
)
def test_a_question_is_known(words: str, entry: str) -> None:
    found = question_in(words)
    assert found is not None
    assert found.id.startswith(entry)


def test_words_say_that_gradients_are_cleared_too_often() -> None:
    assert "clears what the earlier batches" in said("zero_grad() is called per microbatch")
    assert "clears what the earlier" not in said("Is zero_grad() right with accumulated gradients?")


def test_a_training_with_spikes_is_not_said_to_change_nothing() -> None:
    text = "Training is stable on one GPU, and with accumulated gradients the loss spikes, without"
    assert "change nothing" not in said(f"{text} changing anything else.")


def test_a_parameter_that_a_program_leaves_out_is_known() -> None:
    found = said("WARNING: Params net.up.weight will not be optimized, though it requires grad!")
    assert "this stage of the training selects" in found
    other = said("WARNING: the query will not be optimized, though it requires grad!")
    assert "this stage of the training selects" not in other
