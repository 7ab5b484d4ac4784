"""Freed graphs that are reached again, in the many shapes that scripts give them."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.evidence import GraphReuse, Reading
from analyzers.reading import read
from analyzers.source.project import Project

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


@pytest.mark.parametrize("name", FAILING)
def test_reuse_is_found_and_its_carrier_named(name: str) -> None:
    body, expected = FAILING[name]
    assert expected in [said(found) for found in reuses(body)]


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


FRAGMENTS = {
    "a loop of unknown names": (
        "for batch in loader:\n    out, hidden = model(batch, hidden)\n"
        "    loss = criterion(out, y)\n    loss.backward()\n",
        ("hidden", 4),
    ),
    "a method that nothing calls": (
        "class Trainer:\n    def __init__(self, model):\n        self.model = model\n"
        "        self.state = None\n    def step(self, x, y):\n"
        "        out, self.state = self.model(x, self.state)\n"
        "        loss = self.criterion(out, y)\n        loss.backward()\n",
        ("self.state", 8),
    ),
    "a function that nothing calls": (
        "def train(model, loader):\n    hidden = model.init_hidden()\n    for x, y in loader:\n"
        "        out, hidden = model(x, hidden)\n        loss = loss_fn(out, y)\n"
        "        loss.backward()\n",
        ("hidden", 6),
    ),
}


@pytest.mark.parametrize("name", FRAGMENTS)
def test_fragments_are_read_without_their_surroundings(name: str) -> None:
    body, (carrier, line) = FRAGMENTS[name]
    found = reuses(body, head="")
    assert [reuse.reached.at.line for reuse in found] == [line]
    names = {
        holder.path.partition("[")[0] for edge in found[0].stale_edges for holder in edge.holders
    }
    assert carrier in names


def test_several_files_are_one_script() -> None:
    project = Project(
        {
            "train.py": "from lib.cells import Cell\nimport torch\ncell = Cell()\n"
            "for _ in range(3):\n    cell.step(torch.randn(2, 4)).sum().backward()\n",
            "lib/cells.py": "import torch\nfrom torch import nn\n\n\nclass Cell:\n"
            "    def __init__(self):\n        self.fc = nn.Linear(4, 4)\n"
            "        self.h = torch.zeros(2, 4)\n\n    def step(self, x):\n"
            "        self.h = torch.tanh(self.fc(x) + self.h)\n        return self.h\n",
        }
    )
    (found,) = read(project).evidence
    assert isinstance(found, GraphReuse)
    assert (found.reached.at.file, found.reached.at.line) == ("train.py", 5)
    assert found.stale_edges[0].old.at is not None
    assert found.stale_edges[0].old.at.file == "lib/cells.py"
    assert found.stale_edges[0].holders[0].path == "self.h"


def test_a_cell_that_ran_again_walks_its_loss_twice() -> None:
    body = "loss = net(x).pow(2).sum()\nloss.backward()\n"
    project = Project({"train.py": HEAD + body})
    assert read(project).evidence == ()
    again = (OFFSET + 2, OFFSET + 2)
    (found,) = read(project, reruns=[again]).evidence
    assert isinstance(found, GraphReuse)
    assert found.same_root


def test_stacks_lead_from_the_script_to_the_walk() -> None:
    body = (
        "def walk(loss):\n    loss.backward()\nloss = net(x).exp().sum()\nwalk(loss)\nwalk(loss)\n"
    )
    (found,) = reuses(body)
    lines = [[place.line - OFFSET for place in v.stack] for v in (found.freed, found.reached)]
    assert lines == [[4, 2], [5, 2]]
    assert [place.function for place in found.freed.stack] == ["<module>", "walk"]


ENGINE = """\
class Value:
    def __init__(self, data, parents=()):
        self.data, self.parents, self.grad, self.done = data, parents, 0, False

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other))

    def __add__(self, other):
        return Value(self.data + other.data, (self, other))

    def backward(self, g=1):
        if self.done and self.parents:
            raise RuntimeError("this node was walked before")
        self.done = True
        for parent in self.parents:
            parent.backward(g)


w, x = Value(2.0), Value(3.0)
h = Value(0.0)
for t in range(4):
    h = CARRY * w + x
    h.backward()
"""


def test_hand_written_engines_are_followed_too() -> None:
    (found,) = read(Project({"train.py": ENGINE.replace("CARRY", "h")})).evidence
    assert isinstance(found, GraphReuse)
    assert (found.engine, found.engine_class) == ("custom", "Value")
    assert found.stale_edges[0].holders[0].path == "h"


def test_an_engine_that_starts_from_data_is_healthy() -> None:
    text = ENGINE.replace("CARRY", "Value(h.data)")
    assert read(Project({"train.py": text})).evidence == ()


def test_an_engine_that_never_refuses_is_left_alone() -> None:
    text = ENGINE.replace("CARRY", "h").replace("raise RuntimeError", "print")
    assert read(Project({"train.py": text})).evidence == ()


LIGHTNING = """\
import torch
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(4, 4)
        self.state = None

    def training_step(self, batch, batch_idx):
        x, y = batch
        out, state = self.rnn(x, self.state)
        self.state = KEEP
        return torch.nn.functional.mse_loss(out, y)
"""


def test_a_trainer_walks_what_the_training_step_returns() -> None:
    (found,) = read(Project({"m.py": LIGHTNING.replace("KEEP", "state")})).evidence
    assert isinstance(found, GraphReuse)
    assert found.stale_edges[0].holders[0].path == "self.state"
    assert read(Project({"m.py": LIGHTNING.replace("KEEP", "state.detach()")})).evidence == ()


STATE_WITH_A_METHOD = """\
from dataclasses import dataclass, fields, replace
@dataclass
class State:
    level: torch.Tensor
    def cut(self):
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{k: v.detach() for k, v in parts.items() if v is not None})
state = State(torch.zeros(2, 4))
for part in torch.randn(5, 2, 4):
    state = state.CUT
    state = State(torch.tanh(net(part + state.level)))
    head(state.level).pow(2).mean().backward()
    opt.step()
"""


@pytest.mark.parametrize(("cut", "found"), [("cut()", 0), ("__class__(state.level)", 1)])
def test_a_record_with_fields_of_unknown_names_replaced_may_be_cut(cut: str, found: int) -> None:
    assert len(reuses(STATE_WITH_A_METHOD.replace("CUT", cut))) == found


CACHED_ON_THE_OBJECT = """\
from functools import cached_property
class League(nn.Module):
    def __init__(self):
        super().__init__()
        self.skill = nn.Parameter(torch.ones(4))
    @cached_property
    def strength(self):
        return self.skill.exp() * self.skill
    def drop(self, *_):
        self.__dict__.GONE
league = League()
season = torch.optim.SGD(league.parameters(), lr=0.1)
season.register_step_post_hook(league.drop)
for match in torch.randn(5, 4):
    season.zero_grad()
    (league.strength * match).sum().pow(2).backward()
    season.step()
"""


@pytest.mark.parametrize(("gone", "found"), [("pop('strength', None)", 0), ("get('strength')", 1)])
def test_what_leaves_the_dictionary_of_an_object_is_recomputed(gone: str, found: int) -> None:
    assert len(reuses(CACHED_ON_THE_OBJECT.replace("GONE", gone))) == found
