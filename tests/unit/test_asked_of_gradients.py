"""What threads ask of gradients that are None, lost or cleared, and which of several causes that
the words name comes first."""

from __future__ import annotations

import pytest

from analyzers.request.examine import examine
from analyzers.request.examined import Examined

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
NO_GRAPH = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
UNFINISHED = (
    "RuntimeError: Expected to have finished reduction in the prior iteration before starting a "
    "new one."
)
NO_DATA = "RuntimeError: Cannot access data pointer of Tensor that doesn't have storage"


def asked(text: str) -> Examined:
    return examine(text, "train.py", {}, "")


def first(text: str) -> str:
    return asked(text).hints[0].text


@pytest.mark.parametrize(
    "question",
    [
        "Should zero_grad() be called before or after backward()?",
        "Why is zero_grad() called first?",
        "optimizer.zero_grad() 的位置是不是应该在 loss.backward() 之前?",
    ],
)
def test_where_gradients_are_cleared_is_a_question(question: str) -> None:
    examined = asked(f"{question}\n\n```\ncost.backward()\nopt.step()\nopt.zero_grad()\n```\n")
    assert examined.asked == "place-of-clearing"
    assert "have the same effect" in examined.hints[0].text


def test_the_one_wrong_place_of_clearing_is_named() -> None:
    block = "```\nfor page in pages:\n    cost = net(page).sum()\n    cost.backward()\n"
    block += "    opt.zero_grad()\n    opt.step()\n```\n"
    hint = asked(f"Is zero_grad() better before or after the backward?\n\n{block}").hints[0]
    assert hint.text.startswith("`opt.zero_grad` clears the gradients between")
    assert hint.place is not None
    assert hint.place.line == 7


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (
            "I call zero_grad before the backward, and the weights are not updated.",
            "nothing-learns",
        ),
        ("Is zero_grad() missing before the backward?", "gradients-add-up"),
        ("I call zero_grad() before each backward.", None),
    ],
)
def test_other_words_that_name_clearing_are_no_question_of_its_place(
    words: str, entry: str | None
) -> None:
    assert asked(f"{words}\n").asked == entry


def test_a_line_in_backticks_is_code_and_its_copied_results_are_named() -> None:
    examined = asked(
        "Does this lose the gradient?\n\n`log_probs = torch.tensor(self.saved, dtype=torch.half)`\n"
    )
    assert examined.project.files["train.py"].strip().startswith("log_probs = torch.tensor(")
    assert examined.hints[0].text.startswith("`torch.tensor` makes a new tensor from numbers")
    assert examined.hints[0].place is not None
    assert examined.hints[0].place.line == 3


@pytest.mark.parametrize(
    "line", ["pages = torch.tensor(rows)", "old_log_probs = torch.tensor(saved_log_probs)"]
)
def test_data_and_constants_are_no_copied_results(line: str) -> None:
    examined = asked(f"My weights do not change.\n\n```python\nimport torch\n{line}\n```\n")
    assert examined.asked == "nothing-learns"
    assert not any("makes a new tensor" in hint.text for hint in examined.hints)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mask.data = mask.data - rate * mask.grad.sign()", "has no attribute 'sign'"),
        ("w -= rate * w.grad", "unsupported operand type(s) for *: 'float' and 'NoneType'"),
    ],
)
def test_a_gradient_that_is_none_is_known_by_words_alone(line: str, message: str) -> None:
    said = message if "operand" in message else f"'NoneType' object {message}"
    kind = "TypeError" if "operand" in message else "AttributeError"
    examined = asked(f"It stops there:\n{line}\n{kind}: {said}\n")
    assert examined.traceback is not None
    assert (examined.traceback.family, examined.traceback.kind) == ("no-grad", "rebound")
    assert "is None if" in examined.hints[0].text
    assert not examined.from_traceback


@pytest.mark.parametrize("message", ["has no attribute 'split'", "is not iterable"])
def test_another_none_is_no_gradient(message: str) -> None:
    text = f"w -= rate * w.grad\nAttributeError: 'NoneType' object {message}\n"
    examined = asked(text)
    assert examined.traceback is not None
    assert examined.traceback.family == "other"


def test_the_number_of_a_device_is_no_missing_gradient() -> None:
    code = "page = torch.randn(4, requires_grad=True).cuda()\n(page * 2).sum().backward()\n"
    shown = "tensor([-0.5, 0.0], device='cuda:0', grad_fn=<CloneBackward0>)"
    text = f"A copy\n\n```python\nimport torch\n{code}```\n\n```\n{shown}\n```\n"
    assert asked(text).asked is None
    examined = asked(f"{text}\nWhy is page.grad None?\n")
    assert examined.asked == "nothing-learns"
    assert examined.hints[0].text.startswith("`torch.randn` is moved after")


@pytest.mark.parametrize(
    "frame", ["", '  File "tune.py", line 40, in <module>\n    out = net(x)\n']
)
def test_parameters_without_part_in_the_loss_are_no_loss_without_a_graph(frame: str) -> None:
    head = "Traceback (most recent call last):\n" if frame else ""
    text = f"net = torch.nn.parallel.DistributedDataParallel(net)\n\n{head}{frame}{UNFINISHED}\n"
    examined = asked(text)
    causes = examined.from_traceback
    assert [(cause.pattern, cause.title) for cause in causes] == [
        ("unused-parameter", "Parameters that the loss does not depend on")
    ]


def test_a_setting_that_is_there_is_not_advised() -> None:
    wrapped = "net = DistributedDataParallel(net, find_unused_parameters=True)"
    head = asked(f"{wrapped}\n\n{UNFINISHED}\n").hints[0].text
    assert head.startswith("`find_unused_parameters=True` makes DDP follow the outputs")
    assert "`nn.parallel" not in head
    assert "waits for every parameter" in first(f"net = DDP(net)\n\n{UNFINISHED}\n")


def test_two_topics_in_one_sentence_come_before_one_that_is_named_more_often() -> None:
    words = (
        "The LoRA trains, and lora_B stays zero (checkpointing is on).\nLoRA, rank 8.\nA LoRA.\n"
    )
    assert "with reentrant gradient" in first(words)
    assert "adapters learn only if" in first("The LoRA trains, and lora_B stays zero.\n")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Each segment has a backward of its own.", True),
        ("This is a segmentation network.", False),
    ],
)
def test_what_goes_from_segment_to_segment_keeps_a_freed_graph(words: str, shown: bool) -> None:
    hints = asked(f"{AGAIN}\n\n{words}\n").hints
    assert any("one part of a sequence passes to the next" in hint.text for hint in hints) == shown


def test_layers_of_spiking_neurons_are_known_by_their_names() -> None:
    code = "net = nn.Sequential(\n    nn.Conv2d(1, 8, 3),\n    LIFLayer(tau=2.0),\n)\n"
    assert "keep their state internally (LIFLayer)" in first(f"{code}\n{AGAIN}\n")


@pytest.mark.parametrize(
    "text",
    [
        f"I attack the images of LLaVA.\n\n{NO_GRAPH}\n",
        "With LLaVA the gradient of the image is None.\n",
        "LLaVA:\nnoise = noise + noise.grad.sign()\n"
        "AttributeError: 'NoneType' object has no attribute 'sign'\n",
    ],
)
def test_an_encoder_that_records_nothing_is_named(text: str) -> None:
    assert "encode images under `@torch.no_grad()`" in first(text)


@pytest.mark.parametrize("title", ["step后权值没有更新", "가중치가 업데이트되지 않습니다"])
def test_weights_that_stay_are_known_in_other_languages(title: str) -> None:
    assert asked(f"# {title}\n").asked == "nothing-learns"


def test_a_function_that_is_put_into_the_graph_unseen_gets_no_data() -> None:
    code = "import torch\nf = torch._dynamo.allow_in_graph(g)\nsquared = torch.compile(f)(x)\n"
    hint = asked(f"{code}\n{NO_DATA}\n").hints[0]
    assert hint.text.startswith("`torch._dynamo.allow_in_graph` puts a function into the graph")
    assert hint.place is not None
    assert hint.place.line == 2
