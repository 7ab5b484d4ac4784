"""What is found after many backward calls, where few are still looked at: as in a run where all
are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tracing import HEAD, Tracing

CELL = """
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
h = torch.zeros(2, 4)
kept = []
for step in range(120):
    h = cell(torch.randn(2, 3), h)
    loss = head(h).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step != 99:
        h = h.detach()
"""
TWO = """
g, d = nn.Linear(3, 4), nn.Linear(4, 1)
both = torch.optim.SGD([*g.parameters(), *d.parameters()], lr=0.01)
for step in range(120):
    fake = g(torch.randn(2, 3))
    real = d(torch.randn(2, 4))
    given = fake if step == 101 else fake.detach()
    (d(given).mean() - real.mean()).backward()
    (-d(fake).tanh().mean()).backward()
    both.step()
    both.zero_grad()
"""
OLDER = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
past = torch.zeros(2)
for step in range(120):
    out = net(torch.randn(3))
    loss = out.square().sum()
    if step == 90:
        loss = loss + (past * out).sum()
    loss.backward()
    optimizer.zero_grad()
    if step == 80:
        past = out.exp()
"""
SUMS = """
weight = torch.ones(3, requires_grad=True)
total = torch.zeros(())
for step in range(120):
    loss = (weight * torch.randn(3)).square().sum() + (total if step >= 100 else 0)
    loss.backward()
    total = loss if step >= 99 else total
"""
NEW_LINE = """
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
kept = None
for step in range(120):
    x = torch.randn(4, 3)
    loss = net(x).square().mean()
    if step >= 70:
        kept = (net(x).sigmoid() * 2).sum() if kept is None else kept
        loss = loss + kept
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
UNCLEARED = """
picture, net = torch.zeros(2, 3, requires_grad=True), nn.Linear(3, 1)
of_picture = torch.optim.SGD([picture], lr=0.1, momentum=0.5)
of_net = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(10):
    CLEARED
    (net(picture) - 1).square().mean().backward()
    of_picture.step()
    for step in range(40):
        of_net.zero_grad()
        net(torch.randn(4, 3)).square().mean().backward()
        of_net.step()
"""


def _reported(traced: Tracing, script: str, **job: Any) -> Any:
    reuse = traced(HEAD + script, **job).trace.reuse
    assert reuse is not None
    reported = reuse.model_dump()
    reported["freed"]["root"] = []
    for edge in reported["stale_edges"]:  # names are noted only where a call is looked at
        edge["holders"] = [held for held in edge["holders"] if held["when"] == "now"]
    return reported


@pytest.mark.parametrize("script", [CELL, TWO, OLDER, SUMS, NEW_LINE])
def test_a_late_second_use_is_reported_as_if_all_calls_were_looked_at(
    traced: Tracing, script: str
) -> None:
    late, all_seen = _reported(traced, script), _reported(traced, script, gradients=True)
    assert late == all_seen


@pytest.mark.parametrize(("line", "found"), [("pass", 1), ("of_picture.zero_grad()", 0)])
def test_gradients_that_nobody_clears_are_found_between_calls_that_are_not_looked_at(
    traced: Tracing, line: str, found: int
) -> None:
    silent = traced(HEAD + UNCLEARED.replace("CLEARED", line)).trace.silent
    kinds = [one.kind for one in silent if "picture" in one.params]
    assert kinds == ["uncleared-gradients"] * found
