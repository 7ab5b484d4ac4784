"""Leaves and gradients that are replaced between two steps."""

from __future__ import annotations

import pytest

from tests.tracing import Tracing, silent_kinds

REPLACED = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    out = net(torch.randn(5, 3))
    own = torch.autograd.grad(out.mean(), [*net.parameters()], retain_graph=True)
    out.square().mean().backward()
    for p, g in zip(net.parameters(), own):
        GIVEN
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "reported"), [("p.grad = g", []), ("p.grad += g", ["uncleared-gradients"])]
)
def test_gradients_that_are_replaced_before_a_step_hold_no_earlier_ones(
    traced: Tracing, given: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, REPLACED.replace("GIVEN", given)) == reported


RENEWED = """\
w = torch.full((3,), 0.5, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    (w - 1).square().sum().backward()
    optimizer.step()
    GIVEN
"""


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("w = w.detach().clamp(min=0).requires_grad_()", ["unfed-parameters"]),
        ("w.data.clamp_(min=0)", []),
    ],
)
def test_a_leaf_recomputed_behind_each_step_leaves_its_optimizer_with_nothing(
    traced: Tracing, given: str, reported: list[str]
) -> None:
    assert silent_kinds(traced, RENEWED.replace("GIVEN", given)) == reported


NAMED = """\
kept = {"shares": torch.rand(4), "gain": torch.zeros(4)}
for value in kept.values():
    value.requires_grad_()
optimizer = torch.optim.SGD(kept.values(), lr=0.1)
for step in range(12):
    loss = (kept["shares"] * kept["gain"].exp() - 0.5).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        GIVEN
"""


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("kept = {k: v.clamp(0, 1) if k == 'shares' else v for k, v in kept.items()}", True),
        ("kept['shares'].clamp_(0, 1)", False),
        ("if step == 3: kept['shares'] = kept['shares'].clone()", False),  # it learns no more
    ],
)
def test_leaves_whose_names_go_to_new_tensors_behind_each_step(
    traced: Tracing, given: str, reported: bool
) -> None:
    found = silent_kinds(traced, NAMED.replace("GIVEN", given))
    assert found == (["unfed-parameters"] if reported else [])


CONTENDING = """\
made, judge = nn.Linear(2, 3), nn.Linear(3, 1)
first = torch.optim.SGD(made.parameters(), lr=0.01)
second = torch.optim.SGD(judge.parameters(), lr=0.01)
for _ in range(8):
    first.zero_grad()
    second.zero_grad()
    out = made(torch.randn(16, 2))
    judge(out).mean().neg().backward()
    first.step()
    CLEARED
    (SIGN * judge(out.detach()).mean()).backward()
    second.step()
"""


@pytest.mark.parametrize(
    ("sign", "cleared", "reported"),
    [
        ("0.5", "pass", ["uncleared-gradients"]),  # what the one step lowers, the other raises
        ("-0.5", "pass", []),  # two losses of one step
        ("0.5", "second.zero_grad()", []),
    ],
)
def test_gradients_of_another_step_that_pull_the_other_way(
    traced: Tracing, sign: str, cleared: str, reported: list[str]
) -> None:
    script = CONTENDING.replace("SIGN", sign).replace("CLEARED", cleared)
    assert silent_kinds(traced, script) == reported
