"""The story of a second walk: who made, freed, carried and met the old graph."""

from __future__ import annotations

import pytest

from tests.tracing import Tracing

RECURRENT = """\
import torch
cell = torch.nn.GRUCell(3, 5)
def advance(x, memory):
    return cell(x, memory["state"])
def train():
    memory = {"state": torch.zeros(2, 5)}
    for _ in range(3):
        memory["state"] = advance(torch.ones(2, 3), memory)
        loss = memory["state"].square().mean()
        loss.backward()
train()
"""


def test_carrier_crosses_iterations(traced: Tracing) -> None:
    reuse = traced(RECURRENT).trace.reuse
    assert reuse is not None
    assert (reuse.freed.iteration, reuse.reached.iteration) == (1, 2)
    assert (reuse.freed.at.line, reuse.reached.at.line) == (10, 10)
    assert reuse.freed.at.frame == reuse.reached.at.frame
    assert [place.function for place in reuse.reached.stack] == ["<module>", "train"]
    assert reuse.reached.root == ("loss",)
    assert reuse.remade
    assert not reuse.same_root
    edge = reuse.stale_edges[0]
    assert edge.old.at is not None
    assert (edge.old.at.line, edge.old.made_after) == (4, 0)
    assert edge.new is not None
    assert edge.new.made_after == 1
    assert edge.raising is not None
    holder = edge.holders[0]
    assert (holder.path, holder.scope, holder.container) == ("memory['state']", "train", "dict")


def test_two_activations_of_one_function_differ(traced: Tracing) -> None:
    reuse = traced(
        """\
        import torch
        w = torch.ones(3, requires_grad=True)
        def walk(kept=[]):
            kept.append((w * w).sum())
            sum(kept).backward()
        walk()
        walk()
        """
    ).trace.reuse
    assert reuse is not None
    assert reuse.freed.at.frame != reuse.reached.at.frame
    assert reuse.stale_edges[0].holders[0].path.startswith("kept[")


def test_same_tensor_run_backward_twice(traced: Tracing) -> None:
    reuse = traced(
        """\
        import torch
        w = torch.ones(3, requires_grad=True)
        loss = w.exp().sum()
        loss.backward()
        loss.backward()
        """
    ).trace.reuse
    assert reuse is not None
    assert reuse.same_root
    assert reuse.stale_edges[0].new is None
    assert [holder.path for holder in reuse.stale_edges[0].holders][:1] == ["loss"]


def test_statements_of_one_line_are_distinguished_by_their_columns(traced: Tracing) -> None:
    script = """\
import torch
w = torch.ones(3, requires_grad=True)
def walk(x): x = x; x.backward()
loss = w.exp(); é = loss.sum(); walk(é); s = loss.norm(); s.backward()
"""
    reuse = traced(script).trace.reuse
    assert reuse is not None
    at = {place.line: place.column for place in (*reuse.freed.stack, *reuse.reached.stack)}
    lines = script.encode().splitlines()
    assert [place.line for place in reuse.freed.stack] == [4, 3]
    assert lines[3][reuse.freed.stack[0].column :].startswith("walk(é)".encode())
    assert lines[2][at[3] :] == b"x.backward()"
    assert lines[3][reuse.reached.at.column :] == b"s.backward()"
    assert reuse.stale_edges[0].old.at is not None
    assert lines[3][reuse.stale_edges[0].old.at.column :].startswith(b"w.exp()")


def test_a_gradient_that_was_only_looked_at_is_no_walk_too_many(traced: Tracing) -> None:
    script = RECURRENT.replace(
        "        loss.backward()\n",
        "        torch.autograd.grad(loss, memory['state'], retain_graph=True)\n"
        "        loss.backward()\n",
    )
    reuse = traced(script).trace.reuse
    assert reuse is not None
    assert (reuse.freed.at.line, reuse.reached.at.line) == (11, 11)
    assert not reuse.same_root


def test_graph_shared_by_two_losses_is_entered_where_they_meet(traced: Tracing) -> None:
    reuse = traced(
        """\
        import torch
        trunk, a, b = (torch.nn.Linear(4, 4) for _ in range(3))
        features = trunk(torch.ones(2, 4)).tanh()
        first, second = a(features).sum(), b(features).sum()
        first.backward()
        second.backward()
        """
    ).trace.reuse
    assert reuse is not None
    assert not reuse.remade
    assert reuse.stale_edges[0].holders[0].path == "features"
    assert (reuse.freed.at.line, reuse.reached.at.line) == (5, 6)


def test_closure_of_an_optimizer_is_called_through_its_library(traced: Tracing) -> None:
    reuse = traced(
        """\
        import torch
        w = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.LBFGS([w])
        loss = (w * w).sum()
        def closure():
            optimizer.zero_grad()
            loss.backward()
            return loss
        optimizer.step(closure)
        """
    ).trace.reuse
    assert reuse is not None
    assert reuse.same_root
    assert any("torch/optim/lbfgs.py" in frame for frame in reuse.reached.library)


def test_grad_frees_what_backward_needs(traced: Tracing) -> None:
    reuse = traced(
        """\
        import torch
        x = torch.ones(3, requires_grad=True)
        y = x.exp().sum()
        slope, = torch.autograd.grad(y, x)
        (y + slope.sum()).backward()
        """
    ).trace.reuse
    assert reuse is not None
    assert (reuse.freed.kind, reuse.reached.kind) == ("grad", "backward")
    assert reuse.stale_edges[0].holders[0].path == "y"


def test_nodes_made_in_a_library_are_reported_with_both_lines(traced: Tracing) -> None:
    result = traced(
        """\
        import torch
        lstm = torch.nn.LSTM(2, 3)
        state = None
        for _ in range(2):
            out, state = lstm(torch.ones(4, 1, 2), state)
            out.sum().backward()
        """
    )
    assert result.trace.reuse is not None
    edge = result.trace.reuse.stale_edges[0]
    assert edge.old.at is not None
    assert edge.old.at.line == 5
    assert "torch/nn/modules/rnn.py" in (edge.old.library or "")


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
