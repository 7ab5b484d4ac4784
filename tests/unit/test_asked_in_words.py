"""What words alone ask about, and which line of the code shows it."""

from __future__ import annotations

import pytest

from analyzers.advice import hints
from analyzers.request.examine import examine
from analyzers.source.project import Project
from analyzers.tracebacks import parse

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
NO_GRAPH = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"


def first(code: str, error: str, words: str = "") -> tuple[int, str]:
    """Return the line and the text of the first hint about an error."""
    hint = hints(Project({"a.py": code}, "a.py"), parse(error), {"": words})[0]
    return (hint.place.line if hint.place is not None else 0), hint.text


def test_why_a_value_has_no_graph_is_a_question_of_its_own() -> None:
    text = (
        "Why has my score no grad_fn?\n\n```python\nn = int(labels.max()) + 1\n"
        "guess = torch.argmax(scores, dim=-1)\nscore = (guess == labels).float().mean()\n```\n"
    )
    examined = examine(text, "train.py", {}, "")
    assert examined.asked == "value-without-graph"
    assert examined.hints[0].place is not None
    assert examined.hints[0].place.line == 5


def test_inputs_that_are_the_same_are_no_loss_that_stays_the_same() -> None:
    words = "The loss function takes in the same inputs as the accuracy.\n"
    assert examine(words, "train.py", {}, "").asked is None


def test_a_loss_that_runs_away_is_asked_about_with_the_weight_that_is_never_cleared() -> None:
    step = "with torch.no_grad():\n    balance.data -= 0.01 * balance.grad.data\n"
    text = f"The loss seems abnormal, it goes to -2e8.\n\n```python\n{step}```\n"
    examined = examine(text, "train.py", {}, "")
    assert examined.asked == "loss-runs-away"
    assert examined.hints[0].text.startswith("`balance` is updated by hand")
    cleared = examine(text.replace("```\n", "    balance.grad = None\n```\n"), "train.py", {}, "")
    assert not any("updated by hand" in hint.text for hint in cleared.hints)


def test_losses_of_one_forward_share_its_graph() -> None:
    code = "rec_loss, code_loss, codes = model(x)\nrec_loss = rec_loss.mean()\n"
    line, text = first(code, AGAIN)
    assert line == 1
    assert text.startswith("`rec_loss` and `code_loss` come from one forward call")


def test_what_a_critic_has_trained_is_a_constant_for_the_policy() -> None:
    words = "At each time step I compute the advantage from two value functions."
    assert "an advantage is a constant" in first("x = 1\n", AGAIN, words)[1]


def test_a_forward_without_gradients_before_the_one_with_them_is_named() -> None:
    words = "No gradient when I forward twice and the first time under `with torch.no_grad()`"
    assert "cache_enabled=False" in first("x = 1\n", NO_GRAPH, words)[1]


def test_a_derivative_that_nothing_differentiates_needs_no_graph() -> None:
    alone = "g = torch.autograd.grad(loss, model.prompt, retain_graph=False)[0]\n"
    assert "create_graph" not in first(alone, NO_GRAPH)[1]
    assert "create_graph" in first(f"{alone}g.sum().backward()\n", NO_GRAPH)[1]


@pytest.mark.parametrize(
    ("body", "line", "part"),
    [
        ("        if x.requires_grad:\n            return x.sign()\n", 4, "returns nothing"),
        ("        ctx.save_for_backward(input)\n        return x.sign()\n", 4, "is neither an"),
    ],
)
def test_a_function_that_gives_none_is_shown(body: str, line: int, part: str) -> None:
    head = "class Ste(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    error = "RuntimeError: Expected a proper Tensor but got None for argument #0 'self'"
    at, text = first(head + body, error)
    assert at == line
    assert part in text


def test_a_stage_of_a_pipeline_without_a_gradient_is_known() -> None:
    error = "[3] for chunk 0 has gradients None and is expecting to send gradients to stage 2,"
    assert "output does not depend on" in first("x = 1\n", f"RuntimeError: {error}")[1]


def test_a_derivative_taken_within_a_backward_has_no_graph_there() -> None:
    head = "class Dot(torch.autograd.Function):\n    @staticmethod\n    def backward(ctx, g):\n"
    body = "        x, w = ctx.saved_tensors\n        out = (x * w).sum()\n"
    asked = "        return torch.autograd.grad(out, x, g, allow_unused=True)\n"
    text = f"Why is the result of autograd.grad None?\n\n```python\n{head}{body}{asked}```\n"
    examined = examine(text, "train.py", {}, "")
    assert examined.hints[0].place is not None
    assert examined.hints[0].place.line == 9
    assert "torch.enable_grad()" in examined.hints[0].text


def test_zeros_for_unused_inputs_are_asked_about_with_their_option() -> None:
    code = "```python\ng = torch.autograd.grad(y, x, allow_unused=True)\n```\n"
    text = f"How do I get zeros for an unused input instead of None?\n\n{code}"
    examined = examine(text, "train.py", {}, "")
    assert examined.asked == "unused-inputs"
    assert "materialize_grads=True" in examined.hints[0].text


def test_a_gradient_penalty_is_named_where_memory_grows() -> None:
    words = "Memory keeps increasing in each iteration since I use calc_gradient_penalty.\n"
    examined = examine(words, "train.py", {}, "")
    assert examined.asked == "memory-grows"
    assert "penalty.item()" in examined.hints[0].text
