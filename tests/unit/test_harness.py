"""What a script leaves out: found by static analysis, decided by its uses, corrected by errors."""

from __future__ import annotations

import ast

import pytest
import torch
from pydantic import ValidationError

from sandbox.inside.harness import roles, shapes
from sandbox.inside.harness.entries import (
    is_method,
    unmade,
    without_quoted,
)
from sandbox.inside.harness.families import kind_of
from sandbox.inside.harness.kinds import of_another_kind
from sandbox.inside.harness.plan import ValuePlan
from sandbox.inside.harness.reading import Uses
from sandbox.inside.harness.reports import report_of, without_reports
from sandbox.inside.harness.size_messages import Failure
from sandbox.inside.harness.trial import HarnessTrial
from sandbox.records import HarnessPlan as HarnessPlan

LOOP = """\
for epoch in range(n_epochs):
    for i, (x, y) in enumerate(loader):
        out, hidden = rnn(x.to(device), hidden)
        loss = criterion(out, y)
        optD.zero_grad()
        errD.backward()
        optD.step()
        total += loss.item()
"""


def roles_in(text: str) -> dict[str, str]:
    uses = Uses(ast.parse(text))
    return {path: roles.role(path, uses, ValuePlan()) for path in uses.of}


def test_use_and_name_say_what_a_value_is() -> None:
    found = roles_in(LOOP)
    expected = {
        "n_epochs": "number",
        "loader": "batches",
        "loader[][0]": "tensor",
        "rnn": "module",
        "device": "device",
        "criterion": "criterion",
        "optD": "optimizer",
        "errD": "loss",
        "total": "zero",
    }
    assert {path: found[path] for path in expected} == expected


def test_names_bound_by_the_text_are_none_of_ours() -> None:
    uses = Uses(ast.parse("x = 3\ny = [z for z in range(x)]\ndef f(a):\n    return a + x\n"))
    assert set(uses.of) == {"f.a"}


def test_a_value_keeps_its_path_under_other_names() -> None:
    text = "class T:\n    def __init__(self, net):\n        self.net = net\n    def go(self, b):\n"
    text += "        u, v = b\n        self.loss(u)\n    def loss(self, w):\n        self.net(w)\n"
    uses = Uses(ast.parse(text))
    assert uses.of["T.__init__.net"].called
    assert uses.of["T.go.b"].parts == 2
    assert uses.of["T.go.b[0]"].data


def made(path: str, *shape: int) -> torch.Tensor:
    tensor = torch.rand(shape)
    tensor._made_for = path  # type: ignore[attr-defined]
    return tensor


def mended(function: torch.nn.Module, *given: torch.Tensor) -> ValuePlan | None:
    try:
        function(*given)
    except Exception as error:
        return next(shapes.refitted(ValuePlan(), Failure(error, "", given)), None)
    return None


@pytest.mark.parametrize(
    ("layer", "wanted"),
    [
        (torch.nn.Linear(6, 2), 6),
        (torch.nn.Conv2d(3, 2, 3), 3),
        (torch.nn.BatchNorm2d(5), 5),
        (torch.nn.LSTM(7, 2), 7),
        (torch.nn.LayerNorm(9), 9),
    ],
)
def test_a_layer_of_torch_says_what_it_takes(layer: torch.nn.Module, wanted: int) -> None:
    plan = mended(layer, made("x", 4, 8))
    assert plan is not None
    assert wanted in plan.shapes["x"]
    layer(torch.rand(plan.shapes["x"]))


def test_labels_become_whole_numbers_within_the_classes() -> None:
    plan = mended(torch.nn.CrossEntropyLoss(), torch.rand(4, 3), made("y", 5, 8))
    assert plan is not None
    given = (torch.rand(4, 3), made("y", 4, 8))
    failure = Failure(RuntimeError("expected scalar type Long but found Float"), "", given)
    plan = next(shapes.refitted(ValuePlan(), failure), None)
    assert plan is not None
    assert plan.whole == {"y": 2}


def test_a_complaint_of_python_changes_what_a_value_is() -> None:
    uses = Uses(ast.parse("for layer in net.layers:\n    net(x)\n    encoder[0] = 1\n"))
    plans = of_another_kind(ValuePlan(), uses, failed_at(3), "'Model' object is not subscriptable")
    assert [plan.kinds for plan in plans] == [{"encoder": "tensor"}]
    assert not [*of_another_kind(ValuePlan(), uses, failed_at(1), "no complaint that we know")]


def test_a_complaint_within_a_function_changes_what_its_caller_gives() -> None:
    text = "class M:\n    def adapt(self, goals):\n        mse(y, goals)\nm.adapt(grid.loads[:4])\n"
    uses = Uses(ast.parse(text))
    said, inner = "'list' object has no attribute 'size'", failed_at(3)
    assert not [*of_another_kind(ValuePlan(), uses, inner, said)]
    inner.callers = [(4, 4)]
    plans = of_another_kind(ValuePlan(), uses, inner, said)
    assert [plan.kinds for plan in plans] == [{"grid.loads": "tensor"}]


def failed_at(line: int, *held: str) -> HarnessTrial:
    """A run that ended on a line."""
    trial = HarnessTrial()
    trial.lines, trial.held = (line, line), held
    return trial


@pytest.mark.parametrize(
    ("line", "reports"),
    [
        ("log(step, loss.item(), net.rates['out'].mean())", True),
        ("print('loss', loss.item())", True),
        ("self.writer.add_scalar('loss', loss, step)", True),
        ("print(opt.step())", False),
        ("logits.clamp_(-1, 1)", False),
        ("dialog(loss)", False),
        ("print(total := total + loss)", False),
        ("opt.step()", False),
        ("losses.append(loss)", False),
        ("shown = report(loss)", False),
    ],
)
def test_what_only_reports_may_be_left_out(line: str, *, reports: bool) -> None:
    tree = ast.parse(f"for step in steps:\n    {line}\n    opt.step()\n")
    loop = tree.body[0]
    assert isinstance(loop, ast.For)
    text = report_of(loop.body[0])
    assert bool(text) == reports
    left = ast.unparse(without_reports(tree, [text]))
    assert left == ast.unparse(tree).replace(text, "pass") if reports else ast.unparse(tree)


def test_errors_are_distinguished_in_the_wordings_of_all_versions() -> None:
    old = "Trying to backward through the graph a second time, but buffers have already been freed"
    assert kind_of(old) == ("reuse", "graph-reuse")
    assert kind_of("a view of a leaf Variable that requires grad is being used") == ("", "")
    assert (
        kind_of("output 0 of UnbindBackward is a view and is being modified inplace")[0] == "view"
    )
    assert kind_of("Can't call numpy() on Tensor that requires grad.")[0] == "numpy"
    assert kind_of("CUDA out of memory") == ("", "")


def test_a_plan_goes_out_and_comes_back_bounded() -> None:
    plan = ValuePlan().with_shape("x", [4, 8]).with_whole("y", 3).with_kind("z", "tensor")
    reported = HarnessPlan.model_validate(plan.to_json())
    assert ValuePlan.from_json(reported.model_dump()) == plan
    with pytest.raises(ValidationError):
        HarnessPlan.model_validate({"shapes": {"x": [1] * 9}})
    with pytest.raises(ValidationError):
        HarnessPlan.model_validate({"shapes": {"x": [-1]}})
    with pytest.raises(ValidationError):
        HarnessPlan.model_validate({"data": "spell"})


def test_a_cell_and_its_state_agree_on_the_batch() -> None:
    cell, state = torch.nn.GRUCell(8, 20), torch.zeros(1, 20)
    given = made("x", 4, 8)
    try:
        cell(given, state)
    except RuntimeError as error:
        failure = Failure(error, "gru_cell", (given, state))
    plans = [plan.shapes["x"] for plan in shapes.refitted(ValuePlan(), failure)]
    assert [1, 8] in plans


def test_classes_that_a_text_makes_no_object_of() -> None:
    text = "class Part(nn.Module): pass\nclass Net(Base):\n    def __init__(self):\n"
    text += "        self.part = Part()\nclass Base: pass\nnet(x)\n"
    assert [node.name for node in unmade(ast.parse(text))] == ["Net"]


def test_methods_without_their_class_know_each_other() -> None:
    text = "def loss_of(self, batch):\n    return self.net(batch)\n"
    text += "def step(self, data):\n    self.loss_of(data).backward()\n"
    uses = Uses(ast.parse(text))
    assert uses.of["step.data"].given_to == {"loss_of", "net"}
    assert "step.data" in uses.of
    assert all(is_method(node) for node in ast.parse(text).body)


def test_a_loop_over_some_names_does_the_same_to_each() -> None:
    uses = Uses(ast.parse("for part in (first, second):\n    part.restart()\n"))
    assert uses.of["first"].methods == {"restart"} == uses.of["second"].methods


def test_the_line_that_failed_is_no_part_of_what_follows() -> None:
    quoted = without_quoted(ast.parse("loss.backward()\ndef f(x):\n    return x\n"))
    assert [type(node) for node in quoted.body] == [ast.FunctionDef]
    trained = "def f(x):\n    return x\nloss = f(x)\nloss.backward()\n"
    assert len(without_quoted(ast.parse(trained)).body) == 3
