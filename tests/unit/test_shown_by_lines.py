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
