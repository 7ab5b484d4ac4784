"""Numbers and samples that a loss is computed from, although what made them is meant to learn."""

from __future__ import annotations

import pytest

from tests.tracing import Tracing

HEAD = """\
import torch
from torch import nn
from torch.distributions import Laplace, Normal, kl_divergence
torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.01)
prior = Normal(torch.zeros(2), torch.ones(2))
"""


def _lines(traced: Tracing, script: str) -> list[str]:
    """Return the lines on which the slower run sees a gradient lost."""
    slower = traced(HEAD + script, mode="inplace").trace
    found = [fault for fault in slower.silent if fault.kind == "constant-term"]
    return [(HEAD + script).splitlines()[fault.at.line - 1].strip() for fault in found if fault.at]


@pytest.mark.parametrize(
    ("penalty", "term", "line"),
    [
        ("code.abs().mean().item()", "0.3 * penalty", "penalty = code.abs().mean().item()"),
        ("0.3 * float(code.abs().mean())", "penalty", "penalty = 0.3 * float(code.abs().mean())"),
        ("code.abs().mean()", "0.3 * penalty.item()", "loss = loss + 0.3 * penalty.item()"),
        ("code.abs().mean().detach()", "0.3 * penalty", None),  # it says that it means it
        ("code.abs().mean()", "0.3 * penalty", None),
        ("0.3 * len(code)", "penalty", None),
        ("code.abs().max().item()", "code.sum() / penalty", None),  # a scale, and no term
    ],
)
def test_a_term_that_is_a_number(
    traced: Tracing, penalty: str, term: str, line: str | None
) -> None:
    script = f"""\
for _ in range(6):
    x = torch.randn(8, 6)
    code = encoder(x).chunk(2, 1)[0]
    loss = (decoder(code) - x).square().mean()
    penalty = {penalty}
    loss = loss + {term}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert _lines(traced, script) == ([line] if line else [])


@pytest.mark.parametrize(
    ("sample", "reported"),
    [
        ("q.sample()", True),
        ("torch.normal(mean, scale)", True),  # its gradient is zero
        ("q.rsample()", False),
        ("mean + scale * torch.randn_like(scale)", False),
        ("prior.sample((8,))", False),  # of what nothing trains
    ],
)
def test_a_sample_that_passes_no_gradient_on(
    traced: Tracing, sample: str, *, reported: bool
) -> None:
    script = f"""\
for _ in range(6):
    x = torch.randn(8, 6)
    mean, scale = encoder(x).chunk(2, 1)
    scale = nn.functional.softplus(scale)
    q = Normal(mean, scale)
    z = {sample}
    loss = (decoder(z) - x).square().mean() + kl_divergence(q, prior).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert _lines(traced, script) == ([f"z = {sample}"] if reported else [])


def test_a_target_is_seen_where_it_also_fills_gradients_that_nothing_clears(
    traced: Tracing,
) -> None:
    script = """\
import copy
slow = copy.deepcopy(encoder)
for _ in range(12):
    now, later = torch.randn(8, 6), torch.randn(8, 6)
    target = 1.0 + 0.9 * decoder(slow(later)[:, :2])
    loss = nn.functional.mse_loss(decoder(encoder(now)[:, :2]), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for one, other in zip(slow.parameters(), encoder.parameters()):
        one.data.mul_(0.9).add_(other.data, alpha=0.1)
"""
    found = traced(HEAD + script).trace.silent
    assert {fault.kind for fault in found} == {"uncleared-gradients", "bootstrap-target"}
