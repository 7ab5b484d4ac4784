"""Fixes of slips in programs whose parts stand apart: what was meant is in another function or
file, in a step that comes much later, or in another loop."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, SourceFile
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

# The evaluation resets for each task; the training does so before its tasks.
RESET_IN_ANOTHER_LOOP = """\
import torch
from torch import nn
from torch.nn import functional as F

class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
        self.reset_context()

    def reset_context(self):
        self.context = torch.zeros(4).to("cpu")
        self.context.requires_grad = True

    def forward(self, x):
        return self.body(torch.cat((x, self.context.expand(x.shape[0], -1)), 1))

def adapt(net, x, y):
    for _ in range(2):
        loss = F.mse_loss(net(x), y)
        gradient, = torch.autograd.grad(loss, net.context, create_graph=True)
        net.context = net.context - 0.5 * gradient

def evaluate(net):
    losses = []
    for phase in torch.rand(3):
        net.reset_context()
        x = torch.randn(8, 1)
        adapt(net, x, torch.sin(x + phase))
        losses.append(F.mse_loss(net(x), torch.sin(x + phase)).item())
    return sum(losses)

torch.manual_seed(0)
net = Adapted()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    sums = [torch.zeros_like(p) for p in net.parameters()]
    net.reset_context()
    for phase in torch.rand(3):
        x = torch.randn(8, 1)
        adapt(net, x, torch.sin(x + phase))
        loss = F.mse_loss(net(x), torch.sin(x + phase))
        for total, gradient in zip(sums, torch.autograd.grad(loss, list(net.parameters()))):
            total += gradient
    for p, total in zip(net.parameters(), sums):
        p.grad = total / 3
    optimizer.step()
print(evaluate(net))
"""

# A layer's running mean is written in place, and copied with the best model of an epoch.
COPIED_STATISTICS = """\
import copy
import torch
from torch import nn

class Centred(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
        self.register_buffer("running", torch.zeros(size))

    def forward(self, x):
        mean = x.mean(0)
        self.running.mul_(0.0)
        self.running.add_(mean)
        return (x - mean) * self.scale

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), Centred(4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for step in range(4):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
    best = copy.deepcopy(net)
"""

# Ten steps of the critic, of three backward calls each, come before the first of the maker.
SLOPES_CUT = """\
import torch
from torch import nn

def penalty(critic, real, fake):
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    slopes, = torch.autograd.grad(critic(between).sum(), between)
    return (slopes.norm(2, 1) - 1).square().mean()

torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
critic = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
of_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(4):
    for _ in range(10):
        real, fake = torch.randn(8, 2) + 2, maker(torch.randn(8, 2)).detach()
        of_critic.zero_grad()
        (-critic(real).mean()).backward()
        critic(fake).mean().backward()
        extra = 10 * penalty(critic, real, fake)
        extra.backward()
        of_critic.step()
    of_maker.zero_grad()
    (-critic(maker(torch.randn(8, 2))).mean()).backward()
    of_maker.step()
"""

# What a list keeps was made, last of all, in a function of another file.
FIELD = """\
import torch
from torch import nn

class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        return torch.autograd.grad(self.net(x).sum(), x, create_graph=True)[0]
"""
KEPT_ELSEWHERE = """\
import torch
from field import Field

def train():
    torch.manual_seed(0)
    field = Field()
    optimizer = torch.optim.Adam(field.parameters(), 1e-3)
    x, held_out = torch.randn(2, 16, 2, requires_grad=True).unbind()
    stats = {"train": [], "test": []}
    for step in range(40):
        loss = (field(x) - x).square().mean()
        loss.backward(inputs=list(field.parameters()))
        optimizer.step()
        optimizer.zero_grad()
        test_loss = (field(held_out) - held_out).square().mean()
        stats["train"].append(loss.item())
        stats["test"].append(test_loss)
    return stats

train()
"""

# The method that makes the optimizer knows the model under another name than the script.
PART_GIVEN = """\
import torch
from torch import nn

class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.decoder = nn.Linear(2, 4)

    def forward(self, x):
        return self.decoder(self.encoder(x))

class Experiment:
    def __init__(self, model):
        self.model = model

    def configure(self):
        return torch.optim.SGD(self.model.decoder.parameters(), lr=0.1)

def main():
    torch.manual_seed(0)
    model = Coder()
    optimizer = Experiment(model).configure()
    for step in range(30):
        x = torch.randn(8, 4)
        model.zero_grad()
        (model(x) - x).square().mean().backward()
        optimizer.step()

main()
"""


@pytest.mark.parametrize(
    ("script", "pattern", "added"),
    [
        (RESET_IN_ANOTHER_LOOP, "higher-order", ["net.reset_context()"]),
        (
            COPIED_STATISTICS,
            "deepcopy-nonleaf",
            ["with torch.no_grad():", "self.running.mul_(0.0)", "self.running.add_(mean)"],
        ),
        (
            SLOPES_CUT,
            "detached-loss",
            ["slopes, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)"],
        ),
        (KEPT_ELSEWHERE, "growing-history", ['stats["test"].append(test_loss.detach())']),
        (
            PART_GIVEN,
            "starved-parameter",
            ["return torch.optim.SGD(self.model.parameters(), lr=0.1)"],
        ),
    ],
    ids=["reset", "statistics", "slopes", "kept", "part"],
)
async def test_what_was_meant_comes_first(
    service: Service, script: str, pattern: str, added: list[str]
) -> None:
    files = [SourceFile(path="field.py", content=FIELD)] if "import Field" in script else []
    found = await service.ask(DiagnosisRequest(script=script, files=files), RUNNING)
    first = found.patches[0]
    assert found.causes[0].pattern == pattern
    assert first.verification.status == "passed"
    lines = [line[1:].strip() for line in first.diff.splitlines()[2:] if line.startswith("+")]
    assert lines == added
