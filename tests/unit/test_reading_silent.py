"""Silent faults and healthy scripts, read from source alone."""

from __future__ import annotations

import pytest

from analyzers.evidence import InplaceChange, SilentFault
from tests.unit.test_reading_others import found

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


WRITTEN_IN_PLACE = """\
class History:
    def __init__(self):
        self.rows = torch.ones(20, 4)
    def update(self, at, losses):
        for i, loss in zip(at, losses):
            self.rows[i] = torch.cat([self.rows[i, 1:], loss.reshape(1)])
history = History()
for _ in range(40):
    losses = net(x).pow(2).mean(1)
    opt.zero_grad()
    losses.mean().backward()
    opt.step()
    history.update([0, 1], losses)
"""


def test_a_tensor_that_grows_by_writes_in_place_is_found() -> None:
    (fault,) = found(WRITTEN_IN_PLACE)
    assert isinstance(fault, SilentFault)
    assert fault.kind == "growing-graph"
    assert fault.holders[0].path == "self.rows"


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
