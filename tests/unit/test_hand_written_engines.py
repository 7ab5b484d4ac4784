"""Backward passes that people write themselves: what is known of them, and what numbers show."""

from __future__ import annotations

import pytest

from analyzers.request.examine import examine
from analyzers.request.examined import Examined

OPERATION = """\
# The gradient of this micrograd operation is wrong?

```python
def operation(self, other):
    out = Value({forward}, (self, other))
    def _backward():
        self.grad {first}
        other.grad {second}
    out._backward = _backward
    return out
```
"""


def examined(text: str) -> Examined:
    return examine(text, "train.py", {}, "")


def of_operation(forward: str, first: str, second: str) -> Examined:
    return examined(OPERATION.format(forward=forward, first=first, second=second))


@pytest.mark.parametrize(
    ("forward", "first", "second", "line"),
    [
        ("self.data * other.data", "+= other.data * out.grad", "+= other.data * out.grad", 8),
        ("self.data - other.data", "+= out.grad", "+= out.grad", 8),
        ("self.data ** other.data", "+= out.data * out.grad", "+= 1.0", 7),
        ("max(0, self.data) + other.data", "+= (self.data < 0) * out.grad", "+= out.grad", 7),
        ("math.exp(self.data) / other.data", "+= out.data * out.grad", "+= out.data * out.grad", 8),
    ],
)
def test_a_derivative_that_numbers_refute_is_shown(
    forward: str, first: str, second: str, line: int
) -> None:
    (hint, *_) = of_operation(forward, first, second).hints
    assert hint.place is not None
    assert hint.place.line == line
    assert "is not the derivative of the operation" in hint.text


@pytest.mark.parametrize(
    ("forward", "first", "second"),
    [
        ("self.data * other.data", "+= other.data * out.grad", "+= self.data * out.grad"),
        ("math.tanh(self.data) + other.data", "+= (1 - t**2) * out.grad", "+= out.grad"),
        ("lookup(self.data, other.data)", "+= out.grad", "+= out.grad"),
        ("self.data / other.data", "+= 1 / other.data * out.grad", "+= slope(self) * out.grad"),
    ],
)
def test_what_is_right_or_unknown_is_not_called_wrong(
    forward: str, first: str, second: str
) -> None:
    hints = of_operation(forward, first, second).hints
    assert hints
    assert not any("is not the derivative" in hint.text for hint in hints)


def test_a_gradient_that_is_replaced_is_shown() -> None:
    hints = of_operation("self.data + other.data", "= out.grad", "+= out.grad").hints
    assert any("`self.grad` replaces what other uses" in hint.text for hint in hints)
    kept = of_operation("self.data + other.data", "= self.grad + out.grad", "+= out.grad").hints
    assert not any("replaces what other uses" in hint.text for hint in kept)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("micrograd: calling backward twice is not idempotent", "a second backward adds"),
        ("In micrograd, gradients are incorrect if a node is used twice", "topological order"),
        ("Your backpropagation code has a bug in the deltas", "finite differences"),
        ("The gradient lacks the derivative of the sigmoid, is that wrong?", "y * (1 - y)"),
    ],
)
def test_what_is_asked_of_own_engines(words: str, part: str) -> None:
    found = examined(words)
    assert found.asked == "hand-written-derivatives"
    assert any(part in hint.text for hint in found.hints)


@pytest.mark.parametrize(
    "words",
    [
        "I train my transformer from scratch, and the gradients vanish",
        "Backpropagation through the wrong branch is slow",
        "Is the sigmoid function needed before BCE?",
        "The weights were updated before the epoch ended",
    ],
)
def test_words_of_other_trainings_name_no_own_engine(words: str) -> None:
    assert examined(words).asked != "hand-written-derivatives"


def test_rules_of_torch_do_not_hold_for_another_engine() -> None:
    calls = ">>> e.backward()\n>>> show()\n0.5\n>>> e.backward()\n>>> show()\n1.5\n"
    words = "In micrograd, backward() is not idempotent.\n\n"
    assert examined(f"{words}```python\n{calls}```\n").reading.evidence == ()
    assert examined(f"A demo.\n\n```python\n{calls}```\n").reading.evidence != ()
