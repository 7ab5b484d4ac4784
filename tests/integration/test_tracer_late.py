"""What begins to learn after the optimizer of the rest was made is reported; what was left out of
it, or is trained elsewhere, is not."""

from __future__ import annotations

import pytest

from tests.tracing import HEAD, Tracing, silent_kinds

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.parts = nn.Linear(3, 4), nn.ModuleList([nn.Linear(4, 1)])
        self.teacher = nn.Linear(3, 1)

    def forward(self, x):
        h = torch.tanh(self.body(x))
        return sum(part(h) for part in self.parts)

net = Net()
AHEAD
optimizer = torch.optim.SGD(TRAINED, lr=0.1)
for step in range(12):
    x = torch.randn(8, 3)
    if step == 4:
        LATER
    loss = net(x).square().mean()
    BESIDE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    THEN
"""
FROZEN = "net.body.requires_grad_(False)"
ALL, HEAD_ONLY = "[*net.body.parameters(), *net.parts.parameters()]", "net.parts.parameters()"
DISTILLED = "if step >= 4: loss = loss + (net(x) - net.teacher(x)).square().mean()"
OTHER = "net.parts.append(nn.Linear(4, 1)); other = torch.optim.SGD(net.parts[1].parameters(), 0.1)"


def script(ahead: str, trained: str, later: str, next_to: str = "pass", then: str = "pass") -> str:
    text = NET.replace("AHEAD", ahead).replace("TRAINED", trained)
    return text.replace("LATER", later).replace("BESIDE", next_to).replace("THEN", then)


@pytest.mark.parametrize(
    ("ahead", "trained", "later", "late"),
    [
        ("pass", ALL, "net.parts.append(nn.Linear(4, 1))", "net.parts.1.weight"),
        (FROZEN, HEAD_ONLY, "net.body.requires_grad_(True)", "net.body.weight"),
    ],
)
def test_what_begins_behind_the_optimizer_is_never_stepped(
    traced: Tracing, ahead: str, trained: str, later: str, late: str
) -> None:
    (fault,) = traced(HEAD + script(ahead, trained, later)).trace.silent
    assert fault.kind == "unfed-parameters"
    assert late in fault.instead
    assert not fault.params
    assert fault.optimizer_at is not None
    assert fault.optimizer_at.line > 1


@pytest.mark.parametrize(
    ("ahead", "trained", "later", "next_to", "then"),
    [
        (FROZEN, "net.parameters()", "net.body.requires_grad_(True)", "pass", "pass"),
        ("pass", ALL, "pass", DISTILLED, "pass"),
        ("pass", ALL, OTHER, "pass", "if step >= 4: other.step(); other.zero_grad()"),
        ("pass", HEAD_ONLY, "pass", "pass", "pass"),
    ],
)
def test_what_was_left_out_or_is_trained_elsewhere_is_not_late(
    traced: Tracing, ahead: str, trained: str, later: str, next_to: str, then: str
) -> None:
    found = silent_kinds(traced, script(ahead, trained, later, next_to, then))
    assert "unfed-parameters" not in found
