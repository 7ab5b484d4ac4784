"""Changes of healthy trainings, verified in the real sandbox: every verdict and every note."""

from __future__ import annotations

import pytest

from app.verify import Verdict, Version, verify
from sandbox.protocol import Session

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def verified(
    session: Session, script: str, *edits: tuple[str, str], steps: int | None = None
) -> Verdict:
    """The verdict on a script with some of its text replaced."""
    changed = script
    for old, new in edits:
        assert old in changed
        changed = changed.replace(old, new)
    before, after = Version({"train.py": script}), Version({"train.py": changed})
    return await verify(before, after, session, time_limit_s=60.0, steps=steps)


def status(verdict: Verdict, name: str) -> str | None:
    return next((check.status for check in verdict.checks if check.name == name), None)


CNN = """\
import copy
import torch
from torch import nn
torch.manual_seed(0)
x, y = torch.randn(24, 1, 6, 6), torch.randint(0, 3, (24,))
net = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)
)
slow = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 6, gamma=0.5)
criterion = nn.CrossEntropyLoss()
for step in range(14):
    loss = criterion(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    with torch.no_grad():
        for p, q in zip(slow.parameters(), net.parameters()):
            p.lerp_(q, 0.1)
print("loss", loss.item())
"""

AS_CLASS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Linear(64, 3)
    def forward(self, v):
        return self.out(self.norm(self.conv(v)).relu().flatten(1))
net = Net()
"""

HARMLESS = {
    "nothing": [("torch.manual_seed(0)", "torch.manual_seed(0)  # for ever")],
    "renamed": [("net", "model"), ("optimizer", "opt"), ("lr_scheduler", "lr_scheduler")],
    "a class of its own": [
        (CNN[CNN.index("net = ") : CNN.index("slow = ")], AS_CLASS),
    ],
    "two groups": [
        ("net.parameters(), lr", "[{'params': net[4:].parameters()}, "
         "{'params': net[:4].parameters()}], lr"),
    ],
    "two optimizers": [
        ("SGD(net.parameters()", "SGD(net[:4].parameters()"),
        ("schedule = ", "more = torch.optim.SGD(net[4:].parameters(), lr=0.05, momentum=0.9)\n"
         "later = torch.optim.lr_scheduler.StepLR(more, 6, gamma=0.5)\nschedule = "),
        ("optimizer.zero_grad()", "net.zero_grad()"),
        ("optimizer.step()", "optimizer.step(); more.step(); later.step()"),
    ],
    "halves": [("net(x)", "torch.cat([*net(x).split(12)])")],
    "the loss by hand": [("criterion(net(x), y)", "-net(x).log_softmax(1)[range(24), y].mean()")],
    "many comments": [("for step", "# a comment\n" * 60 + "for step")],
}  # fmt: skip


@pytest.mark.parametrize("edit", HARMLESS)
async def test_the_same_training_written_otherwise(session: Session, edit: str) -> None:
    verdict = await verified(session, CNN, *HARMLESS[edit])
    assert verdict.verdict == "same", verdict.summary
    assert verdict.steps_equal == verdict.steps_compared == 14
    assert verdict.witness is None
    assert status(verdict, "control") == "passed"


BY_RMSPROP = ("SGD(net.parameters(), lr=0.05, momentum=0.9)", "RMSprop(net.parameters(), lr=0.05)")
LATER = "    loss = loss * (2 if step > 8 else 1)\n    optimizer.zero_grad()\n"
CHANGED: dict[str, tuple[tuple[str, str], int | None, str]] = {
    "learning rate": (("lr=0.05", "lr=0.06"), 1, "lr 0.05, now 0.06"),
    "schedule": (("gamma=0.5", "gamma=0.4"), 7, "lr 0.025, now 0.02"),
    "the schedule is dropped": (("    schedule.step()\n", ""), 7, "lr 0.025, now 0.05"),
    "momentum": (("momentum=0.9", "momentum=0.8"), 1, "momentum 0.9, now 0.8"),
    "optimizer": (BY_RMSPROP, 1, "is changed by another amount"),
    "decay": (("0.9)", "0.9, weight_decay=1e-4)"), 1, "weight_decay 0, now 0.0001"),
    "batch norm": (("BatchNorm2d(4)", "BatchNorm2d(4, momentum=0.2)"), 1, "holds another"),
    "the slow network": (("lerp_(q, 0.1)", "lerp_(q, 0.2)"), 2, "holds another value"),
    "fewer steps": (("range(14)", "range(12)"), None, "12 steps, where there were 14"),
    "more steps": (("range(14)", "range(15)"), None, "15 steps, where there were 14"),
    "not cleared": (("    optimizer.zero_grad()\n", ""), 2, "gets another gradient"),
    "weights at the end": (
        ("print(", "net[4].weight.data.mul_(0.5)\nprint("),
        None,
        "holds another",
    ),
    "a later step": (("    optimizer.zero_grad()\n", LATER), 10, "gets another gradient"),
}


@pytest.mark.parametrize("edit", CHANGED)
async def test_another_training_is_seen_with_its_first_step(session: Session, edit: str) -> None:
    replacement, step, what = CHANGED[edit]
    verdict = await verified(session, CNN, replacement)
    assert verdict.verdict == "changed", verdict.summary
    assert verdict.witness is not None
    assert verdict.witness.step == step
    assert what in verdict.witness.what
    assert verdict.steps_equal == (step - 1 if step is not None else verdict.steps_compared)


async def test_the_witness_has_the_lines_of_the_first_loss_that_differs(session: Session) -> None:
    edit = ("loss = criterion(net(x), y)\n", "out = net(x)\n    loss = criterion(out, y) + 0.1\n")
    same = await verified(session, CNN, edit)
    assert same.verdict == "same"  # a constant has no gradient
    assert any(note.startswith("other loss") for note in same.notes)
    twice = edit[0], edit[1].replace("+ 0.1", "* (1 + step // 3)")
    changed = await verified(session, CNN, twice)
    assert changed.witness is not None
    assert changed.witness.step == 4
    assert (changed.witness.line_before, changed.witness.line_after) == (16, 17)
    assert changed.witness.code_before == "loss.backward()"
    assert changed.witness.loss_before is not None
    assert changed.witness.loss_after == pytest.approx(2 * changed.witness.loss_before, rel=1e-3)


async def test_a_part_that_stops_learning_breaks_the_training(session: Session) -> None:
    frozen = await verified(
        session, CNN, ("schedule = ", "net[4].requires_grad_(False)\nschedule = ")
    )
    assert frozen.verdict == "breaks"
    assert "net.4.weight" in frozen.summary
    assert status(frozen, "learns") == "failed"
    dropped = await verified(session, CNN, ("SGD(net.parameters()", "SGD(net[:4].parameters()"))
    assert dropped.verdict in ("breaks", "changed")


async def test_a_change_that_raises_breaks_the_training(session: Session) -> None:
    verdict = await verified(session, CNN, ("nn.Linear(64, 3)", "nn.Linear(63, 3)"))
    assert verdict.verdict == "breaks"
    assert "RuntimeError" in verdict.summary
    assert status(verdict, "runs") == "failed"


async def test_another_seed_is_a_change_of_the_random_numbers_alone(session: Session) -> None:
    verdict = await verified(session, CNN, ("manual_seed(0)", "manual_seed(1)"))
    assert verdict.verdict == "changed"
    assert "same mathematics, with other random numbers" in verdict.summary
    assert status(verdict, "held") == "passed"
    assert any(note.startswith("other random numbers") for note in verdict.notes)


async def test_random_numbers_to_no_effect_are_a_note(session: Session) -> None:
    drawn = "    schedule.step()\n    torch.rand(3)\n"
    verdict = await verified(session, CNN, ("    schedule.step()\n", drawn))
    assert verdict.verdict == "same"
    assert any("to no effect" in note for note in verdict.notes)


async def test_other_output_is_a_note(session: Session) -> None:
    verdict = await verified(session, CNN, ('print("loss"', 'print("last loss"'))
    assert verdict.verdict == "same"
    assert any(note.startswith("prints something else: 'loss") for note in verdict.notes)
