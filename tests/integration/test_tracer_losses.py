"""What losses are made of, and what is frozen, moved or read between two of them."""

from __future__ import annotations

import pytest

from sandbox.inside.detectors.details import CROSSED
from tests.tracing import Tracing

HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("target", "reported"),
    [
        ("1.0 + 0.9 * net(later)", ["bootstrap-target"]),
        ("1.0 + 0.9 * net(later).detach()", []),
        ("nn.Linear(3, 1)(later)", []),  # of another network, which nothing trains
    ],
)
def test_a_loss_that_trains_its_own_target(
    traced: Tracing, target: str, reported: list[str]
) -> None:
    script = f"""\
for _ in range(6):
    now, later = torch.randn(5, 3), torch.randn(5, 3)
    target = {target}
    loss = F.mse_loss(net(now), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    found = traced(HEAD + script).trace.silent
    assert [(fault.kind, fault.doubtful) for fault in found] == [(kind, True) for kind in reported]
    assert [fault.at.line for fault in found if fault.at] == [10] * len(reported)


@pytest.mark.parametrize(
    ("loss", "reported"),
    [
        ("(net(now) - (1.0 + 0.9 * net(later))).square().mean()", 1),
        ("(1.0 + 0.9 * net(later) - net(now)).abs().mean()", 1),
        ("F.kl_div(net(now).log_softmax(0), net(now).softmax(0))", 1),
        ("F.kl_div(net(now).log_softmax(0), net(now).softmax(0).detach())", 0),
        ("(net(now) - net(later).detach()).square().mean()", 0),
    ],
)
def test_what_an_error_is_written_out_for_moves_too(
    traced: Tracing, loss: str, reported: int
) -> None:
    script = f"""\
for _ in range(6):
    now, later = torch.randn(5, 3), torch.randn(5, 3)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    found = traced(HEAD + script).trace.silent
    assert [(fault.kind, fault.at and fault.at.line) for fault in found] == [
        ("bootstrap-target", 9)
    ] * reported


PREDICTED = """\
encode, predict = nn.Linear(3, 4), nn.Linear(4, 4)
optimizer = torch.optim.SGD([*encode.parameters(), *predict.parameters()], lr=0.1)
for _ in range(6):
    one, other = encode(torch.randn(5, 3)), encode(torch.randn(5, 3))
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("loss", "reported"),
    [
        ("-alike(predict(one), other).mean() - alike(predict(other), one).mean()", [1.0]),
        ("-alike(other, predict(one)).mean() - alike(one, predict(other)).mean()", [0.0]),
        ("F.mse_loss(predict(one), other) + F.mse_loss(predict(other), one)", [1.0]),
        ("-alike(predict(one), other.detach()).mean()", None),
        ("-alike(one, other).mean() - alike(predict(one), predict(other)).mean()", []),
    ],
)
def test_predictions_of_what_the_other_is_made_of(
    traced: Tracing, loss: str, reported: list[float] | None
) -> None:
    script = PREDICTED.replace("LOSS", loss).replace("alike", "F.cosine_similarity")
    found = traced(HEAD + script).trace.silent
    assert [fault.kind for fault in found] == ([] if reported is None else ["bootstrap-target"])
    for fault in found:
        assert fault.detail == (CROSSED if reported else "")
        assert fault.figures == tuple(reported or ())


def test_each_line_of_a_loss_that_moves_its_target_is_reported(traced: Tracing) -> None:
    script = """\
for _ in range(6):
    now, later = torch.randn(5, 3), torch.randn(5, 3)
    first = F.mse_loss(net(now), net(later))
    second = F.smooth_l1_loss(net(later), net(now))
    optimizer.zero_grad()
    (first + second).backward()
    optimizer.step()
"""
    found = traced(HEAD + script).trace.silent
    assert sorted(fault.at.line for fault in found if fault.at) == [9, 10]


@pytest.mark.parametrize("given", ["", ", create_graph=True"])
def test_a_term_made_of_gradients_without_a_graph(traced: Tracing, given: str) -> None:
    script = f"""\
for _ in range(6):
    x = torch.randn(5, 3, requires_grad=True)
    out = net(x)
    slope = torch.autograd.grad(out.sum(), x, retain_graph=True{given})[0]
    loss = out.square().mean() + slope.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    slower = traced(HEAD + script, mode="inplace").trace
    reported = [fault.at.line for fault in slower.silent if fault.at]
    assert reported == ([] if given else [10])


@pytest.mark.parametrize(
    ("loss", "reported"),
    [
        ("out.square().mean() + (slope + x).square().mean()", True),  # a graph, of x alone
        ("(slope + out * x).square().mean()", True),
        ("torch.stack([out.square().mean(), slope.square().mean()]).sum()", True),
        ("(slope.detach() + out * x).square().mean()", False),  # it says that it means it
        ("net(x + slope.sign()).square().mean()", False),  # where a layer looks at
        ("(slope.square() * out).square().mean()", False),  # a weight
    ],
)
def test_what_a_loss_is_computed_from_with_a_derivative_without_a_graph(
    traced: Tracing, loss: str, *, reported: bool
) -> None:
    script = f"""\
def gradient(y, x):
    return torch.autograd.grad(y.sum(), x, retain_graph=True)[0]
for _ in range(6):
    x = torch.rand(5, 3, requires_grad=True)
    out = net(x)
    slope = gradient(out, x)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    first = traced(HEAD + script).trace
    assert first.ended is not None
    assert 8 in [at.line for at in first.ended.constant_at]
    slower = traced(HEAD + script, mode="inplace").trace
    found = [fault.at.line for fault in slower.silent if fault.kind == "constant-term" and fault.at]
    assert found == ([8] if reported else [])


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ("p.data.square().sum()", 12),
        ("p.detach().square().sum()", None),  # it says that it means it
        ("p.square().sum()", None),
        ("torch.zeros_like(p).sum()", None),  # nothing of the weight's is in it
    ],
)
def test_a_term_that_adds_a_number_and_no_gradient(
    traced: Tracing, term: str, line: int | None
) -> None:
    script = f"""\
for _ in range(6):
    loss = net(torch.randn(5, 3)).square().mean()
    optimizer.zero_grad()
    penalty = 0.0
    for p in net.parameters():
        penalty = penalty + {term}
    (loss + 0.01 * penalty).backward()
    optimizer.step()
"""
    first = traced(HEAD + script).trace
    assert first.ended is not None
    assert not first.silent
    slower = traced(HEAD + script, mode="inplace").trace
    found = [fault for fault in slower.silent if fault.kind == "constant-term"]
    assert [fault.at.line for fault in found if fault.at] == ([line] if line else [])
    if line:
        assert first.ended.constant_terms


@pytest.mark.parametrize(
    ("weights", "reported"),
    [
        ("net.state_dict().items()", True),
        ("net.state_dict(keep_vars=True).items()", False),
        ("net.named_parameters()", False),
    ],
)
def test_a_term_made_of_a_state_has_no_gradient(
    traced: Tracing, weights: str, *, reported: bool
) -> None:
    script = f"""\
for _ in range(6):
    loss = net(torch.randn(5, 3)).square().mean()
    penalty = torch.zeros(())
    for name, weight in {weights}:
        penalty = penalty + weight.square().sum()
    optimizer.zero_grad()
    (loss + 0.01 * penalty).backward()
    optimizer.step()
"""
    slower = traced(HEAD + script, mode="inplace").trace
    found = [fault for fault in slower.silent if fault.kind == "constant-term"]
    lines = [(HEAD + script).splitlines()[fault.at.line - 1] for fault in found if fault.at]
    assert ["state_dict" in line for line in lines] == ([True] if reported else [])


@pytest.mark.parametrize(
    ("second", "reported"),
    [
        ("torch.autograd.grad(first.sum(), x, retain_graph=True)[0]", True),
        ("torch.autograd.grad(first.sum(), x, create_graph=True)[0]", False),
        # a weight that balances two losses is a number on purpose
        ("torch.autograd.grad(y.sum(), net.weight, retain_graph=True)[0].norm()", False),
    ],
)
def test_a_derivative_without_a_graph_next_to_one_that_has_one(
    traced: Tracing, second: str, *, reported: bool
) -> None:
    script = f"""\
scale = torch.ones(1, requires_grad=True)
for _ in range(6):
    x = torch.rand(5, 3, requires_grad=True)
    y = net(x).tanh()
    first = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    second = {second}
    loss = (first - scale * second).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    (first,) = filter(None, [traced(HEAD + script).trace.ended])
    assert first.constant_terms is reported  # which makes the service look closer
    slower = traced(HEAD + script, mode="inplace").trace
    found = [fault for fault in slower.silent if fault.kind == "constant-term"]
    lines = [(HEAD + script).splitlines()[fault.at.line - 1] for fault in found if fault.at]
    assert ["second =" in line for line in lines] == ([True] if reported else [])


@pytest.mark.parametrize(
    ("term", "reported"),
    [("y.argmax(1).float().mean()", True), ("y.softmax(1)[:, 0].mean()", False)],
)
def test_a_term_made_of_the_chosen_classes(traced: Tracing, term: str, *, reported: bool) -> None:
    script = f"""\
for _ in range(6):
    y = net(torch.randn(5, 3))
    loss = y.square().mean() + {term}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    slower = traced(HEAD + script, mode="inplace").trace
    assert [fault.kind for fault in slower.silent] == ["constant-term"] * reported


@pytest.mark.parametrize(("clear", "reported"), [("optimizer.zero_grad()", False), ("pass", True)])
def test_a_gradient_that_has_moved_its_weights_and_is_added_to(
    traced: Tracing, clear: str, reported: bool
) -> None:
    script = f"""\
for _ in range(6):
    x = torch.randn(5, 3)
    optimizer.zero_grad()
    net(x).square().mean().backward()
    with torch.no_grad():
        kept = [p.clone() for p in net.parameters()]
        for p in net.parameters():
            p.add_(p.grad, alpha=0.05)
    {clear}
    net(x).square().mean().backward()
    with torch.no_grad():
        for p, old in zip(net.parameters(), kept):
            p.copy_(old)
    optimizer.step()
"""
    found = traced(HEAD + script).trace.silent
    assert [fault.kind for fault in found] == ["uncleared-gradients"] * reported
    assert [fault.at.line for fault in found if fault.at] == [16] * reported
