"""Repairs of small scripts, judged in the real sandbox by what they were seen to do."""

from __future__ import annotations

import pytest

from sandbox.protocol import Session
from tests.judging import check, given, judge, judged

pytestmark = pytest.mark.asyncio(loop_scope="session")


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
    assert "No gradient from step 2 on: `first`" in trial.effect.text
