"""Repairs of closures and of gradients in losses; runs that were cut short."""

from __future__ import annotations

import pytest

from sandbox.protocol import Job, RunResult, Session
from tests.integration.test_judging import RECURRENT
from tests.judging import check, given, judge, judged

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEPT_BY_NAME = """\
import torch

torch.manual_seed(0)
w, b = torch.zeros(3, requires_grad=True), torch.zeros(1, requires_grad=True)
before = torch.zeros(3)
x = torch.randn(20, 3)
for turn in range(8):
    for p in (w, b):
        if p.grad is not None:
            p.grad.zero_()
    (x @ w + b - x.sum(1)).square().mean().backward()
    turned = w.grad - before
    before = w.grad
    for p in (w, b):
        g = p.grad
        with torch.no_grad():
            p -= 0.1 * g / (1 + turned.norm())
"""


async def test_a_short_name_for_a_gradient_is_no_fault_that_a_patch_leaves(
    session: Session,
) -> None:
    repairs = [("before = w.grad", f"before = w.grad{copy}") for copy in (".clone()", ".detach()")]
    trials = await judged(session, KEPT_BY_NAME, *repairs)
    found = dict(zip(given(trials), trials, strict=True))
    assert check(found[1], "runs") == "passed"
    left = next(c.detail for c in found[2].checks if c.name == "runs")
    assert left == "still shows overwritten-gradient"


class NoRoom:
    """A sandbox that has no room for patched scripts."""

    def __init__(self, session: Session, script: str) -> None:
        self._session, self._script = session, script
        self.refused = 0

    async def run(self, job: Job) -> RunResult:
        if job.files["train.py"] == self._script:
            return await self._session.run(job)
        self.refused += 1
        return RunResult(status="unavailable", reason="no room")


async def test_a_run_that_could_not_be_made_says_nothing_of_a_patch(session: Session) -> None:
    full = NoRoom(session, RECURRENT)
    patched = RECURRENT + "    h = h.detach()\n"
    (trial,) = await judge({"train.py": RECURRENT}, "train.py", [{"train.py": patched}], full)
    assert full.refused == 2
    assert trial.status == "not_run"
    assert "no room" in next(c.detail for c in trial.checks if c.name == "runs")


async def test_a_time_limit_behind_the_failure_is_a_pass_for_what_was_seen(
    session: Session,
) -> None:
    slow = RECURRENT.replace("range(6)", "range(9)").replace("torch\n", "torch, select\n", 1)
    slow = slow.replace("    h = cell", "    select.select([], [], [], 0.5)\n    h = cell")
    patched = slow + "    h = h.detach()\n"
    texts = [{"train.py": patched}]
    (trial,) = await judge({"train.py": slow}, "train.py", texts, session, time_limit_s=3.0)
    assert check(trial, "runs") in ("passed", "not_run")
    assert trial.status != "failed"


CLOSURE = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
for _ in range(3):
    optimizer.zero_grad()
    loss = (net(x).tanh() - y).square().mean()
    def closure():
        loss.backward()
        return loss
    optimizer.step(closure)
"""


MISFIT = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
for _ in range(3):
    kept = [(net(x).tanh() - y).square().mean()]
    def closure():
        optimizer.zero_grad()
        loss = kept[0] + net.weight.square().sum()
        loss.backward()
        return loss
    optimizer.step(closure)
"""


async def test_every_evaluation_of_a_closure_is_compared(session: Session) -> None:
    """Cut behind its first backward, the misfit gives nothing to the calls of the same step."""
    trials = await judged(
        session,
        MISFIT,
        ("        return", "        kept[0] = kept[0].detach()\n        return"),
        (
            "        loss = ",
            "        kept[0] = (net(x).tanh() - y).square().mean()\n        loss = ",
        ),
    )
    assert given(trials) == [2, 1]
    assert [trial.gradients for trial in trials] == ["same", "changed"]


async def test_a_closure_that_piles_up_gradients_is_no_repair(session: Session) -> None:
    """The gradients of a step's calls are compared one by one; only the run as it is adds them."""
    made = "    loss = (net(x).tanh() - y).square().mean()\n    def closure():\n"
    inside = "    def closure():\n        loss = (net(x).tanh() - y).square().mean()\n"
    cleared = inside.replace("closure():\n", "closure():\n        optimizer.zero_grad()\n")
    trials = await judged(session, CLOSURE, (made, inside), (made, cleared))
    assert given(trials) == [2, 1]
    assert [trial.status for trial in trials] == ["passed", "failed"]
    assert check(trials[1], "schedule") == "failed"


PENALTY = """\
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(16, 2, requires_grad=True)
    out = net(x)
    slope, = torch.autograd.grad(out.sum(), x)
    loss = out.square().mean() + (slope.norm(dim=1) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_a_gradient_that_a_loss_is_made_of_is_no_constant(session: Session) -> None:
    """The loss depends on the slope: keeping the graph alone leaves that out of its gradient."""
    trials = await judged(
        session,
        PENALTY,
        ("out.sum(), x)", "out.sum(), x, retain_graph=True)"),
        ("out.sum(), x)", "out.sum(), x, create_graph=True)"),
    )
    assert given(trials) == [2, 1]
    assert [trial.gradients for trial in trials] == ["same", "truncated"]
    assert "held constant" in trials[1].effect.text


@pytest.mark.parametrize(
    ("refused", "repair"),
    [
        ("losses.append(loss.numpy())", "losses.append(loss.detach().numpy())"),
        ("best = copy.deepcopy([net, loss])", "best = copy.deepcopy([net, loss.detach()])"),
        ("net.bias += 0.1", "net.bias.data += 0.1"),
        ("loss.requires_grad = False", "loss = loss.detach()"),
    ],
)
async def test_what_torch_refuses_next_to_the_training_is_done_as_it_was_meant(
    session: Session, refused: str, repair: str
) -> None:
    script = """\
import copy, torch
torch.manual_seed(0)
net, losses = torch.nn.Linear(3, 1), []
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(8, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    REFUSED
""".replace("REFUSED", refused)
    (trial,) = await judged(session, script, (refused, repair))
    assert (trial.status, trial.gradients) == ("passed", "same")
    assert trial.effect.steps_equal == trial.effect.steps_compared == 4
