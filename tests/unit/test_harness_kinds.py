"""What the uses of a value in a script without its surroundings say of its kind."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

from sandbox.inside.harness import roles, shapes
from sandbox.inside.harness.absent import modules_named, without_absent
from sandbox.inside.harness.entries import (
    calls_backward_outside_loops,
    keyed_by_rest,
)
from sandbox.inside.harness.kinds import of_another_kind
from sandbox.inside.harness.lineage import remembered
from sandbox.inside.harness.methods import fits
from sandbox.inside.harness.ordering import defined_ahead
from sandbox.inside.harness.plan import ValuePlan
from sandbox.inside.harness.reading import Uses
from sandbox.inside.harness.size_messages import Failure
from sandbox.inside.stubs import sizes
from sandbox.records import HarnessPlan as HarnessPlan
from tests.unit.test_harness import failed_at, made, roles_in


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


def test_the_keyword_of_a_call_says_what_it_gets() -> None:
    found = roles_in("low = smoothness(judge(page), lambda_gp=self.L_SM, seen=self.much)\n")
    assert (found["self.L_SM"], found["self.much"]) == ("number", "tensor")
    kernels = roles_in("low = conv2d(page, weight=self.taps, bias=self.rest)\n")
    assert (kernels["self.taps"], kernels["self.rest"]) == ("tensor", "tensor")


@pytest.mark.parametrize(
    ("path", "observed"),
    [
        *(("self.real_A", True), ("labels", True), ("x_real", True), ("loader[]", True)),
        *(("self.fake_A", False), ("real_features", False), ("unreal", False)),
    ],
)
def test_data_by_its_name_has_no_graph(path: str, *, observed: bool) -> None:
    assert roles.is_observed(path) == observed


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
