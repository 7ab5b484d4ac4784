"""Repairs of small scripts, judged in the real sandbox by what they were seen to do."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandbox.protocol import Job, RunResult, Session
from tests.judging import check, given, judge, judged
from tests.recorded.box import RecordedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def session(sandbox: RecordedSandbox) -> AsyncIterator[Session]:
    async with sandbox.session() as session:
        yield session


GAN = """\
import torch
from torch import nn
torch.manual_seed(0)
G, D = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.2)), nn.Linear(4, 1)
optG = torch.optim.SGD(G.parameters(), lr=0.1)
optD = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    real = torch.randn(8, 4)
    fake = G(torch.randn(8, 2))
    lossD = D(fake).mean() - D(real).mean()
    optD.zero_grad()
    lossD.backward()
    optD.step()
    lossG = -D(fake).mean()
    optG.zero_grad()
    lossG.backward()
    optG.step()
"""


async def test_a_forward_recomputed_draws_the_same_and_has_the_same_gradients(
    session: Session,
) -> None:
    (trial,) = await judged(
        session,
        GAN,
        (
            "    lossG = -D(fake).mean()\n",
            "    fake = G(torch.randn(8, 2))\n    lossG = -D(fake).mean()\n",
        ),
    )
    assert trial.status == "passed"
    assert trial.effect.against == "kept"
    assert trial.effect.steps_equal == trial.effect.steps_compared == 8


async def test_losses_that_feed_another_optimizer_come_behind(session: Session) -> None:
    """All backwards first, then the steps: the generator's loss feeds the discriminator, too."""
    detached = GAN.replace("lossD = D(fake)", "lossD = D(fake.detach())")
    walks = "    lossG = -D(fake).mean()\n    optG.zero_grad()\n    lossG.backward()\n"
    mixed = detached.replace("    optD.step()\n" + walks, walks + "    optD.step()\n")
    texts = [{"train.py": mixed}, {"train.py": detached}]
    trials = await judge({"train.py": GAN}, "train.py", texts, session)
    assert given(trials) == [2, 1]
    assert [trial.gradients for trial in trials] == ["same", "changed"]
    assert "2 backward calls" in trials[1].schedule.problem
    assert check(trials[1], "schedule") == "differs"


RECURRENT = """\
import torch
from torch import nn
torch.manual_seed(0)
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
h = torch.zeros(2, 4)
for _ in range(6):
    h = cell(torch.randn(2, 3), h)
    loss = head(h).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_a_detached_state_equals_the_truncated_reference(session: Session) -> None:
    trials = await judged(
        session,
        RECURRENT,
        ("    optimizer.step()\n", "    optimizer.step()\n    h = torch.zeros(2, 4)\n"),
        ("loss.backward()", "loss.backward(retain_graph=True)"),
        ("    optimizer.step()\n", "    optimizer.step()\n    h = h.detach()\n"),
    )
    assert given(trials)[0] == 3
    assert trials[0].gradients == "truncated"
    assert trials[0].effect.schedule == "same"
    assert [trial.status for trial in trials] == ["passed", "failed", "failed"]


async def test_a_step_for_all_passes_comes_behind_a_step_for_each(session: Session) -> None:
    head, loop = RECURRENT.split("for _")
    once = (
        head
        + "total = 0\nfor _"
        + loop.split("    optimizer.zero_grad")[0]
        + "    total = total + loss\noptimizer.zero_grad()\ntotal.backward()\noptimizer.step()\n"
    )
    detached = RECURRENT + "    h = h.detach()\n"
    trials = await judge(
        {"train.py": RECURRENT}, "train.py", [{"train.py": once}, {"train.py": detached}], session
    )
    assert given(trials) == [2, 1]
    assert trials[1].effect.schedule == "fewer"
    assert check(trials[1], "schedule") == "failed"


SHARED = """\
import torch
from torch import nn
torch.manual_seed(0)
body, one, two = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
modules = nn.ModuleList([body, one, two])
optimizer = torch.optim.SGD(modules.parameters(), lr=0.05)
x = torch.randn(5, 3, requires_grad=True)
for _ in range(4):
    h = body(x).tanh()
    a, b = one(h).square().mean(), h.square().mean()
    optimizer.zero_grad()
    a.backward()
    b.backward()
    optimizer.step()
    print(x.grad is not None)
"""


async def test_a_loss_that_runs_backward_no_more_fails(session: Session) -> None:
    trials = await judged(
        session,
        SHARED,
        ("    b.backward()\n", ""),
        ("    a.backward()\n    b.backward()\n", "    (a + b).backward()\n"),
        ("a.backward()", "a.backward(retain_graph=True)"),
    )
    assert given(trials) == [2, 3, 1]
    assert trials[0].effect.schedule == "moved"
    assert check(trials[2], "covered") == "failed"


async def test_a_patch_that_trains_nothing_fails(session: Session) -> None:
    (trial,) = await judged(
        session,
        SHARED,
        (
            "    b.backward()\n    optimizer.step()",
            "    optimizer.zero_grad()\n    optimizer.step()",
        ),
    )
    assert trial.status == "failed"


async def test_what_the_script_reads_afterwards_is_still_there(session: Session) -> None:
    trials = await judged(
        session,
        SHARED,
        (
            "    a.backward()\n    b.backward()\n",
            "    (a + b).backward(inputs=[*modules.parameters()])\n",
        ),
        (
            "    a.backward()\n    b.backward()\n",
            "    s = a + b\n    s = s * 1\n    s.backward()\n",
        ),
    )
    assert [trial.gradients for trial in trials] == ["same", "same"]
    assert given(trials) == [2, 1]


async def test_who_cuts_a_value_that_is_made_once_behind_the_first_walk_fails(
    session: Session,
) -> None:
    script = """\
import torch
from torch import nn
torch.manual_seed(0)
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05)
x = torch.randn(5, 3)
h = body(x).tanh()
for _ in range(5):
    optimizer.zero_grad()
    head(h).square().mean().backward()
    optimizer.step()
"""
    trials = await judged(
        session,
        script,
        ("    optimizer.step()\n", "    optimizer.step()\n    h = h.detach()\n"),
        ("    optimizer.zero_grad()\n", "    optimizer.zero_grad()\n    h = body(x).tanh()\n"),
    )
    assert given(trials) == [2, 1]
    assert trials[0].gradients == "same"
    assert "step 2" in trials[1].unsteady
    assert check(trials[1], "learns") == "failed"


async def test_a_state_that_is_learned_where_it_begins_is_not_said_to_learn(
    session: Session,
) -> None:
    script = RECURRENT.replace("optimizer", "first = nn.Parameter(torch.zeros(2, 4))\noptimizer", 1)
    script = script.replace("*head.parameters()]", "*head.parameters(), first]")
    script = script.replace("h = torch.zeros(2, 4)", "h = 1 * first")
    cut = ("    optimizer.step()\n", "    optimizer.step()\n    h = h.detach()\n")
    (trial,) = await judged(session, script, cut)
    assert (trial.status, trial.gradients) == ("passed", "truncated")
    assert check(trial, "learns") == "not_run"
    assert "No gradient from step 2 on: first" in trial.effect.text


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
    assert trial.effect.text == "The original fails before it has any gradient to compare with."


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
