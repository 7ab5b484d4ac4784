"""Freed graphs that are reached again, in the many shapes that scripts give them."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.evidence import GraphReuse, Reading
from analyzers.reading import read
from analyzers.source.project import Project
from tests.reuse_sources import FAILING, RENEWED, USED

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
net = nn.Linear(4, 4)
head = nn.Linear(4, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
w = torch.randn(4, requires_grad=True)
x = torch.randn(2, 4)
"""
OFFSET = HEAD.count("\n")


def reading_of(body: str, head: str = HEAD) -> Reading:
    return read(Project({"train.py": head + textwrap.dedent(body)}))


def reuses(body: str, head: str = HEAD) -> list[GraphReuse]:
    return [found for found in reading_of(body, head).evidence if isinstance(found, GraphReuse)]


def said(reuse: GraphReuse) -> tuple[int, int, str]:
    """Lines of both walks within the body, and the first name that carried the graph."""
    names = [holder.path for edge in reuse.stale_edges for holder in edge.holders]
    return (
        reuse.freed.at.line - OFFSET,
        reuse.reached.at.line - OFFSET,
        names[0].partition("[")[0] if names else "",
    )


@pytest.mark.parametrize("name", FAILING)
def test_reuse_is_found_and_its_carrier_named(name: str) -> None:
    body, expected = FAILING[name]
    assert expected in [said(found) for found in reuses(body)]


def test_a_loader_hands_out_parts_of_what_it_was_given() -> None:
    found = reuses("""
        target = x @ net.weight + w
        batches = Batches(x, target, 1)
        for seen, wanted in batches:
            loss = criterion(seen @ w, wanted)
            loss.backward()
    """)
    assert {said(reuse)[2] for reuse in found} == {"target"}


@pytest.mark.parametrize(("mode", "found"), [("square", True), ("sum", False), ("cube", False)])
def test_only_the_case_that_matches_is_followed(mode: str, *, found: bool) -> None:
    body = f"""
        mode = "{mode}"
        match mode:
            case "sum":
                y = w + w
            case "square":
                y = w.exp()
            case other:
                y = w.detach()
        y.sum().backward()
        y.sum().backward()
    """
    assert bool(reuses(body)) is found


HEALTHY = {
    "dropped by a hook of the step": (RENEWED + "opt.register_step_post_hook(drop)\n" + USED),
    "dropped before each forward": (
        RENEWED
        + "net.register_forward_pre_hook(drop)\n"
        + USED.replace("    if", "    y = net(x)\n    if").replace("net(x).sum()", "y.sum()")
    ),
    "its own forward for each sample": (
        "for row in x:\n    head(torch.tanh(net(row))).sum().backward()\n"
    ),
    "a layer called twice": (
        "a, b = net(x).pow(2).sum(), net(x).exp().sum()\na.backward()\nb.backward()\n"
    ),
    "nothing saved": "for _ in range(3):\n    total = w.sum()\n    total.backward()\n",
    "a total of sums": (
        "total = 0\nfor _ in range(3):\n    total = total + w.sum()\n    total.backward()\n"
    ),
    "detached in the forward": (
        "h = torch.zeros(2, 4)\nfor _ in range(3):\n    h = torch.tanh(net(h.detach()))\n"
        "    h.sum().backward()\n"
    ),
    "replaced by one that is detached": (
        "from dataclasses import dataclass, replace\n@dataclass(frozen=True)\nclass State:\n"
        "    h: torch.Tensor\n    def cut(self):\n        return replace(self, h=self.h.detach())\n"
        "state = State(torch.zeros(2, 4))\nfor _ in range(3):\n"
        "    state = State(torch.tanh(net(state.h)))\n    state.h.sum().backward()\n"
        "    state = state.cut()\n"
    ),
    "detached when there is one": (
        "h = None\nfor _ in range(3):\n    if h is not None:\n        h = h.detach()\n"
        "    h = torch.tanh(net(x) + (0 if h is None else h))\n    h.sum().backward()\n"
    ),
    "detached and walked by the same clock": (
        "h = torch.zeros(2, 4)\nfor i in range(12):\n    if i % 3 == 0:\n        h = h.detach()\n"
        "    h = torch.tanh(net(h))\n    if i % 3 == 2:\n        h.sum().backward()\n"
    ),
    "detached and walked by an unknown clock": (
        "h = torch.zeros(2, 4)\nfor i, batch in enumerate(loader):\n    if i % k == 0:\n"
        "        h = h.detach()\n    h = torch.tanh(net(h))\n    if i % k == k - 1:\n"
        "        h.sum().backward()\n"
    ),
    "a window that is cut after its walk": (
        "h, loss = torch.zeros(2, 4), 0\nfor t in range(1000):\n    h = torch.tanh(net(h))\n"
        "    loss = loss + h.sum()\n    if (t + 1) % 100 == 0:\n        loss.backward()\n"
        "        h, loss = h.detach(), 0\n"
    ),
    "one of two ways to walk": (
        "for _ in range(3):\n    loss = net(x).pow(2).sum()\n    if amp:\n"
        "        scaler.scale(loss).backward()\n    else:\n        loss.backward()\n"
    ),
    "one of two ways to walk, asked twice": (
        "for _ in range(3):\n    loss = net(x).pow(2).sum()\n    if args.amp:\n"
        "        scaler.scale(loss).backward()\n    if not args.amp:\n        loss.backward()\n"
    ),
    "another phase, another loss": (
        "for batch in loader:\n    loss = net(x).pow(2).sum()\n    if phase == 'a':\n"
        "        loss.backward()\n    elif phase == 'b':\n        loss.backward()\n"
        "    if phase == 'c':\n        loss.backward()\n"
    ),
    "kept on purpose": (
        "y = torch.tanh(net(x))\nhead(y).sum().backward(retain_graph=True)\ny.sum().backward()\n"
    ),
    "logged as a number": (
        "seen = []\nfor _ in range(3):\n    loss = net(x).pow(2).sum()\n    loss.backward()\n"
        "    seen.append(loss.item())\nprint(sum(seen))\n"
    ),
    "made without recording": (
        "with torch.no_grad():\n    y = torch.tanh(net(x))\nfor _ in range(3):\n"
        "    head(y).sum().backward()\n"
    ),
    "made by a decorated function": (
        "@torch.no_grad()\ndef teacher():\n    return torch.tanh(net(x))\ny = teacher()\n"
        "for _ in range(3):\n    head(y).sum().backward()\n"
    ),
    "made by a function that is decorated later": (
        "def teacher():\n    return torch.tanh(net(x))\nteacher = torch.no_grad(teacher)\n"
        "y = teacher()\nfor _ in range(3):\n    head(y).sum().backward()\n"
    ),
    "frozen": (
        "for p in net.parameters():\n    p.requires_grad = False\ny = torch.tanh(net(x))\n"
        "for _ in range(3):\n    head(y).sum().backward()\n"
    ),
    "frozen by name": (
        "for name, p in net.named_parameters():\n    p.requires_grad = False\n"
        "y = torch.tanh(net(x))\nfor _ in range(3):\n    head(y).sum().backward()\n"
    ),
    "meant to fail": (
        "import pytest\nloss = net(x).pow(2).sum()\nloss.backward()\n"
        "with pytest.raises(RuntimeError):\n    loss.backward()\n"
    ),
    "a sample of a distribution": (
        "d = torch.distributions.Categorical(logits=net(x))\na = d.sample()\nfor _ in range(3):\n"
        "    d = torch.distributions.Categorical(logits=net(x))\n"
        "    (-d.log_prob(a)).mean().backward()\n"
    ),
    "models and loaders that something prepared": (
        "model, opt, loader = prepare(net, opt, loader)\nfor epoch in range(3):\n"
        "    for x, y in loader:\n        opt.zero_grad()\n        loss = criterion(model(x), y)\n"
        "        loss.backward()\n        opt.step()\n"
    ),
    "a model from a table of names": (
        "model = models.__dict__[arch](pretrained=True)\nmodel = wrap(model)\n"
        "opt = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x, y in loader:\n"
        "    opt.zero_grad()\n    criterion(model(x), y).backward()\n    opt.step()\n"
    ),
    "labels that something loads": (
        "graph, features, labels = load_data(args)\nlabels = labels.to(device)\n"
        "for epoch in range(3):\n"
        "    opt.zero_grad()\n    loss = F.cross_entropy(net(features), labels[mask])\n"
        "    loss.backward()\n    opt.step()\n"
    ),
    "a loader that something sets up": (
        "train_loader, val_loader = set_loader(opt)\nfor epoch in range(3):\n"
        "    for i, (x, y) in enumerate(train_loader):\n        loss = net(x).sum()\n"
        "        loss.backward()\n"
    ),
    "an unknown mask": (
        "mask = make_mask(x)\nfor _ in range(3):\n    (net(x) * mask).sum().backward()\n"
    ),
    "an own autograd function": (
        "class Cut(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n"
        "        return a\n    @staticmethod\n    def backward(ctx, g):\n        return g\n"
        "for _ in range(3):\n    Cut.apply(net(x)).sum().backward()\n"
    ),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_scripts_give_no_evidence(name: str) -> None:
    assert reading_of(HEALTHY[name]).evidence == ()
