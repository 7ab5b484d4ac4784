"""A traceback alone gives a cause, its line, and an honest confidence; never a patch."""

from __future__ import annotations

import pytest

from analyzers.explain.pattern import patterns
from analyzers.request.causes import RankedCause, classify
from analyzers.request.examine import examine
from analyzers.source.project import Project

LIBRARY = '  File "/opt/lib/python3.11/site-packages/torch/_tensor.py", line 525, in backward\n'
STACK = f"""Traceback (most recent call last):
  File "fit.py", line 52, in <module>
    main(config)
  File "fit.py", line 44, in main
    {{code}}
{LIBRARY}    torch.autograd.backward(
RuntimeError: {{message}}
"""
FREED = "Trying to backward through the graph a second time (or directly access saved tensors)."


def causes(traceback: str) -> list[RankedCause]:
    read = examine("", "train.py", {}, traceback)
    assert read.recalled
    project = Project(read.files, read.entry, recalled=True)
    return classify(project, read.reading.evidence)


@pytest.mark.parametrize(
    ("code", "message", "family"),
    [
        ("objective.backward()", FREED, "graph-reuse"),
        (
            "objective.backward()",
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation: [torch.FloatTensor [7, 1]], which is output 0 of AsStridedBackward0, is at "
            "version 3; expected version 2 instead.",
            "inplace",
        ),
        (
            "rate -= 0.1 * rate.grad",
            "a leaf Variable that requires grad is being used in an in-place operation.",
            "inplace",
        ),
        (
            "objective.backward()",
            "element 0 of tensors does not require grad and does not have a grad_fn",
            "no-grad",
        ),
        (
            "shown.append(curve.numpy())",
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
            "no-grad",
        ),
    ],
)
def test_the_innermost_own_frame_is_the_place(code: str, message: str, family: str) -> None:
    found = causes(STACK.format(code=code, message=message))
    assert found
    best = found[0]
    assert family == patterns()[best.pattern].FAMILY
    assert (best.location.file, best.location.line, best.code) == ("fit.py", 44, code)
    assert 0 < best.confidence <= 0.4
    assert "Only a traceback was sent" in best.explanation
    assert all(not cause.candidates for cause in found)


def test_anomaly_mode_names_the_carrier() -> None:
    forward = """[W] Warning: Error detected in AddmmBackward0. Traceback of forward call that \
caused the error:
  File "fit.py", line 52, in <module>
    main(config)
  File "fit.py", line 41, in main
    y, memory = net(x, memory)
  File "/opt/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1501, in _call_impl
    return forward_call(*args, **kwargs)
 (Triggered internally at python_anomaly_mode.cpp:110.)
"""
    best = causes(forward + STACK.format(code="loss.backward()", message=FREED))[0]
    assert best.carrier is not None
    assert best.carrier.name == "memory"


def test_a_cell_is_named_as_the_notebook_does() -> None:
    text = f"""---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[7], line 3
      1 optimizer.zero_grad()
      2 
----> 3 loss.backward()
      4 optimizer.step()

RuntimeError: {FREED}
"""
    read = examine("", "train.py", {}, text)
    assert read.cells == {3: "cell 7, line 3"}
    assert read.files["train.py"].splitlines()[2] == "loss.backward()"


def test_an_error_of_another_kind_gives_no_cause() -> None:
    assert causes(STACK.format(code="loss.backward()", message="CUDA out of memory.")) == []


def test_lines_that_no_file_can_have_are_left_out() -> None:
    far = STACK.replace("line 44", "line 999999999").format(code="loss.backward()", message=FREED)
    read = examine("", "train.py", {}, far)
    assert sum(map(len, read.files.values())) < 1000


@pytest.mark.parametrize(
    ("code", "error", "pattern", "name"),
    [
        (
            "theta = theta - rate * theta.grad",
            "TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'",
            "leaf-rebound",
            "theta",
        ),
        (
            "bias.mul_(0.5)",
            "RuntimeError: a leaf Variable that requires grad is being used in an in-place "
            "operation.",
            "inplace-leaf",
            "bias",
        ),
        (
            "curve.append(energy.numpy())",
            "RuntimeError: Can't call numpy() on Tensor that requires grad. Use "
            "tensor.detach().numpy() instead.",
            "numpy-on-grad",
            "energy",
        ),
    ],
)
def test_the_line_names_what_was_asked_for(code: str, error: str, pattern: str, name: str) -> None:
    frame = f'  File "fit.py", line 9, in fit\n    {code}\n'
    cause = causes(f"Traceback (most recent call last):\n{frame}{error}\n")[0]
    assert cause.pattern == pattern
    assert cause.carrier is not None
    assert cause.carrier.name == name
