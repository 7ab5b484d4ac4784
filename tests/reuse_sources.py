"""Loops that reach freed graphs again, by what carries them."""

from __future__ import annotations

RENEWED = "kept = {}\ndef drop(*_):\n    kept.clear()\n"
USED = (
    "for _ in range(3):\n    if 'w' not in kept:\n        kept['w'] = torch.tanh(w)\n"
    "    opt.zero_grad()\n    net(x).sum().mul(kept['w'].sum()).backward()\n    opt.step()\n"
)
FAILING = {
    "the same loss twice": (
        "loss = net(x).pow(2).sum()\nloss.backward()\nloss.backward()\n",
        (2, 3, "loss"),
    ),
    "a state over iterations": (
        "h = torch.zeros(2, 4)\nfor i in range(5):\n    h = torch.tanh(net(h) + x)\n"
        "    h.sum().backward()\n",
        (4, 4, "h"),
    ),
    "passes taken from an iterator by hand": (
        "stop = object()\npasses = iter(range(6))\ntotal = 0\nwhile True:\n"
        "    i = next(passes, stop)\n    if i is stop:\n        break\n"
        "    total = total + net(x).pow(2).mean()\n    if i % 2:\n        total.backward()\n",
        (10, 10, "total"),
    ),
    "a shift register of three": (
        "a = b = c = torch.zeros(2, 4)\nfor i in range(9):\n    new = torch.tanh(net(a))\n"
        "    a = b\n    b = c\n    c = new\n    new.sum().backward()\n",
        (7, 7, "c"),
    ),
    "a total that is walked": (
        "total = 0\nfor i in range(3):\n    total = total + net(x).pow(2).sum()\n"
        "    total.backward()\n",
        (4, 4, "total"),
    ),
    "a list that is summed": (
        "kept = []\nfor i in range(3):\n    kept.append(net(x).pow(2).sum())\n"
        "    sum(kept).backward()\n",
        (4, 4, "kept"),
    ),
    "two losses on one trunk": (
        "t = torch.tanh(net(x))\na = head(t).sum()\nb = t.pow(2).mean()\na.backward()\n"
        "b.backward()\n",
        (4, 5, "t"),
    ),
    "made once before the loop": (
        "scale = w.exp()\nfor i in range(3):\n    loss = (net(x) * scale).sum()\n"
        "    loss.backward()\n",
        (4, 4, "scale"),
    ),
    "an lstm's tuple of states": (
        "rnn = nn.LSTM(4, 4)\nstate = None\nfor i in range(4):\n    out, state = rnn(x, state)\n"
        "    out.sum().backward()\n",
        (5, 5, "state"),
    ),
    "an attribute": (
        "class Cell(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(4, 4)\n        self.h = None\n"
        "    def forward(self, x):\n        if self.h is None:\n"
        "            self.h = torch.zeros(2, 4)\n"
        "        self.h = torch.tanh(self.fc(x + self.h))\n        return self.h\n"
        "cell = Cell()\nfor i in range(3):\n    loss = cell(x).sum()\n    loss.backward()\n",
        (14, 14, "self.h"),
    ),
    "a closure's variable": (
        "def make():\n    h = torch.zeros(2, 4)\n    def step():\n        nonlocal h\n"
        "        h = torch.tanh(net(x) + h)\n        h.pow(2).sum().backward()\n    return step\n"
        "step = make()\nfor _ in range(3):\n    step()\n",
        (6, 6, "h"),
    ),
    "a global": (
        "h = torch.zeros(2, 4)\ndef step():\n    global h\n    h = torch.tanh(net(x) + h)\n"
        "    h.pow(2).sum().backward()\nfor _ in range(3):\n    step()\n",
        (5, 5, "h"),
    ),
    "a default argument": (
        "def step(cache={}):\n    if 'y' not in cache:\n        cache['y'] = torch.tanh(net(x))\n"
        "    head(cache['y']).sum().backward()\nfor _ in range(3):\n    step()\n",
        (4, 4, "cache"),
    ),
    "a cached function": (
        "from functools import lru_cache\n@lru_cache(maxsize=None)\ndef basis():\n"
        "    return w.exp()\nfor _ in range(3):\n    b = basis()\n"
        "    (net(x) * b).sum().backward()\n",
        (7, 7, "b"),
    ),
    "a deque": (
        "from collections import deque\nbank = deque(maxlen=3)\nfor _ in range(5):\n"
        "    z = torch.tanh(net(x))\n    bank.append(z)\n"
        "    loss = torch.stack(list(bank)).pow(2).mean()\n    loss.backward()\n",
        (7, 7, "bank"),
    ),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass State:\n    h: torch.Tensor\n"
        "s = State(torch.zeros(2, 4))\nfor _ in range(3):\n"
        "    s = State(torch.tanh(net(x) + s.h))\n"
        "    s.h.sum().backward()\n",
        (8, 8, "s.h"),
    ),
    "a property": (
        "class Store:\n    def __init__(self):\n        self.y = torch.tanh(net(x))\n"
        "    @property\n    def loss(self):\n        return head(self.y).sum()\n"
        "s = Store()\nfor _ in range(3):\n    s.loss.backward()\n",
        (9, 9, "self.y"),
    ),
    "a generator": (
        "def losses():\n    y = torch.tanh(net(x))\n    for k in range(3):\n"
        "        yield head(y).sum()\nfor loss in losses():\n    loss.backward()\n",
        (6, 6, "y"),
    ),
    "a comprehension": (
        "y = torch.tanh(net(x))\n[head(row).sum().backward() for row in y]\n",
        (2, 2, "y"),
    ),
    "a lambda and partial": (
        "from functools import partial\ny = torch.tanh(net(x))\n"
        "loss_of = partial(lambda a, b: (a * b).sum(), y)\nfor i in range(2):\n"
        "    loss_of(head(x)).backward()\n",
        (5, 5, "y"),
    ),
    "a while loop": (
        "h = torch.zeros(2, 4)\nt = 0\nwhile t < 50:\n    h = torch.tanh(net(h))\n    t += 1\n"
        "    if t % 10 == 0:\n        h.sum().backward()\n",
        (7, 7, "h"),
    ),
    "a window far longer than the passes": (
        "h = torch.zeros(2, 4)\nloss = 0\nfor t in range(1000):\n    h = torch.tanh(net(h) + x)\n"
        "    loss = loss + h.sum()\n    if (t + 1) % 100 == 0:\n        loss.backward()\n"
        "        loss = 0\n",
        (7, 7, "h"),
    ),
    "an inherited method": (
        "class Base:\n    def train(self):\n        for _ in range(3):\n"
        "            self.loss().backward()\nclass Mine(Base):\n    def __init__(self):\n"
        "        self.y = torch.tanh(net(x))\n    def loss(self):\n"
        "        return head(self.y).sum()\nMine().train()\n",
        (4, 4, "self.y"),
    ),
    "grad, then backward": (
        "y = torch.tanh(net(x))\n(g,) = torch.autograd.grad(y.pow(2).sum(), net.weight)\n"
        "y.sum().backward()\n",
        (2, 3, "y"),
    ),
    "a closure of LBFGS": (
        "lbfgs = torch.optim.LBFGS(net.parameters())\nloss = net(x).pow(2).sum()\n"
        "def closure():\n    lbfgs.zero_grad()\n    loss.backward()\n    return loss\n"
        "lbfgs.step(closure)\n",
        (5, 5, "loss"),
    ),
    "cleared in place, which keeps the history": (
        "h = torch.zeros(2, 4)\nfor _ in range(3):\n    h.zero_()\n    h = torch.tanh(net(x) + h)\n"
        "    h.sum().backward()\n",
        (5, 5, "h"),
    ),
    "a detach whose result is thrown away": (
        "h = torch.zeros(2, 4)\nfor _ in range(3):\n    h.detach()\n"
        "    h = torch.tanh(net(x) + h)\n    h.sum().backward()\n",
        (5, 5, "h"),
    ),
    "dropped by a hook that nothing calls": (
        RENEWED + USED,
        (8, 8, "kept"),
    ),
    "a layer's hook that stores": (
        "kept = []\nnet.register_forward_hook(lambda m, i, o: kept.append(torch.tanh(o)))\n"
        "for _ in range(3):\n    loss = head(net(x)).sum() + sum(k.sum() for k in kept)\n"
        "    loss.backward()\n",
        (5, 5, "kept"),
    ),
}
