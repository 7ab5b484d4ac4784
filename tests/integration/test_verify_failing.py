"""Changes of trainings that fail, held against their own mathematics in the real sandbox."""

from __future__ import annotations

import pytest

from app.verify import Verdict, Version, verify
from sandbox.protocol import Session

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def verified(session: Session, script: str, *edits: tuple[str, str]) -> Verdict:
    changed = script
    for old, new in edits:
        assert old in changed
        changed = changed.replace(old, new)
    before, after = Version({"train.py": script}), Version({"train.py": changed})
    return await verify(before, after, session, time_limit_s=60.0)


RECURRENT = """\
import torch
from torch import nn
torch.manual_seed(0)
cell, head, drop = nn.RNNCell(3, 4), nn.Linear(4, 1), nn.Dropout(0.2)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
h = torch.zeros(2, 4)
for _ in range(60):
    x = torch.randn(2, 3)
    h = cell(drop(x), h)
    loss = head(h).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DETACHED = ("    optimizer.step()\n", "    optimizer.step()\n    h = h.detach()\n")

KEEPING = {
    "as it is": [],
    "renamed": [("cell", "rnn"), ("optimizer.", "opt."), ("optimizer =", "opt =")],
    "in a function": [
        ("    h = cell(drop(x), h)\n", "    h = forward(x, h)\n"),
        ("h = torch.zeros", "def forward(v, old):\n    return cell(drop(v), old)\nh = torch.zeros"),
    ],
    "with many comments": [("h = torch.zeros", "# why\n" * 60 + "h = torch.zeros")],
}


@pytest.mark.parametrize("edit", KEEPING)
async def test_a_fix_that_cuts_the_past_is_truncated(session: Session, edit: str) -> None:
    verdict = await verified(session, RECURRENT, DETACHED, *KEEPING[edit])
    assert verdict.verdict == "truncated", verdict.summary
    assert verdict.steps_equal == verdict.steps_compared == 60
    assert not [check for check in verdict.checks if check.status == "failed"]


MORE = {
    "rate": (("lr=0.05", "lr=0.5"), "lr 0.05, now 0.5"),
    "optimizer": (("SGD", "Adam"), "is stepped by Adam, where it was SGD"),
    "seed": (("manual_seed(0)", "manual_seed(1)"), "other random numbers"),
    "steps": (("range(60)", "range(30)"), "30 steps"),
    "dropout": (("drop(x)", "x"), "differ"),
}


@pytest.mark.parametrize("edit", MORE)
async def test_a_fix_that_changes_more_is_a_change(session: Session, edit: str) -> None:
    replacement, what = MORE[edit]
    verdict = await verified(session, RECURRENT, DETACHED, replacement)
    assert verdict.verdict == "changed", verdict.summary
    assert what in f"{verdict.summary} {verdict.witness}"


async def test_a_fix_that_keeps_the_graph_alone_breaks(session: Session) -> None:
    verdict = await verified(session, RECURRENT, ("backward()", "backward(retain_graph=True)"))
    assert verdict.verdict == "breaks"
    assert "modified by an inplace operation" in verdict.summary


async def test_a_fix_that_leaves_a_part_without_gradient_breaks(session: Session) -> None:
    verdict = await verified(session, RECURRENT, DETACHED, ("*cell.parameters(), ", ""))
    assert verdict.verdict == "breaks"
    assert "cell.weight_ih" in verdict.summary


GAN = """\
import torch
from torch import nn
torch.manual_seed(0)
G, D = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.2)), nn.Linear(4, 1)
optG = torch.optim.SGD(G.parameters(), lr=0.1)
optD = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(8):
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


async def test_a_fix_that_keeps_all_gradients_is_the_same(session: Session) -> None:
    detached = await verified(session, GAN, ("D(fake).mean() - D", "D(fake.detach()).mean() - D"))
    assert detached.verdict == "same"
    again = ("    lossG =", "    fake = G(torch.randn(8, 2))\n    lossG =")
    drawn = await verified(session, GAN, again)
    assert drawn.verdict == "same"
    assert any(note.startswith("other random numbers") for note in drawn.notes)


async def test_a_fix_may_have_other_files_arguments_and_a_module(session: Session) -> None:
    script = "import sys\nassert sys.argv[1] == 'go'\n" + GAN
    fixed = script.replace("D(fake).mean() - D", "D(fake.data).mean() - D")
    before, after = (
        Version({"pkg/__init__.py": "", "pkg/train.py": text}, "pkg/train.py", ["go"], "pkg.train")
        for text in (script, fixed)
    )
    verdict = await verify(before, after, session)
    assert verdict.verdict == "same", verdict.summary


async def test_a_fix_that_tampers_proves_nothing(session: Session) -> None:
    fix = ("D(fake).mean() - D", "D(fake.detach()).mean() - D")
    hidden = ("for _ in", "torch.Tensor.backward = lambda self: None\nfor _ in")
    verdict = await verified(session, GAN, fix, hidden)
    assert verdict.verdict == "not_comparable"


async def test_an_error_that_is_not_autograds_leaves_nothing_to_compare(session: Session) -> None:
    script = GAN.replace("D(fake).mean() - D", "D(fake.data).mean() - D")
    script = script.replace("optG.step()", "optG.stp()")
    verdict = await verified(session, script, ("stp", "step"))
    assert verdict.verdict == "not_comparable"
    assert "AttributeError" in verdict.summary
    assert next(check.status for check in verdict.checks if check.name == "runs") == "passed"
