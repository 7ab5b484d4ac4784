"""What lines, printed values, messages and frames show where the words ask in general."""

from __future__ import annotations

import ast

import pytest

from analyzers.advice.iterations import carried
from analyzers.advice.layers import layer_made_in_forward
from analyzers.request.examine import examine
from analyzers.source.project import Module


def answered(text: str) -> tuple[str | None, str]:
    """Return the question that is answered, and the first hint."""
    found = examine(text, "train.py", {}, "")
    return found.asked, found.hints[0].text if found.hints else ""


FORWARD = """\
class Head(Module):
    def forward(self, x):
        layer = {made}
        {use}
"""
MADE = {
    "a layer": FORWARD.format(made="nn.Linear(8, 2).cuda()", use="return layer(x)"),
    "one of one's own": FORWARD.format(made="GraphPooling(x.size(1))", use="return layer(x, e)"),
}
NOT_MADE = {
    "an activation": FORWARD.format(made="nn.LeakyReLU(0.1)", use="return layer(x)"),
    "a loss": FORWARD.format(made="nn.CrossEntropyLoss(reduction='sum')", use="return layer(x, y)"),
    "a pooling": FORWARD.format(made="nn.MaxPool2d(2)", use="return layer(x)"),
    "a filter": FORWARD.format(
        made="nn.Conv2d(1, 1, 3)", use="layer.weight.data = self.kernel; return layer(x)"
    ),
    "kept": FORWARD.format(made="nn.Linear(8, 2)", use="self.layer = layer"),
    "in the constructor": FORWARD.format(made="nn.Linear(8, 2)", use="self.out = layer(x)").replace(
        "forward", "__init__"
    ),
}


def _layers(text: str) -> list[str]:
    module = Module("train.py", text)
    return [name for node in ast.walk(module.tree) if (name := layer_made_in_forward(node, module))]


@pytest.mark.parametrize("kind", MADE)
def test_a_layer_that_each_forward_makes_is_found(kind: str) -> None:
    assert _layers(MADE[kind])
    asked, hint = answered(f"The weights of my head do not change, why?\n\n```\n{MADE[kind]}```\n")
    assert asked == "nothing-learns"
    assert "is made again with random weights" in hint


@pytest.mark.parametrize("kind", NOT_MADE)
def test_what_a_forward_may_make_is_none(kind: str) -> None:
    assert not _layers(NOT_MADE[kind])


PRINTED = "My model is not learning\n\nEpoch 0: step 4 {printed} loss=10.90\nEpoch 0: step 5\n"


@pytest.mark.parametrize("printed", ["lr=[0.0]", "lr: 0.000", "'learning_rate': 0", "lr 0e+00"])
def test_a_learning_rate_of_zero_that_is_printed_is_the_cause(printed: str) -> None:
    assert "the learning rate that is printed is 0" in answered(PRINTED.format(printed=printed))[1]


@pytest.mark.parametrize("printed", ["lr=[0.01]", "lr: 0.0001", "'learning_rate': 0.5", "lr 5e-05"])
def test_another_rate_is_none(printed: str) -> None:
    assert "learning rate that is printed" not in answered(PRINTED.format(printed=printed))[1]


FRAMES = """\
{title}

Traceback (most recent call last):
  File "/data/train.py", line 9, in <module>
    main()
  File "/opt/lib/python3.10/site-packages/{path}", line 588, in wrap
    handle = wrapped(
"""


def test_frames_name_the_library_that_a_title_leaves_out() -> None:
    title = "Partial freezing during training"
    sharded = FRAMES.format(title=title, path="torch/distributed/fsdp/_flat_param.py")
    assert answered(sharded)[0] == "fsdp-flags"
    assert answered(FRAMES.format(title=title, path="other/wrap.py"))[0] != "fsdp-flags"


def test_a_failed_assertion_asks_what_it_says() -> None:
    raised = (
        'Traceback (most recent call last):\n  File "train.py", line 4, in step\n'
        "    self.{engine}.backward(loss)\nAssertionError: Linear(8, 2) has no grad\n"
    )
    asked, hint = answered("An error in my run\n\n" + raised.format(engine="deepspeed_engine"))
    assert asked == "sharded-gradient-read"
    assert "safe_get_full_grad" in hint
    others = "AssertionError: the file has no header\n"
    assert answered(f"An error in my run\n\n{others}")[0] is None


UNUSED = (
    "RuntimeError: Expected to have finished reduction in the prior iteration before starting a "
    "new one. This error indicates that your module has parameters that were not used in producing "
    "loss.\nParameters which did not receive grad for rank 1: {names}\n"
)


def test_parameters_that_a_message_names_are_named() -> None:
    named = answered(UNUSED.format(names="head.mask.bias, head.mask.weight, head.box.bias, a.b"))
    assert "`head.mask.bias, head.mask.weight, head.box.bias`" in named[1]
    assert "head." not in answered(UNUSED.format(names="12 13"))[1]


def test_words_name_a_compiler_behind_a_second_use() -> None:
    raised = "RuntimeError: Trying to backward through the graph a second time\n"
    frames = (
        'Traceback (most recent call last):\n  File "a.py", line 9, in <module>\n    y.backward()\n'
    )
    found = examine(f"Error on a compiled chunk operation\n\n{frames}{raised}", "train.py", {}, "")
    assert found.from_traceback[0].pattern == "compiled-region"
    assert "A compiled region" in found.from_traceback[0].explanation
    source = f"Error; I compiled from source\n\n{frames}{raised}"
    others = examine(source, "train.py", {}, "").from_traceback
    assert "compiled-region" not in [cause.pattern for cause in others]


SCOPE = (
    "with torch.{mode}():\n    feats, extra = encoder(x)\n"
    "feats.requires_grad_()\nloss = head(feats)\n"
)


def test_the_flag_of_a_value_without_a_graph_connects_nothing() -> None:
    words = "Why do you set requires_grad on the output of the encoder?"
    asked, hint = answered(f"{words}\n\n```\n{SCOPE.format(mode='no_grad')}```\n")
    assert asked == "flag-on-output"
    assert "`feats` comes out of a part that recorded nothing" in hint
    recorded = answered(f"{words}\n\n```\n{SCOPE.format(mode='enable_grad')}```\n")
    assert "recorded nothing" not in recorded[1]


def test_sums_by_numpy_of_tensors_stay_in_torch() -> None:
    raised = "RuntimeError: Can't call numpy() on Tensor that requires grad.\n"
    line = '  File "m.py", line 5, in forward\n    total = np.{name}(parts, 0)\n'
    head = "Traceback (most recent call last):\n"
    assert "torch.stack" in answered(head + line.format(name="sum") + raised)[1]
    assert "torch.stack" not in answered(head + line.format(name="sort") + raised)[1]


PART = "{first}out, state = model(x, state)\noptimizer.zero_grad()\n{last}\n"


def _carried(text: str) -> list[str]:
    module = Module("train.py", text)
    return [name for node in ast.walk(module.tree) if (name := carried(node, module))]


def test_a_state_that_a_part_of_a_loop_reads_is_carried() -> None:
    assert _carried(PART.format(first="", last="loss.backward()")) == ["state"]
    assert not _carried(PART.format(first="state = None\n", last="loss.backward()"))
    assert not _carried(PART.format(first="", last="print(out)"))


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (
            "The GradScaler is used only for scaling the loss, not in the step",
            "scaled-and-not-stepped",
        ),
        ("GradScaler: optimizer.step() instead of scaler.step(), is that fine?", "scaled-and-not-"),
        (
            "Should the gradient of a discriminator in the generator step be detached?",
            "two-networks",
        ),
        (
            "TypeError: F.forward: expected Tensor or tuple of Tensor (got Out) for return value 2",
            "",
        ),
    ],
)
def test_a_question_is_answered(words: str, entry: str) -> None:
    asked, hint = answered(f"{words}\n")
    assert (asked or "").startswith(entry)
    assert hint


def test_what_is_left_out_of_a_block_does_not_end_it() -> None:
    code = "   while True:\n[...]\n        loss = model(x)\n[...]\n        loss.backward()\n[...]\n"
    found = examine(f"It grows in memory:\n\n```\n{code}```\n", "train.py", {}, "")
    (loop,) = ast.parse(found.project.files["train.py"]).body[:1]
    assert isinstance(loop, ast.While)
    assert [type(part) for part in loop.body] == [ast.Expr, ast.Assign, ast.Expr, ast.Expr]


CLASS = "class Net(nn.Module):\n    def __init__(self):\n        {made}\n{rest}"
NO_PARAMETERS = "ValueError: optimizer got an empty parameter list\n\n```\n{code}```\n"


def test_a_layer_under_a_local_name_is_no_attribute() -> None:
    rest = "    def forward(self, x):\n        return {name}(x)\n"
    lost = CLASS.format(made="self_fc = nn.Linear(2, 2)", rest=rest.format(name="self_fc"))
    assert "`self_fc` is a local name" in answered(NO_PARAMETERS.format(code=lost))[1]
    kept = CLASS.format(
        made="fc = nn.Linear(2, 2); self.net = nn.Sequential(fc)", rest=rest.format(name="self.net")
    )
    assert "local name" not in answered(NO_PARAMETERS.format(code=kept))[1]


def test_tensors_of_a_file_are_no_parameters() -> None:
    loaded = "saved = torch.load('w.pt')\n        self.weight1 = {value}"
    plain = CLASS.format(made=loaded.format(value="saved['a']"), rest="")
    assert "plain tensor" in answered(NO_PARAMETERS.format(code=plain))[1]
    wrapped = CLASS.format(made=loaded.format(value="nn.Parameter(saved['a'])"), rest="")
    assert "plain tensor" not in answered(NO_PARAMETERS.format(code=wrapped))[1]


def test_a_functional_derivative_has_a_graph_only_if_asked_for() -> None:
    code = "slope = torch.autograd.functional.jacobian(f, a{given})\n"
    words = "The grad_fn of the derivative is None, why?\n\n```\nimport torch\n{code}```\n"
    without = answered(words.format(code=code.format(given="")))[1]
    assert "without a graph unless it gets `create_graph=True`" in without
    asked = answered(words.format(code=code.format(given=", create_graph=True")))[1]
    assert "unless it gets" not in asked


def test_frames_name_data_parallelism() -> None:
    raised = "RuntimeError: grad can be implicitly created only for scalar outputs\n"
    frame = '  File "/opt/site-packages/torch/nn/parallel/{file}", line 9, in forward\n    f()\n'
    head = "Traceback (most recent call last):\n"
    assert "`DataParallel`" in answered(head + frame.format(file="data_parallel.py") + raised)[1]
    assert "The frames show" not in answered(head + frame.format(file="other.py") + raised)[1]


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("Is loss.backward() in validation training on the validation data?", "backward-in-valid"),
        ("What does randomness='different' do to my dropout?", "vmap-random"),
        ("torch.compile: a tensor created inside of it keeps no requires_grad", "leaf-made-in"),
    ],
)
def test_a_further_question_is_answered(words: str, entry: str) -> None:
    assert (answered(f"{words}\n")[0] or "").startswith(entry)


RULES = """\
class Gate({base}):
    {mark}
    def forward({first}, x):
        return x
class Task:
    def {step}(self):
        pass
"""


@pytest.mark.parametrize(
    ("message", "part"),
    [
        (
            "RuntimeError: Legacy autograd function with non-static forward method is deprecated",
            "`Gate` has instance methods",
        ),
        (
            "MisconfigurationException: In automatic_optimization, when `training_step` returns a "
            "dict, the 'loss' key needs to be present",
            "`training_step` must return the loss",
        ),
        (
            "MisconfigurationException: The closure hasn't been executed",
            "`optimizer_step` steps without the closure",
        ),
    ],
)
def test_lines_name_a_rule_of_functions_and_trainers(message: str, part: str) -> None:
    step = "optimizer_step" if "closure" in message else "training_step"
    code = RULES.format(base="torch.autograd.Function", mark="# plain", first="self", step=step)
    asked = f"```python\nimport torch\n{code}```\n\n```\n{message}\n```\n"
    assert part in answered(asked)[1]
    healthy = RULES.format(base="Base", mark="@staticmethod", first="ctx", step="other")
    assert part not in answered(asked.replace(code, healthy))[1]
