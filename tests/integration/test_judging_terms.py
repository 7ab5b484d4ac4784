"""Patches that let go of a term of a loss, judged in the real sandbox; some terms have no gradient
where the script begins."""

from __future__ import annotations

import pytest

from sandbox.protocol import Session
from tests.judging import check, given, judged

pytestmark = pytest.mark.asyncio(loop_scope="session")


BRIDGE = """\
import torch
torch.manual_seed(0)
loads = torch.rand(12, 6)
sags = torch.rand(12)
stiffness = torch.zeros(6, requires_grad=True)
solver = torch.optim.LBFGS([stiffness], max_iter=4)
for round in range(3):
    strain = (stiffness[1:] - stiffness[:-1]).square().sum()
    def evaluate():
        solver.zero_grad()
        loss = (loads @ stiffness - sags).square().sum() + 2 * strain
        loss.backward()
        return loss
    solver.step(evaluate)
"""


async def test_a_term_without_a_gradient_where_the_script_begins_is_missed(
    session: Session,
) -> None:
    made = "    strain = (stiffness[1:] - stiffness[:-1]).square().sum()\n"
    inside = BRIDGE.replace(made, "").replace("        loss = ", f"    {made}        loss = ")
    trials = await judged(session, BRIDGE, ("2 * strain", "2 * strain.detach()"), (BRIDGE, inside))
    assert given(trials) == [2, 1]
    assert [trial.gradients for trial in trials] == ["same", "changed"]
    assert trials[0].status == "passed"
    assert check(trials[1], "covered") == "failed"


TARGET_NETWORK = """\
import copy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 2)
follower = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def follow():
    for ours, theirs in zip(net.parameters(), follower.parameters()):
        theirs.mul_(0.5).add_(0.5 * ours.detach())
for _ in range(5):
    x = torch.randn(8, 4)
    with torch.no_grad():
        wanted = follower(x)
    loss = (net(x) - wanted - x[:, :2]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    follow()
"""


async def test_weights_that_follow_others_must_go_on_to(session: Session) -> None:
    """Where they begin, they are equal, and following changes nothing."""
    trials = await judged(
        session,
        TARGET_NETWORK,
        ("theirs.mul_(0.5).add_(", "theirs = theirs.mul(0.5).add("),
        ("def follow", "@torch.no_grad()\ndef follow"),
    )
    assert given(trials) == [2, 1]
    assert [trial.gradients for trial in trials] == ["same", "changed"]


PENALISED = """\
import torch
from torch import nn
torch.manual_seed(0)
judge_ = nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(judge_.parameters(), lr=0.1)
def ranking(real, fake):
    return nn.functional.softplus(-real).mean() + nn.functional.softplus(fake).mean()
for _ in range(4):
    x = torch.randn(5, 3).requires_grad_()
    real, fake = judge_(x), judge_(torch.randn(5, 3))
    optimizer.zero_grad()
    ranking(real, fake).backward()
    (slope,) = torch.autograd.grad(real.sum(), x, create_graph=True)
    slope.square().sum().backward()
    optimizer.step()
"""


async def test_a_term_that_was_run_backward_before_the_failure_stays_run_backward(
    session: Session,
) -> None:
    trials = await judged(
        session,
        PENALISED,
        ("ranking(real, fake).b", "ranking(real.detach(), fake).b"),
        ("ranking(real, fake).backward()", "ranking(real, fake).backward(retain_graph=True)"),
    )
    assert given(trials) == [2, 1]
    assert [trial.status for trial in trials] == ["passed", "failed"]
    detail = next(c.detail for c in trials[1].checks if c.name == "covered")
    assert detail.startswith("of 2 terms of line 12's loss, 1 got a gradient")


WINDOWS = """\
import torch
from torch import nn
torch.manual_seed(0)
cell = nn.RNNCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.05)
h = torch.zeros(2, 4)
for _ in range(4):
    for _ in range(3):
        h = cell(torch.randn(2, 3), h)
    optimizer.zero_grad()
    h.square().mean().backward()
    optimizer.step()
"""


async def test_a_cut_within_what_went_well_comes_behind_one_at_its_end(session: Session) -> None:
    trials = await judged(
        session,
        WINDOWS,
        ("cell(torch.randn(2, 3), h)", "cell(torch.randn(2, 3), h.detach())"),
        ("    optimizer.step()\n", "    optimizer.step()\n    h = h.detach()\n"),
    )
    assert given(trials) == [2, 1]
    assert [trial.gradients for trial in trials] == ["truncated", "changed"]
    assert trials[1].effect.text.startswith(
        "In all 4 steps compared, gradients differ from the original's, and already before it "
        "fails."
    )


MERGED = """\
import torch
from torch import nn
torch.manual_seed(0)
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.gate = nn.Parameter(torch.randn(2, 3)), nn.Parameter(torch.zeros(2, 1))
        self.merge()
    def merge(self):
        self.merged = self.weight * (1 + self.gate)
    def forward(self, x):
        return x @ self.merged.T
layer = Gate()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(4):
    loss = layer(torch.randn(5, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_what_a_graph_led_to_before_stays_where_it_was_in_every_run(session: Session) -> None:
    """The repair has no graph yet when the optimizer takes its parameters."""
    head, made, tail = MERGED.partition("        self.merge()\n")
    again = head + tail.replace("        return x", f"{made}        return x")
    (trial,) = await judged(session, MERGED, (MERGED, again))
    assert trial.gradients == "same"


PEERS = """\
import torch
from torch.nn import functional as F
torch.manual_seed(0)
one, two = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (one, two)]
for _ in range(4):
    x = torch.randn(8, 3)
    a, b = one(x).tanh(), two(x).tanh()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss_a, loss_b = F.mse_loss(a, b), F.smooth_l1_loss(b, a)
    loss_a.backward()
    loss_b.backward()
    for optimizer in optimizers:
        optimizer.step()
"""


async def test_a_target_that_is_held_constant_equals_a_reference_of_its_own(
    session: Session,
) -> None:
    trials = await judged(
        session,
        PEERS,
        ("    loss_a.backward()\n    loss_b.backward()\n", "    (loss_a + loss_b).backward()\n"),
        (
            "F.mse_loss(a, b), F.smooth_l1_loss(b, a)",
            "F.mse_loss(a, b.detach()), F.smooth_l1_loss(b, a.detach())",
        ),
        ("loss_a.backward()", "loss_a.backward(retain_graph=True)"),
    )
    assert given(trials)[0] == 2
    assert [trial.status for trial in trials] == ["passed"] * 3
    assert [trial.gradients for trial in trials] == ["truncated", "same", "same"]
    assert "targets of its losses held constant" in trials[0].effect.text


CELLAR = """\
import torch
torch.manual_seed(0)
trunk = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
heads = [torch.nn.Linear(4, 1) for _ in range(2)]
tools = [torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1) for head in heads]
for _ in range(6):
    inner = trunk(torch.randn(8, 3))
    losses = [head(inner).square().mean() for head in heads]
    for tool, loss in zip(tools, losses):
        tool.zero_grad()
        loss.backward(retain_graph=True)
        tool.step()
"""


async def test_gradients_that_are_cleared_before_any_step_takes_them_train_nothing(
    session: Session,
) -> None:
    turns = CELLAR[CELLAR.index("    for tool, loss") :]
    behind = turns.replace("        tool.step()\n", "    for tool in tools:\n        tool.step()\n")
    first = behind.replace("        tool.zero_grad()\n", "")
    first = f"    for tool in tools:\n        tool.zero_grad()\n{first}"
    trials = await judged(session, CELLAR, (turns, behind), (turns, first))
    assert given(trials) == [2, 1]
    assert [trial.status for trial in trials] == ["passed", "failed"]
    assert check(trials[1], "covered") == "failed"
