"""What a verification notes: rounding, precision, closures, what does not repeat itself."""

from __future__ import annotations

import pytest

from app.verify import Version, verify
from sandbox.protocol import Session
from tests.integration.test_verify import status, verified

pytestmark = pytest.mark.asyncio(loop_scope="session")

BF16 = """\
import torch
from torch import nn
torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 4).softmax(1)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
for step in range(6):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(x)
    loss = -(y * out.float().log_softmax(1)).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_rounding_is_distinguished_from_a_change_in_double(session: Session) -> None:
    halves = await verified(session, BF16, ("net(x)", "torch.cat([net(x[:20]), net(x[20:])])"))
    assert halves.verdict == "same"
    assert status(halves, "plain") == "differs"
    assert status(halves, "double") == "passed"
    assert any(note.startswith("rounding") for note in halves.notes)
    other = await verified(session, BF16, ("net(x)", "1.01 * net(x)"))
    assert other.verdict == "changed"


async def test_a_change_that_shows_in_single_precision_alone_is_no_rounding(
    session: Session,
) -> None:
    hidden = "(net(x) - (1.001 if x.dtype == torch.float32 and step else 1))"
    verdict = await verified(session, LONG, ("(net(x) - 1)", hidden), steps=12)
    assert verdict.verdict == "changed"
    assert status(verdict, "double") == "passed"


async def test_another_precision_is_named(session: Session) -> None:
    edit = '    with torch.autocast("cpu", dtype=torch.bfloat16):\n        out', "    out"
    verdict = await verified(session, BF16, edit)
    assert verdict.verdict == "changed"
    assert "other precision: autocast bfloat16, now single" in verdict.notes


BY_HAND = """\
import torch
torch.manual_seed(0)
x = torch.randn(20, 3)
y = x.sum(1, keepdim=True) + 1
w, b = torch.zeros(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for step in range(10):
    loss = (x @ w + b - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad = b.grad = None
"""
UPDATE = BY_HAND[BY_HAND.index("    with") :]


async def test_updates_by_hand_are_compared(session: Session) -> None:
    optimizer = ("for step", "optimizer = torch.optim.SGD([w, b], lr=0.1)\nfor step")
    update = (UPDATE, "    optimizer.step()\n    optimizer.zero_grad()\n")
    assert (await verified(session, BY_HAND, optimizer, update)).verdict == "same"
    left = await verified(session, BY_HAND, ("        b -= 0.1 * b.grad\n", ""))
    assert left.verdict in ("changed", "breaks")
    upwards = await verified(session, BY_HAND, ("w -=", "w +="))
    assert upwards.verdict == "changed"


LBFGS = """\
import torch
from torch import nn
torch.manual_seed(0)
x = torch.linspace(-1, 1, 30)[:, None]
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=5)
def closure():
    optimizer.zero_grad()
    loss = (net(x) - x.sin()).pow(2).mean()
    loss.backward()
    return loss
for step in range(6):
    optimizer.step(closure)
"""


async def test_an_optimizer_with_a_closure_is_compared(session: Session) -> None:
    assert (await verified(session, LBFGS, ("closure", "again"))).verdict == "same"
    assert (await verified(session, LBFGS, (".pow(2)", ".abs()"))).verdict == "changed"
    assert (await verified(session, LBFGS, ("max_iter=5", "max_iter=4"))).verdict == "changed"


LONG = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 1)
x = torch.randn(16, 4)
optimizer = torch.optim.Adam(net.parameters())
for step in range(300):
    loss = (net(x) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_a_change_that_begins_late_is_seen(session: Session) -> None:
    late = (
        "    optimizer.zero_grad()",
        "    loss = loss * (1 + (step > 200))\n    optimizer.zero_grad()",
    )
    verdict = await verified(session, LONG, late)
    assert verdict.verdict == "changed"
    assert verdict.witness is not None
    assert verdict.witness.step is not None
    assert 200 <= verdict.witness.step <= 212


async def test_both_are_stopped_after_the_same_number_of_steps(session: Session) -> None:
    verdict = await verified(session, LONG, ("net", "model"), steps=20)
    assert verdict.verdict == "same"
    assert verdict.steps_compared == 20
    assert "in the first 20 steps" in verdict.summary
    late = ("(net(x) - 1)", "(net(x) - 1 - 1.0 * (step > 30))")
    assert (await verified(session, LONG, late, steps=20)).verdict == "same"
    endless = await verified(session, LONG.replace("range(300)", "iter(int, 1)"), ("net", "model"))
    assert endless.verdict == "same"
    assert f"{endless.steps_compared} compared of " in endless.summary
    assert " steps seen, " in endless.summary


UNSTEADY = {
    "seed": [("torch.manual_seed(0)", "torch.seed()")],
    "clock": [("loss = (", "loss = (1 + __import__('time').time_ns() % 997) * (")],
    "order of a set": [
        ("for step in range(300):", "for word in {'ash', 'birch', 'elm', 'fir', 'oak'}:"),
        ("(net(x) - 1)", "(net(x) - len(word))"),
    ],
}


@pytest.mark.parametrize("cause", UNSTEADY)
async def test_an_original_that_does_not_repeat_itself_is_named(
    session: Session, cause: str
) -> None:
    script = LONG
    for old, new in UNSTEADY[cause]:
        script = script.replace(old, new)
    verdict = await verified(session, script, ("net", "model"))
    assert verdict.verdict == "not_comparable"
    assert "does not repeat itself" in verdict.summary
    assert status(verdict, "control") == "differs"
    assert verdict.witness is not None
    assert verdict.witness.line_before is not None
    assert ("no seed fixes" in verdict.summary) == (cause == "seed")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("print('no training')\n", "takes no step"),
        ("import torch\nraise ValueError('no')\n", "ValueError: no"),
    ],
)
async def test_what_cannot_be_compared_says_why(session: Session, script: str, why: str) -> None:
    verdict = await verify(Version({"train.py": script}), Version({"train.py": LONG}), session)
    assert verdict.verdict == "not_comparable"
    assert why in verdict.summary


TAMPERS = {
    "replaces steps": "torch.optim.Adam.step = lambda self: None",
    "clears hooks": "import sys; "
    "sys.modules['torch.optim.optimizer']._global_optimizer_post_hooks.clear()",
    "reads other numbers": "torch.Tensor.double = torch.Tensor.clone",
    "closes the records": "import os; os.closerange(3, 64)",
    "imports the tracer": (
        "from sandbox.inside.recorders import steps; steps.StepWatch.emit_step = print"
    ),
}


@pytest.mark.parametrize("how", TAMPERS)
async def test_a_change_that_tampers_is_never_the_same(session: Session, how: str) -> None:
    wrapped = f"try:\n    {TAMPERS[how]}\nexcept Exception:\n    pass\nfor step"
    faster = ("optim.Adam(net.parameters())", "optim.Adam(net.parameters(), lr=1.0)")
    verdict = await verified(session, LONG, ("for step", wrapped), faster)
    assert verdict.verdict != "same"
    hidden = await verified(session, LONG, ("for step", wrapped))
    assert hidden.verdict != "same"
