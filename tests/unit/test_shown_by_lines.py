"""What the lines of a paste, of a trace or of a warning show of a fault that is not raised there,
or whose message is cut off; each with a look-alike that shows nothing."""

from __future__ import annotations

import pytest

from analyzers.advice import Hint, hints
from analyzers.request.examine import examine
from analyzers.request.examined import Examined
from analyzers.source.project import Project
from analyzers.tracebacks import parse

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
CHANGED = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [torch.FloatTensor [6]], which is output 0 of SelectBackward0, is at "
    "version 8; expected version 7 instead.\n"
)
UNFINISHED = (
    "RuntimeError: Expected to have finished reduction in the prior iteration before starting a "
    "new one. This error indicates that your module has parameters that were not used in producing "
    "loss."
)
LEAF = "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."
MISMATCH = "GradcheckError: Jacobian mismatch for output 0 with respect to input 0,"
NO_LEAF = (
    "/srv/scene/model.py:81: UserWarning: The .grad attribute of a Tensor that is not a leaf "
    "Tensor is being accessed.\n  size = self.centers.grad.norm()\n"
)


def asked(text: str) -> Examined:
    return examine(text, "train.py", {}, "")


def first(code: str, error: str, words: str = "") -> Hint:
    return hints(Project({"a.py": code}, "a.py"), parse(error), {"": words})[0]


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("pose = refine(camera.pose)\ncamera.pose = pose.inverse()\n", True),
        ("camera = shots.pop(k)\ncamera.pose = refine(camera.pose)\n", True),
        ("pose = refine(camera.pose.detach())\ncamera.pose = pose.inverse()\n", False),
        ("camera = Camera(k)\ncamera.pose = refine(camera.pose)\n", False),
        ("camera.pose = refine(other.pose)\n", False),
        ("camera.rate = camera.rate * 0.9\n", False),
    ],
)
def test_what_an_object_holds_is_replaced_by_a_value_of_the_graph(code: str, named: bool) -> None:
    text = first(f"{code}loss = render(camera).mean()\nloss.backward()\n", AGAIN).text
    assert ("`camera.pose` is replaced by a value" in text) == named


def test_the_trace_of_the_forward_ends_in_a_library_that_writes_in_place() -> None:
    frame = '  File "/lib/python3.11/site-packages/graphs/cell.py", line 31, in forward\n    {}\n'
    said = (
        "Warning: Error detected in MmBackward0. Traceback of forward call that caused the error:"
    )
    trace = f"{CHANGED}\nThe trace above it:\n\n{said}\n...\n{frame}"
    hint = first("x = 1\n", trace.format("rows[k] = self.mix(rows[k])"))
    assert hint.text.startswith(
        "the trace of the forward ends at line 31 of `cell.py`, where `rows`"
    )
    assert "line 31" not in first("x = 1\n", trace.format("return self.mix(rows)")).text


def test_a_warning_is_at_the_line_that_it_names() -> None:
    cut = (
        'Traceback (most recent call last):\n  File "/srv/bin/fit", line 8, in <module>\n    main()'
    )
    cause = asked(f"# It fails\n\n```\n{NO_LEAF}{cut}\n```\n").from_traceback[0]
    assert (cause.pattern, cause.location.line) == ("nonleaf-grad", 81)
    assert cause.carrier is not None
    assert cause.carrier.name == "self.centers"


def test_unused_parameters_are_no_arguments_of_the_call() -> None:
    frame = '  File "/srv/fit.py", line 12, in step\n    loss = self.net(images)\n'
    cause = asked(f"Traceback (most recent call last):\n{frame}{UNFINISHED}\n").from_traceback[0]
    assert cause.pattern == "unused-parameter"
    assert cause.carrier is None


@pytest.mark.parametrize(
    ("path", "library"),
    [
        ("~/.../autograd/__init__.py", True),
        ("~/.../torch/nn/modules/module.py", True),
        ("~/.../nets/tensor.py", False),
        ("~/autograd/__init__.py", False),
    ],
)
def test_torch_is_known_where_the_beginning_of_its_path_is_left_out(
    path: str, library: bool
) -> None:
    frames = parse(
        f"Cell In[5], line 3, in fit(net)\n----> 3 loss.backward()\n\n"
        f"File {path}:353, in backward(tensors)\n--> 353 run(\n\n{AGAIN}\n"
    ).frames
    assert [frame.is_library for frame in frames] == [False, library]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("w[9:].requires_grad = True", True),
        ("w.requires_gard = True", True),
        ("w.requires_grad = True", False),
        ("w[9].weight.requires_grad = True", False),
        ("w.requires_attention = True", False),
    ],
)
def test_a_flag_that_is_no_parameter_s(line: str, named: bool) -> None:
    shown = asked(f"The embedding is not updated.\n\n```python\n{line}\n```\n")
    assert shown.asked == "nothing-learns"
    assert ("sets no parameter's flag" in shown.hints[0].text) == named


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("m = to_matrix(angle)", True),
        ("m = torch.linalg.matrix_exp(angle)", False),
        ("m = to_matrix(angle) + angle @ angle", False),
        ("to_matrix = Net()\nm = to_matrix(angle)", False),
        ("angle = angle * 2\nm = to_matrix(angle)", False),
    ],
)
def test_all_that_takes_a_tensor_was_not_sent(call: str, named: bool) -> None:
    leaf = "import torch\nangle = torch.rand(3, requires_grad=True)\n"
    code = f"{leaf}{call}\nloss = (m @ point).norm()\nloss.backward()\nprint(angle.grad)\n"
    shown = asked(f"Why is the gradient None?\n\n```python\n{code}```\n")
    assert ("`to_matrix` was not sent" in shown.hints[0].text) == named


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("vmap sets requires_grad=False for its inputs", "flag-in-vmap"),
        ("torch.vmap disables gradients", "flag-in-vmap"),
        ("I vmap over frozen weights.", None),
    ],
)
def test_what_is_asked_of_vmap(words: str, entry: str | None) -> None:
    assert asked(f"# {words}\n").asked == entry


def test_a_checkpoint_error_is_known_by_its_name() -> None:
    code = "@torch.compile(mode='reduce-overhead')\ndef mix(x):\n    return x.sin()\n"
    text = "# CheckpointError with my wrapper{}\n\n```python\nimport torch\n{}```\n"
    compiled = asked(text.format(" and `torch.compile`", code))
    assert compiled.from_traceback[0].pattern == "checkpoint-mismatch"
    assert "compiles the checkpointed part" in compiled.hints[0].text
    plain = asked(text.format("", code.partition("\n")[2]))
    assert "compiles" not in plain.hints[0].text


def test_an_error_that_was_silenced_before_is_the_cause() -> None:
    no_checks = "AssertionError: No inf checks were recorded for this optimizer."
    words = "I solved 'element 0 of tensors does not require grad' with a flag."
    assert "setting a flag on it" in first("x = 1\n", no_checks, words).text
    assert "setting a flag on it" not in first("x = 1\n", no_checks, "I set a flag.").text


@pytest.mark.parametrize(("dtype", "named"), [("float32", True), ("float64", False)])
def test_a_check_in_single_precision(dtype: str, named: bool) -> None:
    code = f"gradcheck(fold, (torch.rand(3, dtype=torch.{dtype}, requires_grad=True),))\n"
    assert ("in single precision" in first(code, MISMATCH).text.partition(",")[0]) == named


def test_a_forward_writes_into_what_it_is_given() -> None:
    head = "class Grow(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    text = first(f"{head}        return torch.exp_(x)\n", LEAF).text
    assert text.startswith("`x` changes an input of a custom Function in place")
    assert "custom Function" not in first(f"{head}        return torch.exp(x)\n", LEAF).text


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("jacfwd ignores the no_grad block of my model", "forward-mode"),
        ("I take jacfwd of my model.", None),
        ("Residual block with ReLU(inplace=True)?", "in-place-shortcut"),
        ("The residual block is fine?", None),
        ("The loss is low (e.g. 0.2), but x does not change.", "nothing-learns"),
    ],
)
def test_what_is_asked_of_modes_and_shortcuts(words: str, entry: str | None) -> None:
    assert asked(f"# {words}\n").asked == entry


def test_a_message_is_known_without_its_backticks() -> None:
    flags = (
        "ValueError: Must flatten tensors with uniform {0}requires_grad{0} when "
        "{0}use_orig_params=False{0}"
    )
    for mark in ("`", ""):
        assert "wrapped together" in first("x = 1\n", flags.format(mark)).text


def test_what_cannot_retain_a_gradient_has_no_graph() -> None:
    error = "RuntimeError: can't retain_grad on Tensor that has requires_grad=False"
    assert first("means.retain_grad()\n", error).text.startswith("`means.retain_grad` is called on")


def test_a_penalty_comes_before_the_words_of_its_title() -> None:
    words = "Backward twice when I use wgan-gp\n\nIt fails with wgan-gp as my critic.\n"
    assert "samples from `fake.detach()`" in first("x = 1\n", AGAIN, words).text


def test_deepspeed_s_message_is_known_by_its_words() -> None:
    shown = asked("# Gradient computed twice with ptx\n\nrun.py --zero_stage 2 \\\n  --bf16\n")
    assert shown.traceback is not None
    assert shown.traceback.kind == "reduced-twice"
    assert "ZeRO stage 2" in shown.hints[0].text


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("", "no line that was sent reads a gradient"),
        ("print(angle.grad)\n", "was rebuilt from numbers"),
        ("opt.step()\n", "was rebuilt from numbers"),
    ],
)
def test_no_line_reads_a_gradient(lines: str, shown: str) -> None:
    code = "angle = torch.rand(3, requires_grad=True)\nsolve(angle, angle).sum().backward()\n"
    text = (
        asked(f"I get gradient None.\n\n```python\nimport torch\n{code}{lines}```\n").hints[0].text
    )
    assert shown in text


@pytest.mark.parametrize(
    ("held", "named"), [("batch.x", True), ("self.x", False), ("x", False), ("batch.x.y", False)]
)
def test_an_optimizer_is_given_what_a_loader_gave(held: str, named: bool) -> None:
    code = (
        f"optimizer = torch.optim.Adam([{held}])\nnet(batch).sum().backward()\noptimizer.step()\n"
    )
    text = (
        asked(f"The input does not change, nothing learns.\n\n```python\n{code}```\n").hints[0].text
    )
    assert ("no line that was sent makes it require a gradient" in text) == named


def test_a_class_that_was_cut_off_may_have_layers() -> None:
    head = "net = Refine()\nAdam(net.parameters())\n\nclass Refine(nn.Module):\n"
    text = "The network is not updating.\n\n```python\n{}    {}\n```\n"
    cut = asked(text.format(head, '"""Moves vertices."""'))
    assert "makes no layer" not in cut.hints[0].text
    whole = asked(text.format(head, "def forward(self, x):\n        return x"))
    assert "makes no layer" in whole.hints[0].text


@pytest.mark.parametrize(
    ("line", "named"),
    [("print(seed.grad)", True), ("print(net.weight.grad)", False), ("seed.sum()", True)],
)
def test_a_moved_leaf_matters_where_its_gradient_is_read(line: str, named: bool) -> None:
    code = f"seed = torch.rand(2, requires_grad=True).to('cuda')\nnet(seed).backward()\n{line}\n"
    text = asked(f"The network is not updating.\n\n```python\n{code}```\n").hints[0].text
    assert ("is moved after it became a leaf" in text) == named


def test_adapters_that_are_sharded() -> None:
    text = asked(
        "# FSDP blocks LoRA gradient flow\n\nOnly the first layer has a gradient.\n"
    ).hints[0]
    assert "`use_orig_params=True`" in text.text
