"""The story of a second walk: who made, freed, carried and met the old graph."""

from __future__ import annotations

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
