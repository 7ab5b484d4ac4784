"""The two references of a script: every graph kept, and the past held constant."""

from __future__ import annotations

import pytest

from app.repair.effects import compare
from tests.tracing import Traced, Tracing

CARRIED = """\
import torch
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
h = torch.ones(2, 3)
for _ in range(4):
    h = torch.tanh(net(h))
    loss = h.square().mean()
    optimizer.zero_grad()
    loss.backward(KEEP)
    optimizer.step()
    CUT
"""


def carried(keep: str = "", cut: str = "pass") -> str:
    return CARRIED.replace("KEEP", keep).replace("CUT", cut)


def norms(result: Traced) -> list[list[float]]:
    steps = [step for step in result.trace.steps if step.optimizer == 0]
    return [[round(g.norm, 5) for g in step.gradients] for step in steps]


@pytest.mark.parametrize("keep", ["", "retain_graph=True"])
def test_truncated_equals_a_detached_state(traced: Tracing, keep: str) -> None:
    detached = norms(traced(carried(cut="h = h.detach()"), gradients=True, frozen_steps=True))
    truncated = norms(traced(carried(keep), reference="truncated"))
    kept = norms(traced(carried(keep), reference="kept"))
    assert len(detached) == 4
    assert truncated == detached
    assert kept[0] == detached[0]
    assert kept[1:] != detached[1:]


def test_within_one_step_a_kept_graph_is_no_past(traced: Tracing) -> None:
    script = """\
        import torch
        net, one, two = (torch.nn.Linear(3, 3) for _ in range(3))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            h = net(torch.ones(2, 3)).tanh()
            optimizer.zero_grad()
            one(h).sum().backward(retain_graph=True)
            two(h).sum().backward()
            optimizer.step()
        """
    kept, truncated = (norms(traced(script, reference=r)) for r in ("kept", "truncated"))
    assert truncated == kept


def test_losses_that_share_a_graph_are_no_past_of_each_other(traced: Tracing) -> None:
    """Neither call keeps the graph, which the state carries into the next pass besides."""
    script = """\
        import torch
        net, one, two = (torch.nn.Linear(3, 3) for _ in range(3))
        optimizer = torch.optim.SGD([*net.parameters(), *one.parameters()], lr=0.1)
        h = torch.ones(2, 3)
        for _ in range(3):
            h = net(h).tanh()
            first, second = one(h).sum(), two(h).square().sum()
            optimizer.zero_grad()
            CALLS
            optimizer.step()
            CUT
        """
    apart, cut = "first.backward(); second.backward()", "h = h.detach()"
    written = script.replace("CALLS", "(first + second).backward()").replace("CUT", cut)
    meant = norms(traced(written, gradients=True, frozen_steps=True))
    truncated = script.replace("CALLS", apart).replace("CUT", "pass")
    assert len(meant) == 3
    assert norms(traced(truncated, reference="truncated")) == meant


def test_saved_tensors_are_those_of_their_time(traced: Tracing) -> None:
    """A slot memory: what is saved is a view of what is written into later."""
    memory = """\
        import torch
        net = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        memory = torch.ones(3, 2)
        total = 0
        for slot in range(3):
            read = memory[slot] * net(torch.ones(2))
            total = total + read.square().sum()
            WRITE
        total.backward()
        optimizer.step()
        """
    reference = traced(memory.replace("WRITE", "memory[slot] = read.detach()"), reference="kept")
    right = "memory = memory.clone()\n            memory[slot] = read.detach()"
    repaired = traced(memory.replace("WRITE", right), gradients=True, frozen_steps=True)
    assert norms(reference) == norms(repaired)
    assert len(norms(repaired)) == 1


def test_a_step_reports_which_calls_fed_it(traced: Tracing) -> None:
    script = """\
        import torch
        net = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(6):
            net(torch.ones(2, 3)).mean().backward()
            if step % 2:
                optimizer.step()
                CLEAR
        """
    for clear in (
        "optimizer.zero_grad()",
        "net.zero_grad(set_to_none=False)",
        "net.weight.grad = net.bias.grad = None",
        "[p.grad.data.zero_() for p in net.parameters()]",
    ):
        trace = traced(script.replace("CLEAR", clear), gradients=True).trace
        assert [s.fed for s in trace.steps if s.optimizer == 0] == [[1, 2], [3, 4], [5, 6]]
    trace = traced(script.replace("CLEAR", "pass"), gradients=True).trace
    assert [len(s.fed) for s in trace.steps if s.optimizer == 0] == [2, 4, 6]


def test_a_loss_is_reported_and_whether_it_was_run_backward_before(traced: Tracing) -> None:
    script = """\
        import torch
        w = torch.ones(3, requires_grad=True)
        loss = (2 * w).sum()
        loss.backward()
        (w * w).backward(torch.full((3,), 0.5))
        loss.backward(retain_graph=True)
        """
    records = traced(script, reference="kept").trace.backwards
    assert [r.loss for r in records] == [6.0, 1.5, 6.0]
    assert [r.repeated for r in records] == [False, False, True]


@pytest.mark.parametrize(
    ("third", "again"),
    [
        ("(one + two).backward()", True),
        ("(one / 2 - 3 * two).backward()", True),
        ("torch.stack([one, two]).mean().backward()", True),
        ("(one + w.square().sum()).backward()", False),
        ("(one * two).backward()", False),
        ("optimizer.step(); (one + two).backward()", False),
    ],
)
def test_a_sum_of_what_was_run_backward_is_run_backward_again(
    traced: Tracing, third: str, again: bool
) -> None:
    script = f"""\
        import torch
        w = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        one, two = (2 * w).sum(), w.sin().sum()
        one.backward()
        two.backward()
        {third}
        """
    assert [r.repeated for r in traced(script, reference="kept").trace.backwards][2] is again


@pytest.mark.parametrize(
    ("loss", "moving"),
    [
        ("F.mse_loss(one, two)", True),
        ("nn.SmoothL1Loss()(one, two)", True),
        ("F.kl_div(one.log(), target=two.softmax(0), reduction='sum')", True),
        ("F.mse_loss(one, two.detach())", False),
        ("F.mse_loss(one, torch.ones(3))", False),
        ("(one - two).square().mean()", False),
    ],
)
def test_what_a_loss_targets_is_held_constant(traced: Tracing, loss: str, moving: bool) -> None:
    script = f"""\
        import torch
        from torch import nn
        from torch.nn import functional as F
        w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        one, two = w.square(), AIM
        {loss}.backward()
        optimizer.step()
        """
    moved, held = script.replace("AIM", "w.sqrt()"), script.replace("AIM", "w.sqrt().detach()")
    kept, aimed = (traced(moved, reference=r) for r in ("kept", "constant_targets"))
    assert kept.trace.ended is not None
    assert kept.trace.ended.targets_with_graph is moving
    assert norms(aimed) == norms(traced(held if moving else moved, reference="kept"))
    assert (norms(aimed) != norms(kept)) is moving


def test_parameters_are_held_a_little_off_where_they_begin(traced: Tracing) -> None:
    """Those that a graph leads to already stay as they were when it was made."""
    script = """\
        import torch
        net, late = torch.nn.Linear(2, 2), torch.zeros(3, requires_grad=True)
        torch.nn.init.zeros_(net.weight)
        shift = 2 * late
        optimizer = torch.optim.SGD([*net.parameters(), late], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            (net.weight.square().sum() + late.square().sum() + shift.sum()).backward(
                retain_graph=True
            )
            optimizer.step()
        """
    (plain, *_), (held, *_), (reference, *_) = (
        norms(traced(script, **job))
        for job in (
            {"gradients": True},
            {"gradients": True, "frozen_steps": True},
            {"reference": "kept"},
        )
    )
    weight, _, late = held
    assert held == reference
    assert plain == [0.0, 0.0, late]
    assert 0 < weight < 1


def test_a_parameter_that_is_rebound_is_a_leaf_of_the_same_value(traced: Tracing) -> None:
    """Only in the reference: a patch has to make it one itself."""
    script = """\
        import torch
        w, velocity = torch.full((3,), 2.0, requires_grad=True), 0.0
        for _ in range(4):
            (w * w).sum().backward()
            velocity = 0.9 * velocity + w.grad
            UPDATE
        """
    bound = "w = w - 0.1 * velocity"
    renewed = "w = (w - 0.1 * velocity).detach().requires_grad_()"
    written = "w.data -= 0.1 * velocity; w.grad = None"
    reference = traced(script.replace("UPDATE", bound), reference="kept").trace
    for update in (renewed, written):
        job = {"gradients": True, "frozen_steps": True}
        patched = traced(script.replace("UPDATE", update), **job).trace
        assert compare("kept", reference, patched).equal >= 3
        assert compare("kept", reference, patched).whole
    skipping = bound + " if w.grad is not None else w"
    skipped = traced(
        script.replace("0.9 * velocity + w.grad", "w.grad").replace("UPDATE", skipping),
        gradients=True,
        frozen_steps=True,
    )
    assert not compare("kept", reference, skipped.trace).whole
