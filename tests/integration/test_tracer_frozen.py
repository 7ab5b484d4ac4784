"""What is frozen, moved or added up between two losses."""

from __future__ import annotations

import pytest

from tests.integration.test_tracer_losses import HEAD
from tests.tracing import Tracing


@pytest.mark.parametrize(
    ("freeze", "line"),
    [
        ("for p in net.parameters():\n        p.requires_grad_(False)", 15),
        ("net.requires_grad_(False)", 14),
        ("net[0].weight.requires_grad = False; net.requires_grad_(False)", 14),
    ],
)
def test_what_had_learnt_and_was_frozen_is_where_the_graph_ends(
    traced: Tracing, freeze: str, line: int
) -> None:
    script = f"""\
pilot = nn.Linear(3, 3)
steering = torch.optim.SGD(pilot.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(5, 3)).square().mean().backward()
    optimizer.step()
    steering.zero_grad()
    {freeze}
    net(pilot(torch.randn(5, 3))).square().mean().backward()
    steering.step()
"""
    missing = traced(HEAD + script, mode="inplace").trace.missing
    assert missing is not None
    assert missing.ended_at is not None
    assert (missing.how, missing.ended_at.line) == ("frozen", line)


def test_what_is_frozen_for_the_walk_at_hand_ends_no_graph(traced: Tracing) -> None:
    script = """\
pilot = nn.Linear(3, 3)
optimizer.zero_grad()
net(torch.randn(5, 3)).square().mean().backward()
net.requires_grad_(False)
with torch.no_grad():
    course = pilot(torch.randn(5, 3))
net(course).square().mean().backward()
"""
    missing = traced(HEAD + script, mode="inplace").trace.missing
    assert missing is not None
    assert missing.ended_at is not None
    assert (missing.how, missing.ended_at.line) == ("no_grad", 12)


@pytest.mark.parametrize("matrix", ["weight", "weight.t().t()"])
def test_a_gradient_that_is_none_where_it_is_read(traced: Tracing, matrix: str) -> None:
    script = f"""\
stem = nn.Linear(3, 3)
for _ in range(2):
    with torch.no_grad():
        coded = torch.randn(5, 3) @ stem.{matrix} @ stem.{matrix}
    net(coded).square().mean().backward()
    print(stem.weight.grad.norm())
"""
    missing = traced(HEAD + script, mode="inplace").trace.missing
    assert missing is not None
    assert missing.ended_at is not None
    assert (missing.how, missing.ended_at.line) == ("starved", 10)


def test_weights_written_past_their_graph_into_what_is_frozen(traced: Tracing) -> None:
    script = """\
writer, head = nn.Linear(2, 4), nn.Linear(4, 1, bias=False).requires_grad_(False)
optimizer = torch.optim.SGD([*net.parameters(), *writer.parameters()], lr=0.1)
for _ in range(4):
    made = writer(torch.randn(2)).view(1, 4)
    head.weight.data.copy_(made)
    loss = (net(torch.randn(5, 3)) + head(torch.randn(5, 4))).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    found = traced(HEAD + script, mode="inplace").trace.silent
    assert [fault.kind for fault in found] == ["unfed-parameters"]
    assert found[0].at is not None
    assert found[0].at.line == 11


@pytest.mark.parametrize(
    ("added", "reported"), [("loss * 5", 1), ("loss.item() * 5", 0), ("loss.detach() * 5", 0)]
)
def test_losses_that_an_evaluation_adds_up(traced: Tracing, added: str, reported: int) -> None:
    script = f"""\
total = 0
for _ in range(8):
    loss = net(torch.randn(5, 3)).square().mean()
    total += {added}
print(total)
"""
    found = traced(HEAD + script).trace.silent
    assert [fault.kind for fault in found] == ["growing-graph"] * reported
    assert [holder.path for fault in found for holder in fault.holders] == ["total"] * reported


def test_one_forward_is_no_sum(traced: Tracing) -> None:
    deep = "nn.Sequential(*[nn.Linear(3, 3) for _ in range(8)])(torch.randn(5, 3)).sum()"
    assert traced(f"{HEAD}loss = {deep}\n").trace.silent == []
