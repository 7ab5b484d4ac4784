"""Tracebacks as people paste them: every shape gives the same error, line and frames."""

from __future__ import annotations

import pytest

from analyzers.tracebacks import parse

SECOND = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed)."
)
PLAIN = f"""Traceback (most recent call last):
  File "train.py", line 41, in <module>
    main()
  File "train.py", line 30, in main
    loss.backward()
  File "/usr/lib/python3.11/site-packages/torch/_tensor.py", line 630, in backward
    torch.autograd.backward(
    ^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: {SECOND}
"""


def prefixed(prefix: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in PLAIN.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        prefixed("[rank0]: "),
        prefixed("[default3]:"),
        prefixed("2024-05-01 12:00:00,123 - trainer - ERROR - "),
        prefixed("2024-05-01T12:00:00.123456Z "),
        prefixed("> "),
        prefixed("(pid=4012) "),
        "2024-05-01 12:00:00,123 ERROR run failed\n" + PLAIN,
        "Hello, my LSTM fails, please help:\n```\n" + PLAIN + "```\nAny idea? Thanks!\n",
        PLAIN.replace("train.py", "C:\\Users\\me\\proj\\train.py"),
        PLAIN.replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;"),
        "\x1b[31m" + PLAIN.replace("File", "\x1b[1;32mFile\x1b[0m") + "\x1b[0m",
        PLAIN.partition("\n")[2],
    ],
)
def test_plain_tracebacks_in_all_wrappings(text: str) -> None:
    parsed = parse(text)
    assert (parsed.exception, parsed.family) == ("RuntimeError", "graph-reuse")
    assert parsed.message.startswith("Trying to backward")
    assert parsed.location is not None
    assert parsed.location.file.endswith("train.py")
    assert (parsed.location.line, parsed.location.code) == (30, "loss.backward()")
    assert [frame.is_library for frame in parsed.frames] == [False, False, True]
    assert [frame.function for frame in parsed.frames] == ["<module>", "main", "backward"]


OLD_COLAB = """\
\x1b[0;31m---------------------------------------------------------------------------\x1b[0m
\x1b[0;31mRuntimeError\x1b[0m                              Traceback (most recent call last)
\x1b[0;32m<ipython-input-7-3f1a2b4c5d6e>\x1b[0m in \x1b[0;36m<module>\x1b[0;34m()\x1b[0m
\x1b[1;32m      4\x1b[0m     out, h = model(x, h)
\x1b[1;32m      5\x1b[0m     loss = criterion(out, y)
\x1b[0;32m----> 6\x1b[0;31m     loss.backward()\x1b[0m
\x1b[1;32m      7\x1b[0m     opt.step()

\x1b[0;32m/usr/local/lib/python3.6/dist-packages/torch/tensor.py\x1b[0m in backward(self, gradient)
    116                 products. Defaults to ``False``.
--> 118         torch.autograd.backward(self, gradient, retain_graph, create_graph)

RuntimeError: Trying to backward through the graph a second time, but the buffers have already \
been freed. Specify retain_graph=True when calling backward the first time.
"""
NEW_IPYTHON = """\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[12], line 6
      4     out, h = model(x, h)
      5     loss = criterion(out, y)
----> 6     loss.backward()
      7     opt.step()

File ~/env/lib/python3.11/site-packages/torch/_tensor.py:521, in Tensor.backward(self, gradient)
    519 if has_torch_function_unary(self):
--> 521 torch.autograd.backward(
    522     self, gradient, retain_graph, create_graph, inputs=inputs
    523 )

RuntimeError: Trying to backward through the graph a second time (or directly access saved \
tensors after they have already been freed).
"""
INPUT_IN = """\
Input In [3], in <cell line: 6>()
      5     loss = criterion(out, y)
----> 6     loss.backward()

RuntimeError: Trying to backward through the graph a second time, but the saved intermediate \
results have already been freed.
"""


@pytest.mark.parametrize(("text", "cell"), [(OLD_COLAB, 7), (NEW_IPYTHON, 12), (INPUT_IN, 3)])
def test_notebook_tracebacks(text: str, cell: int) -> None:
    parsed = parse(text)
    assert (parsed.exception, parsed.family) == ("RuntimeError", "graph-reuse")
    assert parsed.location is not None
    assert (parsed.location.cell, parsed.location.line) == (cell, 6)
    assert parsed.location.code == "loss.backward()"


def test_anomaly_mode_names_the_forward_line() -> None:
    text = """\
/site-packages/torch/autograd/__init__.py:266: UserWarning: Error detected in MulBackward0. \
Traceback of forward call that caused the error:
  File "train.py", line 9, in <module>
    out = step(w)
  File "train.py", line 4, in step
    return w * scale
 (Triggered internally at ../torch/csrc/autograd/python_anomaly_mode.cpp:118.)
  Variable._execution_engine.run_backward(
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    out.sum().backward()
RuntimeError: one of the variables needed for gradient computation has been modified by an \
inplace operation: [torch.cuda.FloatTensor [16]] is at version 2; expected version 1 instead.
"""
    parsed = parse(text)
    assert parsed.family == "inplace"
    assert parsed.forward_op == "MulBackward0"
    assert parsed.forward is not None
    assert (parsed.forward.line, parsed.forward.code) == (4, "return w * scale")
    assert parsed.location is not None
    assert parsed.location.line == 12


def test_a_chain_is_taken_apart_and_the_known_error_wins() -> None:
    text = (
        PLAIN
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + 'Traceback (most recent call last):\n  File "train.py", line 50, in <module>\n'
        + "    cleanup()\nValueError: bad state\n"
    )
    parsed = parse(text)
    assert parsed.exception == "RuntimeError"


@pytest.mark.parametrize(
    ("message", "family", "hint"),
    [
        ("RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
         "inplace", "leaf"),
        ("RuntimeError: Output 0 of UnbindBackward0 is a view and is being modified inplace. This "
         "view is the output of a function that returns multiple views.", "inplace",
         "view"),
        ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
         "no-grad", "detached"),
        ("RuntimeError: grad can be implicitly created only for scalar outputs", "no-grad",
         "non-scalar"),
        ("RuntimeError: One of the differentiated Tensors appears to not have been used in the "
         "graph. Set allow_unused=True if this is the desired behavior.", "no-grad",
         "unused"),
        ("RuntimeError: Can't call numpy() on Tensor that requires grad. Use "
         "tensor.detach().numpy() instead.", "no-grad", "numpy"),
        ("RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the "
         "deepcopy protocol at the moment.", "no-grad", "deepcopy"),
        ("AttributeError: 'float' object has no attribute 'backward'", "no-grad",
         "detached"),
        ("KeyError: 'loss'", "other", None),
    ],
)  # fmt: skip
def test_messages_without_frames(message: str, family: str, hint: str | None) -> None:
    parsed = parse(message)
    assert (parsed.family, parsed.kind) == (family, hint)


def test_a_missing_gradient_is_known_by_its_line() -> None:
    text = (
        'Traceback (most recent call last):\n  File "fit.py", line 8, in <module>\n'
        "    w = w - lr * w.grad\n"
        "TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'\n"
    )
    assert parse(text).kind == "rebound"
    assert parse(text.replace("w.grad", "w.momentum")).family == "other"


def test_an_engine_of_ones_own_is_recognised_by_where_it_raised() -> None:
    text = (
        'Traceback (most recent call last):\n  File "rnn.py", line 90, in <module>\n'
        '    loss.backward()\n  File "rnn.py", line 31, in backward\n'
        '    raise Exception("cannot backpropagate more than once")\n'
        "Exception: cannot backpropagate more than once\n"
    )
    assert parse(text).family == "engine"


def test_closures_of_lbfgs_are_seen_in_the_frames() -> None:
    text = PLAIN.replace(
        '  File "train.py", line 30, in main',
        '  File "/x/site-packages/torch/optim/lbfgs.py", line 330, in step\n    orig = closure()\n'
        '  File "train.py", line 30, in closure',
    )
    assert parse(text).kind == "closure"
