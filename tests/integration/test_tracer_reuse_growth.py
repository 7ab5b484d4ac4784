"""Graphs that grow or are kept, and engines written by hand, as second uses show them."""

from __future__ import annotations

import pytest

from tests.integration.test_tracer_reuse import RECURRENT
from tests.tracing import Tracing


def test_healthy_loop_reports_no_fault(traced: Tracing) -> None:
    trace = traced(
        """\
        import torch
        cell = torch.nn.GRUCell(3, 5)
        optimizer = torch.optim.Adam(cell.parameters())
        h = torch.zeros(2, 5)
        for _ in range(8):
            h = cell(torch.ones(2, 3), h.detach())
            optimizer.zero_grad()
            h.square().mean().backward()
            optimizer.step()
        """
    ).trace
    assert trace.ended is not None
    assert (trace.ended.reason, trace.ended.backwards, trace.ended.steps) == ("finished", 8, 8)
    assert (trace.reuse, trace.inplace, trace.missing, trace.silent) == (None, None, None, [])
    assert {call.reach for call in trace.backwards} == {0}
    assert len({call.nodes for call in trace.backwards}) == 1
    assert all(call.received == [0, 1, 2, 3] for call in trace.backwards)
    assert [p.name for p in trace.parameters] == [
        "cell.weight_ih", "cell.weight_hh", "cell.bias_ih", "cell.bias_hh",
    ]  # fmt: skip


def test_retained_growth_is_measured(traced: Tracing) -> None:
    trace = traced(
        RECURRENT.replace("backward()", "backward(retain_graph=True)").replace(
            "range(3)", "range(6)"
        )
    ).trace
    assert [call.reach for call in trace.backwards] == [0, 1, 2, 3, 4, 5]
    nodes = [call.nodes for call in trace.backwards]
    assert nodes == sorted(set(nodes))
    assert [fault.kind for fault in trace.silent] == ["reaching-back"]


def test_hand_written_engine(traced: Tracing) -> None:
    reuse = traced(
        """\
        class Num:
            def __init__(self, v, needs=False, made_of=()):
                self.v, self.needs, self.made_of = v, needs, made_of
                self.spent, self.slope = False, 0
            def backward(self, slope=1.0):
                if self.made_of and self.spent:
                    raise Exception("this was differentiated before")
                self.spent = True
                self.slope += slope
                for part, weight in zip(self.made_of, self.weights()):
                    part.backward(slope * weight)
            def weights(self):
                return [part.v for part in reversed(self.made_of)]
            def __mul__(self, other):
                return Num(self.v * other.v, True, (self, other))
        w = Num(0.5, True)
        state = Num(1.0)
        for _ in range(3):
            state = state * w
            score = state * Num(2.0)
            score.backward()
        """
    ).trace.reuse
    assert reuse is not None
    assert (reuse.engine, reuse.engine_class) == ("custom", "Num")
    assert (reuse.freed.iteration, reuse.reached.iteration) == (1, 2)
    assert reuse.reached.root == ("score",)
    assert reuse.stale_edges[0].holders[0].path == "state"
    assert reuse.stale_edges[0].old.at is not None
    assert reuse.stale_edges[0].old.at.line == 19


JUDGED = """\
import torch
maker, judge = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
opt_m = torch.optim.SGD(maker.parameters(), lr=0.1)
opt_j = torch.optim.SGD(judge.parameters(), lr=0.1)
made = maker(torch.randn(5, 2)).tanh()
for _ in range(2):
    opt_j.zero_grad()
    judge(made).mean().backward()
    STEP
"""


@pytest.mark.parametrize(
    ("step", "stepped"), [("opt_j.step()", False), ("opt_m.step()", True), ("pass", None)]
)
def test_a_step_may_have_changed_what_the_old_graph_leads_to(
    traced: Tracing, step: str, stepped: bool | None
) -> None:
    reuse = traced(JUDGED.replace("STEP", step)).trace.reuse
    assert reuse is not None
    assert [edge.stepped for edge in reuse.stale_edges] == [stepped]


def test_what_two_names_lead_to_is_reported_by_the_nearer_one(traced: Tracing) -> None:
    reuse = traced(
        """\
        import torch
        class Board:
            slots = None
        class Slot:
            state = None
        w = torch.ones(3, requires_grad=True)
        pair = ([{"near": 1}], [[Board()]])
        board = pair[1][0][0]
        board.slots = {"a": [Slot()]}
        board.slots["a"][0].state = w * w
        for _ in range(2):
            board.slots["a"][0].state.sum().backward()
        """
    ).trace.reuse
    assert reuse is not None
    assert [holder.path for holder in reuse.stale_edges[0].holders] == ["board.slots['a'][0].state"]


def test_a_leaf_that_goes_by_the_name_of_what_was_carried(traced: Tracing) -> None:
    script = """\
        import torch
        w = torch.ones(3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.1)
        GIVEN
        for _ in range(4):
            NAME.square().sum().backward()
            opt.step()
            NAME = NAME.clamp(min=0.5)
        """
    for given, name, rebound in (("pass", "w", True), ("v = w * 1", "v", False)):
        reuse = traced(script.replace("GIVEN", given).replace("NAME", name)).trace.reuse
        assert reuse is not None
        assert any(edge.rebound for edge in reuse.stale_edges) is rebound


def test_an_optimizer_of_the_script_that_writes_through_data_makes_graphs_stale(
    traced: Tracing,
) -> None:
    records = traced(
        """\
        import torch
        class Plain(torch.optim.Optimizer):
            def __init__(self, params):
                super().__init__(params, {})
            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        p.data.add_(p.grad.data, alpha=-0.1)
        w = torch.ones(3, requires_grad=True)
        opt = Plain([w])
        made = w * w
        for _ in range(3):
            made.sum().backward(retain_graph=True)
            opt.step()
        """
    ).trace.backwards
    assert [bool(record.stale) for record in records] == [False, True, True]
