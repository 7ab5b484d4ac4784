"""Repairs of what losses are made of: what was frozen, targets that move, terms without a graph,
rollouts, gradients that are taken apart or that have served an ascent."""

from __future__ import annotations

import pytest

from tests.fixing import recognise
from tests.tracing import Tracing

HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""

FROZEN = """\
pilot = nn.Linear(3, 3)
steering = torch.optim.SGD(pilot.parameters(), lr=0.1)

def freeze(part):
    for p in part.parameters():
        p.requires_grad = False

def hold(part, on):
    for p in part.parameters():
        p.requires_grad = on
OPPOSITE
def learn():
    loss = net(torch.randn(5, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def steer():
    FREEZE
    steering.zero_grad()
    net(pilot(torch.randn(5, 3))).square().mean().backward()
    steering.step()

for _ in range(3):
    learn()
    steer()
"""
THAW = """
def thaw(part):
    '''Let it learn.'''
    for p in part.parameters():
        p.requires_grad = True
"""
ASCENT = """\
class Climber(torch.optim.SGD):
    @torch.no_grad()
    def climb(self, clear=False):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["home"] = p.clone()
                p.add_(p.grad, alpha=0.05)
        if clear:
            self.zero_grad()

climber = Climber(net.parameters(), lr=0.1)
for _ in range(6):
    x = torch.randn(5, 3)
    climber.zero_grad()
    net(x).square().mean().backward()
    climber.climb()
    net(x).square().mean().backward()
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(climber.state[p]["home"])
    climber.step()
"""
DERIVATIVE = """\
for _ in range(3):
    x = torch.randn(5, 3, requires_grad=True)
    slope, = torch.autograd.grad(net(x).sum(), x)
    loss = (slope - 1.0).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FORCES = """\
for _ in range(3):
    x = torch.randn(5, 3, requires_grad=True)
    energy = net(x)
    slope, = torch.autograd.grad(energy.sum(), x, retain_graph=True)
    wanted = 2 * x.detach()
    loss = energy.square().mean() + (slope - wanted).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TASKS = """\
heads = nn.ModuleList(nn.Linear(4, 1) for _ in range(3))
for _ in range(3):
    shared = net[:2](torch.randn(5, 3))
    losses = [head(shared).square().mean() for head in heads]
    rows = []
    for loss in losses:
        net.zero_grad()
        loss.backward()
        rows.append(net[0].weight.grad.flatten())
    print(torch.stack(rows).norm())
"""
ROLLOUT = """\
class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = net
    def forward(self, x):
        return self.body(x).squeeze(-1)

judge = Judge()

def collect(policy):
    seen, worth = [], []
    for _ in range(4):
        x = torch.randn(3)
        seen.append(x)
        worth.append(policy(x))
    return torch.stack(seen), torch.stack(worth)

def improve(seen, worth):
    gain = 1.0 - worth
    gain = gain - gain.mean()
    for _ in range(3):
        loss = (judge(seen) * gain).mean() + F.mse_loss(judge(seen), worth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

for _ in range(2):
    seen, worth = collect(judge)
    improve(seen, worth)
"""
REFRESHED = """\
class Spread(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.kept = nn.Linear(3, 3), None
    def refresh(self, x):
        self.kept = self.table(x).tanh()
    def score(self):
        return self.kept.square().mean()

spread = Spread()
optimizer = torch.optim.SGD(spread.parameters(), lr=0.1)
for _ in range(2):
    spread.refresh(torch.ones(2, 3))
    for _ in range(3):
        loss = spread.score()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
WRITTEN = """\
class Held(nn.Module):
    def __init__(self):
        super().__init__()
        self.writer = nn.Linear(2, 4)
        self.head = nn.Linear(4, 1, bias=False).requires_grad_(False)
    def install(self, made):
        for name, slot in self.head.named_parameters():
            slot.data.copy_(made[name])
    def forward(self, x, told):
        made = {"weight": self.writer(told).view(1, 4)}
        self.install(made)
        return self.head(x)

held = Held()
optimizer = torch.optim.SGD([*net.parameters(), *held.writer.parameters()], lr=0.1)
for _ in range(4):
    loss = (net(torch.randn(5, 3)) + held(torch.randn(5, 4), torch.randn(2))).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HANDED = """\
class Held(nn.Module):
    def __init__(self):
        super().__init__()
        self.writer, self.last = nn.Linear(2, 5), nn.Linear(4, 1)
    def install(self, weight, bias):
        INSTALL
    def forward(self, x, told):
        row, bias = self.writer(told)[None, :4], self.writer(told)[4:]
        self.install(row, bias)
        return self.last(x)

held = Held()
optimizer = torch.optim.SGD([*net.parameters(), *held.writer.parameters()], lr=0.1)
for _ in range(4):
    loss = (net(torch.randn(5, 3)) + held(torch.randn(5, 4), torch.randn(2))).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
EACH = """\
self.last.weight = nn.Parameter(weight)
        self.last.bias = nn.Parameter(bias)"""
IN_ORDER = """\
for own, made in zip(self.last.parameters(), weight):
            own.data.copy_(made)"""
TARGET = """\
for _ in range(6):
    now, later = torch.randn(5, 3), torch.randn(5, 3)
    goal = 1.0 + discount * net(later)
    loss = F.mse_loss(net(now), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("script", "pattern", "line"),
    [
        (
            FROZEN.replace("FREEZE", "net.requires_grad_(False)").replace("OPPOSITE", ""),
            "detached-loss",
            "net.requires_grad_(True)",
        ),
        (
            FROZEN.replace("FREEZE", "hold(net, False)").replace("OPPOSITE", ""),
            "detached-loss",
            "hold(net, True)",
        ),
        (
            FROZEN.replace("FREEZE", "freeze(net)").replace("OPPOSITE", ""),
            "detached-loss",
            "net.requires_grad_(True)",
        ),
        (
            FROZEN.replace("FREEZE", "freeze(net)").replace("OPPOSITE", THAW),
            "detached-loss",
            "thaw(net)",
        ),
        (ASCENT, "missing-zero-grad", "climber.climb(clear=True)"),
        (
            DERIVATIVE,
            "detached-loss",
            "slope, = torch.autograd.grad(net(x).sum(), x, create_graph=True)",
        ),
        (
            FORCES,
            "detached-loss",
            "slope, = torch.autograd.grad(energy.sum(), x, create_graph=True)",
        ),
        (TASKS, "shared-subgraph", "loss.backward(retain_graph=loss is not losses[-1])"),
        (ROLLOUT, "undetached-target", "@torch.no_grad()"),
        (REFRESHED, "derived-outside-loop", "spread.refresh(torch.ones(2, 3))"),
        (
            WRITTEN,
            "starved-parameter",
            "return torch.func.functional_call(self.head, made, (x,))",
        ),
        (
            HANDED.replace("INSTALL", EACH),
            "starved-parameter",
            'return torch.func.functional_call(self.last, {"weight": row, "bias": bias}, (x,))',
        ),
        (
            HANDED.replace("INSTALL", IN_ORDER).replace("(row, bias)", "((row, bias), 0)"),
            "starved-parameter",
            "weights = {name: made for (name, _), made in "
            "zip(self.last.named_parameters(), (row, bias))}",
        ),
        (
            "discount = 0.9\n" + TARGET,
            "undetached-target",
            "goal = (1.0 + discount * net(later)).detach()",
        ),
    ],
)  # fmt: skip
def test_a_proposal_says_it_as_an_expert_would(
    traced: Tracing, script: str, pattern: str, line: str
) -> None:
    found = recognise(traced, HEAD + script)
    assert found is not None
    assert found.match.pattern == pattern
    texts = [found.files(proposal)["train.py"].splitlines() for proposal in found.proposals]
    assert any(line in map(str.strip, text) for text in texts)


def test_a_target_that_nothing_calls_one_is_left_alone(traced: Tracing) -> None:
    script = "rate = 0.9\n" + TARGET.replace("discount", "rate").replace("goal", "other")
    assert recognise(traced, HEAD + script) is None
