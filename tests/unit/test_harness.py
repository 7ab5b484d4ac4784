"""What a text leaves out: found by reading, decided by its use, mended by complaints."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from sandbox.inside.harness import roles, shapes
from sandbox.inside.harness.absent import modules_named, without_absent
from sandbox.inside.harness.entries import (
    calls_backward_outside_loops,
    is_method,
    keyed_by_rest,
    unmade,
    without_quoted,
)
from sandbox.inside.harness.families import kind_of
from sandbox.inside.harness.kinds import of_another_kind
from sandbox.inside.harness.lineage import remembered
from sandbox.inside.harness.methods import fits
from sandbox.inside.harness.ordering import defined_ahead
from sandbox.inside.harness.plan import ValuePlan
from sandbox.inside.harness.reading import Uses
from sandbox.inside.harness.reports import report_of, without_reports
from sandbox.inside.harness.size_messages import Failure
from sandbox.inside.harness.trial import HarnessTrial
from sandbox.inside.stubs import sizes
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


def test_of_two_with_as_many_rows_the_one_with_more_dimensions_has_too_many() -> None:
    answers, kept = torch.rand(12), torch.rand(12, 8)
    kept._came_of = "data labels"  # type: ignore[attr-defined]
    sizes.made["data labels"] = [4, 8]
    try:
        failure = Failure(
            RuntimeError("The size of tensor a (12) must match the size of tensor b (8)"),
            "__eq__",
            (answers, kept),
        )
        assert next(shapes.refitted(ValuePlan(), failure)).shapes == {"data labels": [4]}
    finally:
        sizes.made.clear()


def test_any_item_reports_what_one_of_them_is() -> None:
    text = "for word in order:\n    self.opts[word].zero_grad()\n    self.opts[word].step()\n"
    uses = Uses(ast.parse(text))
    assert roles.role("self.opts", uses, ValuePlan()) == "holder"
    assert roles.role("self.opts['judge']", uses, ValuePlan()) == "optimizer"
    assert (
        roles.role("self.opts['judge']", uses, ValuePlan().with_kind("self.opts[]", "loss"))
        == "loss"
    )


def test_what_is_gone_through_by_words_has_items() -> None:
    found = roles_in("for name, loss in parts.items():\n    loss.backward()\n")
    assert (found["parts"], found["parts[]"]) == ("holder", "loss")
    assert roles_in("level = {name: 0 for name in names}\n")["names"] == "words"


def test_a_method_that_no_tensor_has_makes_it_none() -> None:
    assert roles_in("board.add(3)\nboard.shown()\n")["board"] == "holder"
    assert roles_in("x.add(3)\n")["x"] == "tensor"


def test_a_value_that_was_synthesized_elsewhere_is_changed_where_it_fails() -> None:
    uses = Uses(ast.parse("h = net.begin(track.boats)\n"))
    said = (
        "full(): argument 'size' must be tuple of ints, but found element of type Tensor at pos 0"
    )
    plan = ValuePlan().with_kind("track.boats", "tensor")
    assert not [*of_another_kind(ValuePlan(), uses, failed_at(7), said)]
    assert not [*of_another_kind(plan, uses, failed_at(7, "track.boats"), said)]  # it was decided
    uses.of["track.boats"].data = True
    (made,) = of_another_kind(ValuePlan(), uses, failed_at(7, "track.boats"), said)
    assert made.kinds == {"track.boats": "count"}


def test_a_walk_outside_of_every_loop_is_the_body_of_one() -> None:
    part = (
        "def f(loss):\n    for _ in x:\n        loss.backward()\nloss = net(x)\nloss.backward()\n"
    )
    assert calls_backward_outside_loops(ast.parse(part))
    assert not calls_backward_outside_loops(ast.parse("for x in loader:\n    net(x).backward()\n"))
    assert not calls_backward_outside_loops(ast.parse("def f(loss):\n    loss.backward()\n"))


def test_arguments_that_are_the_keys_of_something() -> None:
    def keyed(body: str) -> bool:
        (node,) = ast.parse(f"def f(self, *names):\n    {body}\n").body
        assert isinstance(node, ast.FunctionDef)
        return keyed_by_rest(node)

    assert keyed("self.sums = {n: 0.0 for n in names}")
    assert keyed("for n in names: self.sums[n] = 0.0")
    assert not keyed("self.layers = [build(n) for n in names]")


def test_what_is_run_backward_and_does_not_learn_is_of_a_parameter() -> None:
    heat, batch = made("self.heat", 4), made("loader[]", 4)
    said = "element 0 of tensors does not require grad and does not have a grad_fn"
    loss = remembered((heat * batch).sum(), (heat, batch))
    failure = Failure(RuntimeError(said), "backward", (loss,))
    assert [plan.kinds for plan in shapes.refitted(ValuePlan(), failure)] == [{"self.heat": "leaf"}]


def test_a_loop_over_pairs_does_the_same_to_the_parts_of_each() -> None:
    text = (
        "for opt, loss in ((a_opt, one), (b_opt, two)):\n    opt.zero_grad()\n    loss.backward()\n"
    )
    found = roles_in(text)
    assert (found["a_opt"], found["b_opt"]) == ("optimizer", "optimizer")
    assert (found["one"], found["two"]) == ("loss", "loss")


@pytest.mark.parametrize(
    ("call", "fitting"),
    [
        ("x.add(y, alpha=2)", True),
        ("x.sum(dim=1, keepdim=True)", True),
        ("x.view(2, 3, 4)", True),
        ("x.nobody_knows(1, 2)", True),
        ("x.add(loss=y)", False),
        ("x.softmax(a, b, c, d)", False),
    ],
)
def test_whether_a_call_could_be_that_of_a_tensor(call: str, fitting: bool) -> None:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert fits(node) is fitting


def test_what_takes_words_that_no_tensor_takes_is_none() -> None:
    assert roles_in("log.add(q=one, p=two)\n")["log"] == "holder"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("x = torch.tensor(rows.values)\n", "rows"),
        ("x = torch.tensor(rows['depth'].values)\n", "rows"),
        ("x = torch.tensor(rows.depth.values)\n", "rows"),
    ],
)
def test_what_tensors_are_made_of_the_values_of_is_a_table(text: str, path: str) -> None:
    assert roles_in(text)[path] == "table"


def test_values_of_a_mapping_are_no_table() -> None:
    assert roles_in("for part in parts.values():\n    part.step()\n")["parts"] != "table"


def test_a_matrix_takes_the_size_of_the_vector_it_meets() -> None:
    said = "size mismatch, got input (6), mat (6x8), vec (3)"
    failure = Failure(RuntimeError(said), "mv", (made("spread", 6, 8), torch.rand(3)))
    assert next(shapes.refitted(ValuePlan(), failure)).shapes == {"spread": [6, 3]}


def test_a_part_that_is_missing_from_a_package_of_the_project_is_absent(tmp_path: Path) -> None:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "net.py").write_text("WIDTH = 3\n")
    text = ast.parse("from seeds.net import WIDTH\nfrom seeds.data import Trays\n")
    rest = without_absent(text, [str(tmp_path)])
    assert rest is not None
    assert modules_named(rest) == ["seeds.net"]


def test_what_a_library_loads_goes_by_the_name_of_a_file() -> None:
    found = roles_in("net.load_state_dict(torch.load(args.ckpt))\nrows = pickle.load(kept)\n")
    assert found["args.ckpt"] == "file"
    assert found["kept"] != "file"


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("m = Meter()\nclass Meter: pass", [2, 1]),
        ("x = 1\nm = Meter()\nclass Meter(Base): pass\nclass Base: pass", [1, 4, 3, 2]),
        ("def run(): return Meter()\nrun()\nclass Meter: pass", [1, 3, 2]),
        ("def run(): return Meter()\nclass Meter: pass\nrun()", [1, 2, 3]),
        ("def show(meter: Meter): pass\nclass Meter: pass", [2, 1]),
        ("def f(): return 1\nf()\ndef f(): return 2", [1, 2, 3]),  # another of its name
    ],
)
def test_what_a_text_defines_behind_its_use_comes_in_front(text: str, order: list[int]) -> None:
    assert [node.lineno for node in defined_ahead(ast.parse(text)).body] == order
