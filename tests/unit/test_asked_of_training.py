"""What threads ask of steps, processes and custom Functions, where what was sent shows less than
its words; each with a look-alike that asks something else, or nothing."""

from __future__ import annotations

import pytest

from analyzers.messages import entry_of
from analyzers.request.examine import examine
from analyzers.request.examined import Examined

NO_GRAPH = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
AGAIN = "RuntimeError: Trying to backward through the graph a second time"
NO_CHECKS = "AssertionError: No inf checks were recorded for this optimizer."
CLOSURE = "def closure():\n    cost = model_cost()\n    if {test}:\n        cost.backward()\n"


def asked(text: str) -> Examined:
    return examine(text, "train.py", {}, "")


def first(text: str) -> str:
    return asked(text).hints[0].text


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("[Bug] grad_norm=0 with gradient_accumulation_steps=4", "gradient-norm-zero"),
        ("Why is my gradient norm always zero?", "gradient-norm-zero"),
        ("A grad_norm=0.35 is small, with zero_grad() in each step.", None),
        ("The gradients are not the same on all GPUs.", "processes-differ"),
        ("With DDP the weights are not synchronized.", "processes-differ"),
        ("The gradients differ between the CPU and my GPU.", "runs-differ"),
        ("I keep the weights of models on different GPUs.", None),
        ("My custom backward() is not called.", "backward-not-called"),
        ("Why is the backward I defined not executed?", "backward-not-called"),
        ("zero_grad() is not called before my backward.", "gradients-add-up"),
        ("optimizer.step() is missing after the backward, isn't it?", "step-missing"),
        ("zero_grad is missing before optimizer.step().", "gradients-add-up"),
        ("The loss goes up and down and does not diminish.", "nothing-learns"),
        ("Errors of the solver diminish, at no loss of speed.", None),
        ("Cannot backpropagate through my pooling", "nothing-learns"),
        ("We do not backpropagate through the teacher.", None),
    ],
)
def test_what_is_asked(words: str, entry: str | None) -> None:
    assert asked(f"# {words}\n").asked == entry


@pytest.mark.parametrize(
    ("test", "guarded"),
    [
        ("cost.requires_grad", True),
        ("ready and cost.grad_fn is not None", True),
        ("ready or cost.requires_grad", False),
        ("other.requires_grad", False),
    ],
)
def test_a_backward_that_a_flag_guards_did_not_raise(test: str, guarded: bool) -> None:
    examined = asked(f"{CLOSURE.format(test=test)}\n{NO_GRAPH}\n")
    assert examined.traceback is not None
    assert bool(examined.traceback.frames) != guarded
    assert ("is guarded" in examined.hints[0].text) == guarded
    assert not (guarded and examined.from_traceback)


def test_a_cut_traceback_has_the_message_of_the_title() -> None:
    frame = "Cell In[3], line 9\n----> 9 opt = SGD([scale], lr=0.1)"
    text = "# `ValueError: can't optimize a non-leaf Tensor` in my fit\n\nError:\n{}\n"
    error = asked(text.format(frame)).traceback
    assert error is not None
    assert (error.exception, error.kind) == ("ValueError", "nonleaf")
    assert error.frames
    said = asked(text.replace("Error:\n", "Error: something else\n").format(frame)).traceback
    assert said is not None
    assert said.message != "something else"


def test_a_line_that_somebody_would_add_is_no_code_yet() -> None:
    loop = "for page in pages:\n    cost = net(page)\n    cost.backward()\n{}\n    clear()\n"
    fence = f"My loop:\n\n```\n{loop}```\n\nThanks.\n"
    added = asked(fence.format(" +  optimizer.step()  # add this"))
    assert added.asked == "step-missing"
    assert "step" not in added.project.files["train.py"]
    assert added.pasted["train.py"].first_changed is None
    summed = "    total = (cost\n  + rest)"
    assert "+ rest" in asked(fence.format(summed)).project.files["train.py"]


def test_a_used_up_generator_has_no_gradients_left() -> None:
    code = "weights = net.parameters()\nopt = SGD(weights, lr=0.1)\nnorm = clip(weights, 1.0)\n"
    text = "My gradient norm is 0.\n\n```python\nimport torch\n{}```\n"
    assert first(text.format(code)).startswith("`weights` is a generator")
    listed = code.replace("net.parameters()", "list(net.parameters())")
    assert "as an iterator" in first(text.format(listed))


@pytest.mark.parametrize(
    ("call", "when", "part"),
    [
        ("net = DDP(net)", "a head is unused", "a bucket that contains a parameter"),
        (
            "net = DDP(net, find_unused_parameters=True)",
            "a head is unused",
            "the loss does not depend on a parameter (whose bucket",
        ),
        ("out = net.module(page)", "I train", "`net.module` bypasses the wrapper"),
    ],
)
def test_why_processes_differ(call: str, when: str, part: str) -> None:
    words = f"The gradients are not the same on all GPUs when {when}."
    assert part in first(f"{words}\n\n```python\nimport torch\n{call}\n```\n")


@pytest.mark.parametrize(
    ("returned", "shown"), [("x", True), ("x.view_as(x)", False), ("x * 2", False)]
)
def test_a_function_that_returns_its_input_is_named(returned: str, shown: bool) -> None:
    head = "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    code = f"import torch\n{head}        return {returned}\n"
    text = f"My custom backward is not called.\n\n```python\n{code}```\n"
    assert first(text).startswith("`x` is returned unchanged") == shown


@pytest.mark.parametrize(("kept", "shown"), [("create_graph=True", True), ("", False)])
def test_an_inner_step_past_the_graph_is_named(kept: str, shown: bool) -> None:
    code = f"grads = torch.autograd.grad(cost, weights, {kept})\nfor w, g in zip(weights, grads):\n"
    text = f"My meta model never learns.\n\n```python\n{code}    w.data -= rate * g\n```\n"
    assert first(text).startswith("`w.data` is written outside of the graph") == shown


@pytest.mark.parametrize("guard", ["", "        if accelerator.sync_gradients:\n    "])
def test_clipping_for_each_batch_of_a_group_is_named(guard: str) -> None:
    code = "for page in pages:\n    with accelerator.accumulate(net):\n"
    clip = f"{guard}        accelerator.clip_grad_norm_(net.parameters(), 1.0)\n"
    code += f"        accelerator.backward(net(page))\n{clip}        opt.step()\n"
    text = f"Gradient accumulation doesn't work with clip_grad_norm_\n\n```python\n{code}```\n"
    assert first(text).startswith("`accelerator.clip_grad_norm_` of accelerate") != bool(guard)


@pytest.mark.parametrize(
    ("words", "shown"),
    [("The loss is 0.0 for this sample.", True), ("The loss is 0.05 for this sample.", False)],
)
def test_a_loss_without_terms_gives_no_gradient(words: str, shown: bool) -> None:
    frame = '  File "run.py", line 20, in main\n    scaler.step(opt)'
    cause = asked(f"{words}\n\nTraceback (most recent call last):\n{frame}\n{NO_CHECKS}\n")
    assert ("no sample contributed" in cause.from_traceback[0].remedy) == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("With retain_graph=True it runs, is this normal?", True),
        ("It runs with retain_graph=True.", False),
    ],
)
def test_whether_a_graph_may_be_retained_is_answered(words: str, shown: bool) -> None:
    assert ("which is right only if both" in first(f"{AGAIN}\n\n{words}\n")) == shown


@pytest.mark.parametrize(
    ("message", "entry"),
    [
        ("vmap: inplace arithmetic(self, *extra_args) is not possible", "vmap-in-place"),
        ("output with shape [2] doesn't match the broadcast shape [4, 2]", "written-larger"),
        (
            "Found an input to the backward that was mutated during the backward pass. This is not "
            "supported",
            "compiled-metadata-changed",
        ),
        (
            "expect_autograd_hooks_ INTERNAL ASSERT FAILED at "
            '"../torch/csrc/distributed/c10d/reducer.cpp":1591, please report a bug to PyTorch.',
            "reduction-unexpected",
        ),
    ],
)
def test_messages_that_threads_quote(message: str, entry: str) -> None:
    found = entry_of(message)
    assert found is not None
    assert found.id == entry


def test_a_compiled_backward_that_writes_is_no_second_backward() -> None:
    error = "AssertionError: Found an input to the backward that was mutated during the backward"
    code = "import torch\nnet = torch.compile(net)\nnet.scale.register_hook(clip)\n"
    causes = asked(f"{code}net(page).backward()\n\n{error}\n").from_traceback
    assert [cause.title for cause in causes] == ["A compiled backward writes into what it is given"]
