"""Repairs of what no optimizer feeds, of updates by hand and of engines, judged by their runs."""

from __future__ import annotations

import pytest

from sandbox.protocol import Session
from tests.integration.test_judging import RECURRENT
from tests.judging import check, given, judge, judged

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNFED = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
scale = nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([*model.parameters(), scale], lr=0.05)
layer = nn.Module()
layer.scale, layer.model = scale, model
layer.forward = lambda x: model(x) * scale.item()
for _ in range(6):
    loss = layer(torch.randn(4, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_zeros_do_not_feed_a_parameter(session: Session) -> None:
    trials = await judged(
        session,
        UNFED,
        ("scale.item()", "scale.item() + 0 * scale"),
        ("scale.item()", "scale"),
    )
    assert given(trials) == [2, 1]
    assert [trial.status for trial in trials] == ["passed", "failed"]
    learning = next(c for c in trials[1].checks if c.name == "learns")
    assert learning.detail.startswith("no gradient but zeros: ")


RESIDUAL = """\
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(6):
    x = torch.rand(5, 1, requires_grad=True)
    u = net(x)
    (slope,) = torch.autograd.grad(u, x, create_graph=True)
    loss = (slope + u).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_a_derivative_of_many_values_is_that_of_their_sum(session: Session) -> None:
    ones = "grad(u, x, torch.ones_like(u), create"
    trials = await judged(
        session, RESIDUAL, ("grad(u, x, create", ones), ("grad(u, x", "grad(u.mean(), x")
    )
    assert given(trials) == [1, 2]
    assert [trial.gradients for trial in trials] == ["same", "changed"]


async def test_a_write_into_a_view_that_was_made_without_recording_is_recorded(
    session: Session,
) -> None:
    script = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(4):
    memory = net(torch.ones(2, 3))
    with torch.no_grad():
        slot = memory[0]
    slot.copy_(net(torch.zeros(3)))
    loss = memory.square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    trials = await judged(
        session, script, ("slot.copy_", "slot.data.copy_"), ("slot.copy_", "memory[0].copy_")
    )
    assert given(trials) == [2, 1]
    assert [trial.gradients for trial in trials] == ["same", "changed"]


async def test_why_nothing_was_compared_is_reported(session: Session) -> None:
    script = RECURRENT.replace("loss.backward()", "loss.detach().backward()")
    mended = script.replace("loss.detach()", "loss")
    mended = mended.replace("torch.randn(2, 3), h)", "torch.randn(2, 3), h.detach())")
    (trial,) = await judge({"train.py": script}, "train.py", [{"train.py": mended}], session)
    assert (trial.status, trial.gradients) == ("passed", "unknown")
    assert trial.effect.text == "The original fails before any gradients can be compared."


async def test_a_single_loss_that_is_run_backward_is_covered(session: Session) -> None:
    cut = ("    optimizer.step()\n", "    optimizer.step()\n    h = h.detach()\n")
    (trial,) = await judged(session, RECURRENT, cut)
    assert check(trial, "covered") == "passed"


async def test_a_graph_that_is_kept_alive_is_seen(session: Session) -> None:
    loop = RECURRENT.replace("range(6)", "range(10)")
    cut = "    optimizer.step()\n    h = h.detach()\n"
    trials = await judged(
        session,
        loop.replace("for _", "seen = []\nfor _"),
        ("    optimizer.step()\n", cut + "    seen.append(loss * 2)\n"),
        ("    optimizer.step()\n", cut),
    )
    assert given(trials) == [2, 1]
    assert "nodes of graphs alive" in trials[1].effect.text


BY_HAND = """\
import torch
torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
x, y = torch.randn(8, 3), torch.randn(8)
loss = (x @ w - y).square().mean()
for _ in range(5):
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""


async def test_a_descent_by_hand_that_changes_nothing_fails(session: Session) -> None:
    again = "    loss = (x @ w - y).square().mean()\n    loss.backward()"
    right = BY_HAND.replace("    loss.backward()", again)
    idle = right.replace("w -= 0.1", "v = w - 0.1")
    texts = [{"train.py": idle}, {"train.py": right}]
    trials = await judge({"train.py": BY_HAND}, "train.py", texts, session)
    assert given(trials) == [2, 1]
    assert [trial.gradients for trial in trials] == ["same", "same"]
    assert check(trials[1], "schedule") == "failed"
    assert "No parameter is changed" in trials[1].effect.text


async def test_a_script_that_only_looks_at_gradients_may_go_on_to(session: Session) -> None:
    looking = BY_HAND.replace("w -= 0.1 * w.grad", "print(w.grad.norm())")
    right = looking.replace("loss.backward()", "(x @ w - y).square().mean().backward()")
    texts = [{"train.py": right}]
    (trial,) = await judge({"train.py": looking}, "train.py", texts, session)
    assert trial.status == "passed"
    assert trial.gradients == "same"


async def test_an_update_that_torch_refuses_to_record_has_a_reference(session: Session) -> None:
    refused = BY_HAND.replace("    with torch.no_grad():\n        w -=", "    w -=")
    again = ("    loss.backward()", "    loss = (x @ w - y).square().mean()\n    loss.backward()")
    trials = await judged(
        session,
        refused.replace(*again),
        ("    w -= 0.1 * w.grad\n", "    with torch.no_grad():\n        w -= 0.1 * w.grad\n"),
    )
    assert trials[0].gradients == "same"


ENGINE = """\
class Value:
    def __init__(self, data, parents=(), slopes=()):
        self.data, self.parents, self.slopes = data, parents, slopes
        self.grad, self.spent = 0.0, False

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def backward(self, slope=1.0):
        if self.parents and self.spent:
            raise RuntimeError("already walked")
        self.spent = bool(self.parents)
        self.grad += slope
        for parent, own in zip(self.parents, self.slopes):
            parent.backward(slope * own)

w, u = Value(0.5), Value(0.25)
h = Value(1.0)
for turn in range(6):
    h = h * w + u
    loss = h * Value(2.0)
    loss.backward()
    for p in (w, u):
        p.data -= 0.01 * p.grad
        p.grad = 0.0
    pass
"""


async def test_gradients_of_an_engine_written_by_hand_are_compared(session: Session) -> None:
    cut = ("    pass\n", "    h = Value(h.data)\n")
    trials = await judge(
        {"train.py": ENGINE},
        "train.py",
        [
            {"train.py": ENGINE.replace("if self.parents and self.spent", "if False")},
            {"train.py": ENGINE.replace(*cut)},
            {"train.py": ENGINE.replace(*cut).replace("        p.data -=", "        p.data -")},
            {"train.py": ENGINE.replace("    pass\n", "    h = Value(0.0)\n")},
        ],
        session,
    )
    found = dict(zip(given(trials), trials, strict=True))
    assert [found[n].gradients for n in (1, 2, 4)] == ["same", "truncated", "changed"]
    assert found[2].status == "passed"
    assert found[2].effect.schedule == "same"
    assert check(found[3], "schedule") == "failed"
    assert given(trials).index(2) < given(trials).index(4)
