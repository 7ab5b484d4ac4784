"""What people ask on forums and question sites: how things work, and what their lines show."""

from __future__ import annotations

import pytest

from analyzers.request.examine import examine
from analyzers.request.examined import Examined


def asked(words: str) -> Examined:
    return examine(f"{words}\n", "train.py", {}, "")


@pytest.mark.parametrize(
    ("words", "entry", "part"),
    [
        (
            "Gradient precision under autocast\n\nIn p.grad.dtype, the gradients are fp32.",
            "precision-of-backward",
            "the backward of their cast",
        ),
        (
            "Second derivative of a net of two inputs\n\nHow do I get it for each of them?",
            "higher-derivatives",
            "u_g[:, 0].sum()",
        ),
        (
            "PINN\n\nIs there a faster way to higher-order derivatives, mine is too slow?",
            "higher-derivatives",
            "in one call",
        ),
        (
            "Why does the norm of a frozen layer show a small change?",
            "frozen-and-changing",
            "momentum",
        ),
        (
            "Checkpointing a block\n\nWhy do its outputs require grad, if it ran under no_grad? "
            "The output requires grad with activation checkpointing.",
            "how-checkpoints-work",
            "one operation of the graph",
        ),
        (
            "Activation checkpointing\n\nHow do I pass the parameters, as net.parameters?",
            "how-checkpoints-work",
            "are no arguments",
        ),
        (
            "Do I need to write a backward for my autograd.Function of torch operations?",
            "how-functions-work",
            "write no backward",
        ),
        (
            "How can I put a loss on the gradient of the input?",
            "penalty-of-gradients",
            "create_graph=True",
        ),
        (
            "weight_decay and masked rows\n\nHow are some weights not involved in the forward kept "
            "out of weight decay?",
            "optimizer-without-gradient",
            "the whole tensor",
        ),
        ("Why do we have to call zero_grad()?", "gradients-add-up", "sum of the gradients"),
        ("Training hangs in backward on 2 nodes, with DDP", "processes-wait", "fewer batches"),
        (
            "Is REINFORCE a loss?\n\nHow is reward times log_prob to be read as a loss?",
            "policy-loss-value",
            "whose gradient",
        ),
        (
            "Detach one of two networks\n\nHow do I optimize only A, if the loss is L(B(A(x)))?",
            "gradients-too-far",
            "loss.backward(inputs=",
        ),
        (
            "How to freeze\n\nDo I set requires_grad, or only update the head by SGD(model[-1])?",
            "freezing",
            "add up in `.grad`",
        ),
        (
            "My backpropagation in C\n\nThe gradient checking does not match, what is wrong?",
            "hand-written-derivatives",
            "finite differences",
        ),
        (
            "My own function\n\nIs it the linear map that the backward of a function returns?",
            "how-functions-work",
            "its product with a vector",
        ),
        (
            "Three nets\n\nWhat is the sequence of backward and optimizer.step() for each loss?",
            "several-optimizers",
            "before the steps",
        ),
        (
            "Actor-critic\n\nWhy is the discounted reward in the actor loss, not the value net?",
            "policy-and-value",
            "without the critic",
        ),
        ("Why do we call detach() before numpy()?", "through-numpy", "without a graph"),
        ("What does grad_outputs mean, and why a vector?", "gradient-of-outputs", "ones"),
        ("Is a max operation differentiable?", "gradient-of-extremes", "chosen"),
        ("Can the optimizer be made before replacing the last layer?", "late-parameters", "add_"),
        ("How do I get the Hessian of the model?", "derivative-of-parameters", "functional_call"),
        ("The gradient is nan at 0, the loss is not. Why?", "gradient-is-nan", "infinite"),
        (
            "How do I keep the gradient here?\n\nI make class labels of the scores.",
            "operations-without-derivative",
            "as a target it needs no gradient",
        ),
    ],
)
def test_a_question_of_a_forum_is_answered(words: str, entry: str, part: str) -> None:
    examined = asked(words)
    assert examined.asked == entry
    assert any(part in hint.text for hint in examined.hints[:2])


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("MNIST in torch: the backward pass has a problem, why?", "hand-written-derivatives"),
        ("The demo hangs when it loads the pages.", "processes-wait"),
        ("Which precision does the scorer print?", "precision-of-backward"),
        ("Is an average of the rows a normalisation?", "why-cut"),
    ],
)
def test_words_that_resemble_it_are_not(words: str, entry: str) -> None:
    assert asked(words).asked != entry


def test_a_constrained_parameter_is_no_leaf() -> None:
    error = "ValueError: can't optimize a non-leaf Tensor"
    hints = asked(f"A parameter with a constraint\n\n{error}").hints
    assert "an unconstrained leaf" in hints[0].text
    assert "an unconstrained leaf" not in asked(f"A parameter\n\n{error}").hints[0].text


@pytest.mark.parametrize(("end", "part"), [("total.backward()", "of every term"), ("", ".item()")])
def test_a_sum_that_is_differentiated_is_none_for_output(end: str, part: str) -> None:
    code = f"total = 0\nfor page in pages:\n    total += criterion(net(page))\n{end}\n"
    hints = asked(f"Why does GPU memory grow?\n\n```python\n{code}```").hints
    assert part in hints[0].text
