"""In-place changes, missing graphs and silent faults, read from source alone."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.evidence import Evidence, InplaceChange, MissingGraph, SilentFault
from analyzers.reading import read
from analyzers.source.project import Project

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
head = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
w = torch.randn(4, requires_grad=True)
x = torch.randn(2, 4)
"""
OFFSET = HEAD.count("\n")


def found(body: str) -> tuple[Evidence, ...]:
    return read(Project({"train.py": HEAD + textwrap.dedent(body)})).evidence


STALE = {
    "a step between two walks": (
        "a, b = net(x).sum(), net(x).pow(2).sum()\na.backward()\nopt.step()\nb.backward()\n",
        (3, "step"),
    ),
    "adding to what relu saved": (
        "y = F.relu(net(x))\ny += 1\ny.sum().backward()\n",
        (2, "add_"),
    ),
    "a method that writes": ("y = net(x).sigmoid()\ny.mul_(2)\ny.sum().backward()\n", (2, "mul_")),
    "a slice that is written": (
        "y = net(x).exp()\ny[0] = 0\ny.sum().backward()\n",
        (2, "copy_"),
    ),
    "a step on the way to the last of three names": (
        "loss = {'a': head(x).sum(), 'b': head(x).sum(), 'c': net(x).pow(2).sum()}\n"
        "for name in ('a', 'b', 'c'):\n    opt.zero_grad()\n    loss[name].backward()\n"
        "    opt.step()\n",
        (5, "step"),
    ),
    "a step once a buffer is full": (
        "held, loss = [], net(x).pow(2).sum()\nfor i in range(50):\n    held.append(i)\n"
        "    if len(held) >= 32:\n        opt.step()\nloss.backward()\n",
        (5, "step"),
    ),
    "a step under layers of a class of the script's own": (
        "class Deep(nn.Sequential):\n    def __init__(self):\n"
        "        super().__init__(nn.Linear(4, 4), nn.Tanh())\n"
        "        self.add_module('last', nn.Linear(4, 1))\n"
        "deep = Deep()\nmine = torch.optim.SGD(deep.parameters(), lr=0.1)\n"
        "loss = deep(x).sum()\nmine.step()\nloss.backward()\n",
        (8, "step"),
    ),
    "a layer that works in place": (
        "act = nn.ReLU(inplace=True)\ny = net(x).tanh()\nz = act(y)\n(y + z).sum().backward()\n",
        (3, "relu_"),
    ),
}


@pytest.mark.parametrize("name", STALE)
def test_a_change_under_a_saved_value_is_found(name: str) -> None:
    body, (line, op) = STALE[name]
    (change,) = found(body)
    assert isinstance(change, InplaceChange)
    assert change.kind == "saved"
    where = change.changes[0].at
    assert where is not None
    assert (where.line - OFFSET, change.changes[0].op) == (line, op)


def test_a_step_names_the_parameter_as_changed() -> None:
    (change,) = found(STALE["a step between two walks"][0])
    assert isinstance(change, InplaceChange)
    assert change.is_parameter


FORBIDDEN = {
    "a leaf": ("w += 1\n", "leaf"),
    "a leaf by method": ("w.mul_(2)\n", "leaf"),
    "a slice of a leaf": ("w[0] = 1.0\n", "leaf"),
    "one of several views": ("a, b = net(x).chunk(2)\na += 1\n", "view"),
    "a row of an iteration": ("for row in net(x):\n    row += 1\n", "view"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_forbidden_writes_are_found(name: str) -> None:
    body, kind = FORBIDDEN[name]
    (change,) = found(body + "net(x).sum().backward()\n")
    assert isinstance(change, InplaceChange)
    assert change.kind == kind


LOST = {
    "item": "loss = torch.tensor(net(x).sum().item())\nloss.backward()\n",
    "detach": "loss = net(x).detach().pow(2).sum()\nloss.backward()\n",
    "data": "loss = F.mse_loss(net(x).data, x)\nloss.backward()\n",
    "tensor": "parts = [net(x).sum()]\nloss = torch.tensor(parts).sum()\nloss.backward()\n",
    "argmax": "loss = F.l1_loss(net(x).argmax(1).float(), x)\nloss.backward()\n",
    "no_grad": "with torch.no_grad():\n    loss = net(x).sum()\nloss.backward()\n",
}


@pytest.mark.parametrize("cause", LOST)
def test_what_ended_the_graph_is_named(cause: str) -> None:
    (missing,) = found(LOST[cause])
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == cause
    assert missing.at is not None
    assert HEAD.count("\n") + LOST[cause].count("\n") == missing.at.line


def test_a_loss_of_many_values_is_found() -> None:
    (missing,) = found("loss = F.mse_loss(net(x), x, reduction='none')\nloss.backward()\n")
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == "non_scalar"


def test_several_losses_stacked_are_not_one_number() -> None:
    (missing,) = found("parts = [net(row).sum() for row in x]\ntorch.stack(parts).backward()\n")
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == "non_scalar"


UNREACHED = {
    "unused": "t = torch.rand(3, requires_grad=True)\nu = net(x * w).sum()\n",
    "flat-input": "t = torch.rand(3)\nu = net(x * t * w).sum()\n",
}


@pytest.mark.parametrize("why", UNREACHED)
def test_a_gradient_of_what_the_output_was_not_made_from_is_found(why: str) -> None:
    (missing,) = found(UNREACHED[why] + "g = torch.autograd.grad(u, (w, t))\n")
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == why
    assert missing.holders[0].path == "t"


def test_a_leaf_that_its_own_update_replaced_is_found() -> None:
    missing = found("for _ in range(3):\n    (x @ w).sum().backward()\n    w = w - 0.1 * w.grad\n")[
        0
    ]
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == "rebound"
    assert missing.ended_at is not None
    assert missing.ended_at.line == OFFSET + 3


NO_LEAF = {
    "its gradient is read": "y = net(x)\ny.pow(2).sum().backward()\nprint(y.grad)\n",
    "it is optimised": "z = w * 2\nfree = torch.optim.SGD([z], lr=1.0)\nz.sum().backward()\n",
}


@pytest.mark.parametrize("name", NO_LEAF)
def test_a_value_that_is_no_leaf_is_found(name: str) -> None:
    missing = found(NO_LEAF[name])[0]
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == "nonleaf"


@pytest.mark.parametrize(
    ("body", "op"),
    [
        ("y = net(x)\nloss = y.sum()\nloss.backward()\nprint(y.numpy())\n", "numpy"),
        ("import numpy as np\ny = net(x)\ny.sum().backward()\nprint(np.exp(-y))\n", "numpy"),
        ("import copy\nkept = copy.deepcopy({'y': net(x)})\nnet(x).sum().backward()\n", "deepcopy"),
    ],
)
def test_what_a_tensor_with_a_history_refuses_is_found(body: str, op: str) -> None:
    (missing,) = found(body)
    assert isinstance(missing, MissingGraph)
    assert missing.op == op


LOOP = "for _ in range(5):\n    loss = net(x).pow(2).mean()\n"
SILENT = {
    "growing-graph": "total = 0\n" + LOOP + "    opt.zero_grad()\n    loss.backward()\n"
    "    opt.step()\n    total += loss\n",
    "uncleared-gradients": LOOP + "    loss.backward()\n    opt.step()\n",
    "reaching-back": "h = torch.zeros(2, 4)\nfor _ in range(5):\n"
    "    h = torch.tanh(net(x) + h)\n"
    "    h.sum().backward(retain_graph=True)\n",
}

ADAPTED = """\
from torch.func import functional_call
for _ in range(5):
    opt.zero_grad()
    total = 0
    for task in range(3):
        fast = dict(net.named_parameters())
        for _ in range(2):
            inner = functional_call(net, fast, (x,)).pow(2).mean()
            grads = torch.autograd.grad(inner, fast.values())
            fast = {k: p - 0.01 * g.detach() for (k, p), g in zip(fast.items(), grads)}
        total = total + functional_call(net, fast, (x,)).pow(2).mean()
    total.backward()
    opt.step()
"""

OLD_GRADIENT = "net(x).pow(2).sum().backward()\nold = [p.grad for p in net.parameters()]\n"
KEPT = {
    "multiplied with those of now": (
        "{clear}net(x).sum().backward()\n"
        "dot = sum((a * p.grad).sum() for a, p in zip(old, net.parameters()))\n"
    ),
    "stacked": "{clear}net(x).sum().backward()\ntorch.stack([old[0], net[0].weight.grad])\n",
    "compared as views": (
        "{clear}net(x).sum().backward()\nnow = [p.grad.detach() for p in net.parameters()]\n"
        "F.cosine_similarity(old[0].flatten(), now[0].flatten(), dim=0)\n"
    ),
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("clear", ["", "opt.zero_grad(set_to_none=False)\n"])
def test_one_gradient_taken_for_two_is_found(name: str, clear: str) -> None:
    (fault,) = found(OLD_GRADIENT + KEPT[name].format(clear=clear))
    assert isinstance(fault, SilentFault)
    assert fault.kind == "overwritten-gradient"
    assert "old" in fault.holders[0].path


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize(
    "clear",
    [
        "opt.zero_grad()\n",
        "for p in net.parameters():\n    p.grad = None\n",
        "for p in unseen(x):\n    p.grad = None\n",
        "from elsewhere import begin\nbegin(net)\n",
        "old = [g.clone() for g in old]\n",
    ],
)
def test_gradients_in_tensors_of_their_own_are_two(name: str, clear: str) -> None:
    assert found(OLD_GRADIENT + KEPT[name].format(clear=clear)) == ()


def test_a_sum_of_losses_after_inner_steps_is_no_growing_total() -> None:
    assert found(ADAPTED) == ()


@pytest.mark.parametrize("kind", SILENT)
def test_silent_faults_are_found(kind: str) -> None:
    (fault,) = found(SILENT[kind])
    assert isinstance(fault, SilentFault)
    assert fault.kind == kind


HEALTHY = {
    "a gradient that was asked for": (
        "y = net(x)\ny.retain_grad()\ny.pow(2).sum().backward()\nprint(y.grad)\n"
    ),
    "all walks, then the steps": (
        "a, b = net(x).sum(), net(x).pow(2).sum()\nopt.zero_grad()\na.backward()\nb.backward()\n"
        "opt.step()\n"
    ),
    "a fresh forward after the step": (
        "for _ in range(3):\n    opt.zero_grad()\n    net(x).pow(2).sum().backward()\n"
        "    opt.step()\n"
    ),
    "another network's step in between": (
        "other = torch.optim.SGD(head.parameters(), lr=0.1)\na = net(x).pow(2).sum()\n"
        "b = head(x).sum()\nb.backward()\nother.step()\na.backward()\n"
    ),
    "adding to what nothing saved": "y = net(x)\ny += 1\ny.sum().backward()\n",
    "a residual block": (
        "norm = nn.BatchNorm1d(4)\ny = norm(net(x))\ny += x\nF.relu(y).sum().backward()\n"
    ),
    "a write without recording": "with torch.no_grad():\n    w += 1\n(x @ w).sum().backward()\n",
    "an update by hand": (
        "for _ in range(3):\n    (x @ w).sum().backward()\n    with torch.no_grad():\n"
        "        w -= 0.1 * w.grad\n        w.grad.zero_()\n"
    ),
    "an initialiser": "nn.init.zeros_(head.weight)\nhead(x).sum().backward()\n",
    "a buffer of data": (
        "out = torch.zeros(2, 4)\nfor i in range(4):\n    out[:, i] = i\n"
        "(net(x) * out).sum().backward()\n"
    ),
    "steps after several walks": (
        "for i in range(8):\n    (net(x).pow(2).mean() / 4).backward()\n    if i % 4 == 3:\n"
        "        opt.step()\n        opt.zero_grad()\n"
    ),
    "cleared as None": (
        "for _ in range(3):\n    for p in net.parameters():\n        p.grad = None\n"
        "    net(x).sum().backward()\n    opt.step()\n"
    ),
    "cleared by the model": (
        "for _ in range(3):\n    net.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n"
    ),
    "steps in a loop over a generator's losses": (
        "def losses():\n    for _ in range(4):\n        yield head(net(x)).pow(2).sum()\n"
        "for i, loss in enumerate(losses()):\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()\n"
    ),
    "a generator that goes on with what its reader has cut": (
        "state = torch.zeros(2, 4)\ndef states():\n    global state\n    while True:\n"
        "        state = torch.tanh(net(x) + state)\n        yield state\n"
        "for y in states():\n    y.sum().backward()\n    state = state.detach()\n"
    ),
    "a name that a comprehension gives to something else": (
        "import torch as t\nstate = x, x\nfor _ in range(3):\n"
        "    state = tuple(t.detach() for t in state)\n"
        "    state = [t.tanh(net(s) + s) for s in state]\n    state[0].sum().backward()\n"
        "    state = [t.zeros(2, 4), state[0]]\n"
    ),
    "a total of numbers": (
        "total = 0.0\n" + LOOP + "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
        "    total += loss.item()\n"
    ),
    "a sum over one forward": (
        "loss = 0\nfor row in x:\n    loss = loss + net(row).pow(2).sum()\nloss.backward()\n"
    ),
    "unrolled gradients": (
        "for _ in range(3):\n    y = net(x).pow(2).sum()\n    fast = w\n    for _ in range(3):\n"
        "        (g,) = torch.autograd.grad((fast ** 2).sum(), fast, create_graph=True)\n"
        "        fast = fast - 0.1 * g\n    opt.zero_grad()\n    (y + fast.sum()).backward()\n"
        "    opt.step()\n"
    ),
    "a constant that was detached": (
        "target = net(x).detach()\nF.mse_loss(head(x), target[:, :1]).backward()\n"
    ),
    "a copied network": (
        "import copy\ntwin = copy.deepcopy(net)\nF.mse_loss(net(x), twin(x).detach()).backward()\n"
    ),
    "a gradient that may be missing": (
        "t = torch.rand(3, requires_grad=True)\nu = net(x).sum()\n"
        "g = torch.autograd.grad(u, t, allow_unused=True)\n"
    ),
    "a gradient through a function that is not seen": (
        "from elsewhere import solve\nt = torch.rand(3, requires_grad=True)\n"
        "(g,) = torch.autograd.grad(solve(t, net(x)).sum(), t)\n"
    ),
    "the gradient of a gradient's weights": (
        "v = torch.ones(2, 4, requires_grad=True)\ny = net(x * w)\n"
        "(g,) = torch.autograd.grad(y, w, v, create_graph=True)\n"
        "(h,) = torch.autograd.grad(g.sum(), v)\n"
    ),
    "a state that its property cuts": (
        "class Holder:\n    def __init__(self):\n        self._h = None\n"
        "    @property\n    def h(self):\n        return self._h\n"
        "    @h.setter\n    def h(self, value):\n        self._h = value.detach()\n"
        "cell, holder = nn.RNNCell(4, 4), Holder()\nholder.h = x\nfor _ in range(4):\n"
        "    holder.h = y = cell(x, holder.h)\n    y.sum().backward()\n"
    ),
    "states that a loop over layers cuts": (
        "class Leaky(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.v = torch.zeros(4)\n    def forward(self, x):\n"
        "        self.v = (self.v * 0.9 + x).tanh()\n        return self.v\n"
        "deep = nn.Sequential(nn.Linear(4, 4), Leaky(), nn.Linear(4, 4), Leaky())\n"
        "for _ in range(4):\n    for part in deep:\n        if isinstance(part, Leaky):\n"
        "            part.v = part.v.detach()\n    deep(x).sum().backward()\n"
    ),
    "states of a network that is not seen, each cut in place": (
        "state = None\nfor _ in range(4):\n    y, state = unseen(net(x), state)\n"
        "    y.sum().backward()\n    for s in state:\n        s.detach_()\n"
    ),
    "a state that is not seen, cut in place": (
        "state = None\nfor _ in range(4):\n    y, state = unseen(net(x), state)\n"
        "    y.sum().backward()\n    state.detach_()\n"
    ),
    "stacked losses, averaged": (
        "parts = [net(row).sum() for row in x]\ntorch.stack(parts).mean().backward()\n"
    ),
    "numbers of a detached output": ("y = net(x)\ny.sum().backward()\nprint(y.detach().numpy())\n"),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_scripts_give_no_evidence(name: str) -> None:
    assert found(HEALTHY[name]) == ()


def test_a_write_by_way_of_data_leaves_the_version() -> None:
    body = """\
        for _ in range(4):
            kept = net(x)
            kept.sum().backward(retain_graph=True)
            with torch.no_grad():
                for p in net.parameters():
                    CHANGE
            kept.pow(2).sum().backward()
        """
    assert not found(body.replace("CHANGE", "p.data.sub_(0.1 * p.grad)"))
    (change,) = found(body.replace("CHANGE", "p.sub_(0.1 * p.grad)"))
    assert isinstance(change, InplaceChange)
