"""Which of a message's usual causes the words around the code and the code itself speak for."""

from __future__ import annotations

import pytest

from analyzers.advice import Hint, hints
from analyzers.messages import named_in_words
from analyzers.request.examine import examine
from analyzers.source.project import Project
from analyzers.tracebacks import parse

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
CHANGED = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [torch.FloatTensor [7, 1]]{which} is at version 3; expected version 2."
)
NO_GRAPH = "RuntimeError: element {} of tensors does not require grad and does not have a grad_fn"
RECOMPUTED = (
    "CheckpointError: torch.utils.checkpoint: Recomputed values for the following tensors have "
    "different metadata than during the forward pass."
)
UNFINISHED = "RuntimeError: Expected to have finished reduction in the prior iteration"
UNUSED = (
    "RuntimeError: One of the differentiated Tensors appears to not have been used in the graph"
)


def first(code: str, error: str, words: str = "") -> Hint:
    return hints(Project({"a.py": code}, "a.py"), parse(error), {"": words})[0]


@pytest.mark.parametrize(
    ("error", "words", "quoted", "remedy"),
    [
        (AGAIN, "It fails since I removed the `no_grad` of the encoder.", "removed", "no cache on"),
        (AGAIN, "Only the second iteration fails.", "second iteration fail", "made earlier"),
        (AGAIN, "With gradient checkpointing it raises.", "gradient checkpoint", "use_reentrant"),
        (AGAIN, "I train a GAN in two steps.", "GAN", "fake.detach()"),
        (AGAIN, "My model is an LSTM.", "LSTM", "h.detach()"),
        (AGAIN, "A student learns from it.", "student", "teacher(x).detach()"),
        (NO_GRAPH.format(0), "The example needs requires_grad=True.", "needs", "with random"),
        (CHANGED.format(which=""), "It works with PyTorch 1.4.", "PyTorch 1.4", "before 1.5"),
        (NO_GRAPH.format(0), "I fine-tune with QLoRA.", "QLoRA", "enable_input_require_grads"),
        (NO_GRAPH.format(0), "I wrote my own loss for it.", "own loss", "loss.grad_fn"),
        (NO_GRAPH.format(0), "Why `with torch.no_grad()` here?", "torch.no_grad", "out of it"),
        (NO_GRAPH.format(0), "It is multiplied by x.item() first.", ".item()", "keep tensors"),
        (RECOMPUTED, "It fails with ZeRO stage 3.", "ZeRO stage 3", "ZeRO 2"),
    ],
)
def test_what_the_words_name_comes_before_what_is_usual(
    error: str, words: str, quoted: str, remedy: str
) -> None:
    hint = first("x = 1\n", error, words)
    assert hint.text.startswith(f"{'perhaps' if hint.vague else 'likely'}, as the words name “")
    assert quoted in hint.words
    assert remedy in hint.text


@pytest.mark.parametrize("words", ["I do not use a GAN.", "I removed the GAN."])
def test_words_that_deny_it_name_nothing(words: str) -> None:
    assert first("x = 1\n", AGAIN, words).usual


def test_of_vague_words_those_come_first_that_more_lines_hold() -> None:
    words = "I train a GAN.\nIt is wrapped in DDP.\nWithout DDP it works.\n"
    assert first("x = 1\n", CHANGED.format(which=""), words).words == "DDP"


def test_two_forwards_under_ddp_are_more_than_a_topic() -> None:
    words = "This is a GAN, a GAN.\nI do two forward passes through a DDP module.\n"
    assert "broadcasts buffers" in first("x = 1\n", CHANGED.format(which=""), words).text


def test_a_version_that_works_says_nothing_of_a_tensor_that_no_step_changes() -> None:
    which, words = ", which is output 0 of AddBackward0,", "It works with PyTorch 1.1."
    assert not first("x = 1\n", CHANGED.format(which=which), words).words
    failing = "The error occurs with PyTorch 1.2."
    assert not first("x = 1\n", CHANGED.format(which=""), failing).words


def test_a_library_in_the_frames_names_a_cause() -> None:
    frame = 'File "/site-packages/spikingjelly/neuron.py", line 3, in backward\n    h = saved\n'
    hint = first("x = 1\n", f"Traceback (most recent call last):\n  {frame}{AGAIN}")
    assert "reset it at the start of each batch" in hint.text


def test_a_misspelt_message_about_half_precision_is_known() -> None:
    error = "ValueError : Attemting to unscale fp16 Gradients"
    named = named_in_words(error)
    assert named is not None
    assert named.id == "fp16-gradients"


@pytest.mark.parametrize(
    "asked",
    [
        "My variables will not optimize, and there is a detach().",
        "The weights do not change: .item()",
    ],
)
def test_what_cuts_is_named_where_nothing_learns(asked: str) -> None:
    examined = examine(asked + "\n", "train.py", {}, "")
    assert examined.asked == "nothing-learns"
    assert "cut off from the graph" in examined.hints[0].text


def test_a_line_comes_before_words_that_only_make_a_cause_likelier() -> None:
    code = "for x in data:\n    total = total + net(x)\n    total.backward()\n"
    assert "adds up" in first(code, AGAIN, "My model is an LSTM.").text


def test_words_and_a_line_for_one_cause_come_before_a_line_for_another() -> None:
    code = (
        "from norse import cells\nfor x in data:\n    seen.append(net(x))\n    net(x).backward()\n"
    )
    assert "keeps tensors" in first(code, AGAIN).text
    hint = first(code, AGAIN, "My model is a spiking network.")
    assert hint.place is not None
    assert hint.text.endswith("(The words name “spiking”.)")


LOOP = "for x, y in batches:\n    with grads():\n        out = net(x.cuda())\n{}"
END = "        loss = criterion(out, y)\n    loss.backward()\n"


def test_of_a_loop_that_keeps_nothing_the_model_is_named() -> None:
    hint = first(LOOP.format(END), AGAIN)
    assert (hint.place.line if hint.place else 0) == 3
    assert "kept inside `net`" in hint.text


@pytest.mark.parametrize(
    "middle",
    [
        "        out = out + shift\n",
        "        out = out + self.shift\n",
        "        out = out + old\n        old = out * 2\n",
        "        out.sum().backward()\n",
    ],
)
def test_of_a_loop_that_may_keep_something_the_model_is_not_named(middle: str) -> None:
    assert "kept inside" not in first(LOOP.format(middle + END), AGAIN).text


@pytest.mark.parametrize("given", ["w.clone()", "-w", "(w[0].view(-1),)"])
def test_nothing_is_computed_from_what_the_call_itself_makes(given: str) -> None:
    assert "in the call itself" in first(f"g = torch.autograd.grad(y, {given})\n", UNUSED).text


def test_a_parameter_is_not_made_in_the_call() -> None:
    code = "g = torch.autograd.grad(y, list(net.parameters()))\n"
    assert "in the call itself" not in first(code, UNUSED).text


def test_a_message_that_counts_tensors_names_the_backward_of_several() -> None:
    assert "starts at several tensors" in first("x = 1\n", NO_GRAPH.format(1)).text
    assert first("x = 1\n", NO_GRAPH.format(0)).usual


def test_a_transposed_weight_in_the_message_names_the_step() -> None:
    which = ", which is output 0 of AsStridedBackward0,"
    error = CHANGED.format(which=which)
    assert "a transposed tensor" in first("x = 1\n", error).text
    assert first("x = 1\n", error.replace("[7, 1]", "[2, 7, 1]")).usual
    leaf = CHANGED.format(which="")
    assert "not the result of an operation" in first("x = 1\n", leaf).text


def test_a_backward_with_a_gradient_is_one_of_several_outputs() -> None:
    assert "(`grads`) starts at an output" in first("out.backward(grads)\n", AGAIN).text
    assert first("out.backward()\n", AGAIN).usual
    assert first("self.net_model.backward(loss_g, loss_d)\n", AGAIN).usual


def test_a_collective_that_receives_into_a_parameter_is_named() -> None:
    error = (
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."
    )
    assert "pass `p.data`" in first("dist.broadcast(p, 0)\n", error).text


def test_a_choice_that_the_words_name_has_no_derivative() -> None:
    asked = "Gradient unable to backprop if we use argmax\nThe model won't learn.\n"
    assert "no derivative" in examine(asked, "train.py", {}, "").hints[0].text
    assert "no derivative" in first("x = 1\n", NO_GRAPH.format(0), "Is it argmax?").text


def test_a_command_is_read_where_its_message_lacks_the_end() -> None:
    error = (
        "# RuntimeError: unscale_() has already been called on this optimizer since the last update"
    )
    asked = f"{error}\n\npython train.py \\\n    --gradient_accumulation_steps 4 \\\n    --fp16\n"
    assert "update transformers" in examine(asked, "train.py", {}, "").hints[0].text


@pytest.mark.parametrize(
    ("asked", "entry", "part"),
    [
        ("Why enable retain_graph in backward?", "why-retained", "add the losses"),
        ("Why use weights = weights.detach() here?", "why-cut", "serve only as a reference"),
        ("Why not detach the fake images of the GAN?", "why-cut", "only judges"),
        (".zero_grad() has not been called before .backward()", "gradients-add-up", "each step"),
        ("Why are detached houses so expensive?", None, ""),
    ],
)
def test_what_a_call_is_for_is_a_question(asked: str, entry: str | None, part: str) -> None:
    examined = examine(f"{asked}\n", "train.py", {}, "")
    assert examined.asked == entry
    assert entry is None or part in examined.hints[0].text


@pytest.mark.parametrize(
    ("error", "words", "part"),
    [
        (UNFINISHED, "The text tower is frozen.", "before `DistributedDataParallel"),
        (UNFINISHED, "I added an auxiliary head.", "0 * other.sum()"),
        (RECOMPUTED, "It is a mixture of experts.", "the router"),
        (RECOMPUTED, "With autocast it fails.", "inside the checkpointed"),
        (UNUSED, "I compute a gradient penalty.", "that same tensor"),
        (UNUSED, "This is MAML.", "allow_unused=True"),
    ],
)
def test_more_of_what_words_name(error: str, words: str, part: str) -> None:
    assert part in first("x = 1\n", error, words).text


def test_a_frozen_part_under_checkpointing_may_be_harmless() -> None:
    warning = "UserWarning: None of the inputs have requires_grad=True. Gradients will be None"
    hint = first("x = 1\n", warning, "--freeze_vision_tower True")
    assert "harmless" in hint.text
    assert hint.words == "freeze_vision_tower"


def test_the_gradient_of_an_input_is_asked_about() -> None:
    asked = "delta.grad is None after backward\n"
    assert "enable_grad()" in examine(asked, "train.py", {}, "").hints[0].text
