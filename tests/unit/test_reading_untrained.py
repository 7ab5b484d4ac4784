"""Parameters that a loss is computed from and that no gradient reaches, read from source alone."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.evidence import SilentFault
from analyzers.reading import read
from analyzers.source.project import Project

HEAD = """\
import math
import torch
import torch.nn as nn
from torch.distributions import Normal
from torch.optim import SGD
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 3), nn.Linear(3, 4)
        self.scale = nn.Parameter(torch.ones(1))
net = Net()
x = torch.randn(8, 4)
"""
OFFSET = HEAD.count("\n")
ALL = "opt = SGD(net.parameters(), lr=0.1)\n"
STEP = """\
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def untrained(body: str) -> list[SilentFault]:
    evidence = read(Project({"train.py": HEAD + body})).evidence
    return [
        found
        for found in evidence
        if isinstance(found, SilentFault) and found.kind == "unfed-parameters"
    ]


def trained(forward: str, owned: str = ALL) -> str:
    return owned + "for _ in range(4):\n" + textwrap.indent(forward, "    ") + STEP


CUTS = {
    "detached": (
        "z = net.encoder(x).detach()\nloss = net.decoder(z).sum()\n",
        "net.encoder.weight",
        1,
    ),
    "the data": (
        "z = net.encoder(x).data\nloss = net.decoder(z * 2).sum()\n",
        "net.encoder.weight",
        1,
    ),
    "not recorded": (
        "with torch.no_grad():\n    z = torch.tanh(net.encoder(x))\nloss = net.decoder(z).sum()\n",
        "net.encoder.weight",
        2,
    ),
    "numbers": (
        "factor = math.exp(net.scale.item())\n"
        "loss = (factor * net.decoder(net.encoder(x))).sum()\n",
        "net.scale",
        1,
    ),
    "lists": (
        "rows = net.encoder(x).tolist()\nz = torch.tensor(rows)\nloss = net.decoder(z).sum()\n",
        "net.encoder.weight",
        1,
    ),
    "NumPy": (
        "z = torch.from_numpy(net.encoder(x).detach().numpy())\nloss = net.decoder(z).sum()\n",
        "net.encoder.weight",
        1,
    ),
    "sampled": (
        "mean = net.encoder(x)\nz = Normal(mean, 1.0).sample()\nloss = net.decoder(z).sum()\n",
        "net.encoder.weight",
        2,
    ),
    "a leaf of its own": (
        "z = net.encoder(x).detach().requires_grad_()\nloss = net.decoder(z).sum()\n",
        "net.encoder.weight",
        1,
    ),
    "two cuts, one behind the other": (
        "z = torch.relu(net.encoder(x).detach())\nwith torch.no_grad():\n    z = z + 1\n"
        "loss = net.decoder(z).sum()\n",
        "net.encoder.weight",
        1,
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_a_parameter_behind_a_cut_gets_no_gradient(name: str) -> None:
    forward, parameter, line = CUTS[name]
    (fault,) = untrained(trained(forward))
    assert parameter in fault.params
    assert "net.decoder.weight" not in fault.params
    assert fault.at is not None
    assert fault.at.line - OFFSET == line + 2  # behind the optimizer and the loop's head


def test_nothing_learns() -> None:
    forward = (
        "loss = net.decoder(net.encoder(x)).pow(2).mean()\nloss = loss.data.requires_grad_()\n"
    )
    (fault,) = untrained(trained(forward))
    assert {"net.encoder.weight", "net.decoder.weight"} <= set(fault.params)


HEALTHY = {
    "frozen": trained(
        "z = net.encoder(x).detach()\nloss = net.decoder(z).sum()\n",
        "for p in net.encoder.parameters():\n    p.requires_grad = False\n" + ALL,
    ),
    "frozen, layer by layer": trained(
        "z = net.deep(x).detach()\nloss = net.decoder(z).sum()\n",
        "net.deep = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4))\n"
        "for p in net.deep.parameters():\n    p.requires_grad_(False)\n" + ALL,
    ),
    "not the optimizer's": trained(
        "z = net.encoder(x).detach()\nloss = net.decoder(z).sum()\n",
        "opt = SGD(net.decoder.parameters(), lr=0.1)\n",
    ),
    "only what requires a gradient": trained(
        "z = net.encoder(x).detach()\nloss = net.decoder(z).sum()\n",
        "net.encoder.requires_grad_(False)\n"
        "opt = SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)\n",
    ),
    "reached beside the cut": trained(
        "z = net.encoder(x)\nloss = net.decoder(z.detach()).sum() + z.pow(2).mean()\n"
    ),
    "a straight-through estimator": trained(
        "z = net.encoder(x)\nhard = z + (z.round() - z).detach()\nloss = net.decoder(hard).sum()\n"
    ),
    "logged": trained(
        "z = net.encoder(x)\nprint(z.detach().mean(), net.scale.item())\n"
        "loss = net.decoder(z).sum() * net.scale\n"
    ),
    "a generator with a walk of its own": (
        "g, d = SGD(net.encoder.parameters(), lr=0.1), SGD(net.decoder.parameters(), lr=0.1)\n"
        "for _ in range(4):\n    fake = net.encoder(x)\n    d.zero_grad()\n"
        "    net.decoder(fake.detach()).sum().backward()\n    d.step()\n    g.zero_grad()\n"
        "    net.decoder(fake).sum().backward()\n    g.step()\n"
    ),
    "trained before": (
        ALL + "for _ in range(3):\n    loss = net.encoder(x).pow(2).mean()\n" + STEP
        + "for _ in range(3):\n    loss = net.decoder(net.encoder(x).detach()).sum()\n" + STEP
    ),
    "set by hand": trained(
        "z = net.encoder(x).detach()\nloss = net.decoder(z).sum()\nwith torch.no_grad():\n"
        "    for p in net.encoder.parameters():\n        p.mul_(0.99)\n"
    ),
    "gradients by hand": trained(
        "z = net.encoder(x).detach()\nloss = net.decoder(z).sum()\n"
        "for p in net.encoder.parameters():\n"
        "    p.grad = torch.ones_like(p)\n"
    ),
    "reached later only": trained(
        "z = net.encoder(x)\nloss = net.decoder(z.detach()).sum()\nif torch.rand(1) > 0.5:\n"
        "    loss = loss + z.sum()\nelse:\n    loss = loss * 2\n"
    ),
    "handed to something that is not seen": trained(
        "z = net.encoder(x)\nelsewhere.sample(z)\nloss = net.decoder(z.detach()).sum()\n"
    ),
    "stepped once": (
        ALL + "loss = net.decoder(net.encoder(x).detach()).sum()\nloss.backward()\nopt.step()\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_what_is_frozen_fed_elsewhere_or_unclear_is_trained(name: str) -> None:
    assert untrained(HEALTHY[name]) == []
