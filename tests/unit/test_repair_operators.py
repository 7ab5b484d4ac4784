"""Repairs that say what a script means: one walk for all parts, its own reset made whole, a
critic's forward anew on constants, a leaf that is asked for, plain numbers, rows of tensors."""

from __future__ import annotations

import ast

import pytest

from analyzers.repair.rewrite import sum_in_loop
from analyzers.source.edits import Editor, apply
from analyzers.source.project import Project
from tests.fixing import recognise
from tests.tracing import Tracing

CLIPPED_PARTS = """\
    import torch
    from torch import nn
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    parts = {"low": list(net[0].parameters()), "high": list(net[2].parameters())}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.randn(4, 2)).pow(2).mean()
    for name, weights in parts.items():
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 0.5)
    optimizer.step()
    """

CLASSES_BY_ALIAS = """\
    import torch as th
    import torch.nn as tnn
    net = tnn.Linear(3, 4)
    optimizer = th.optim.SGD(net.parameters(), lr=0.1)
    labels = th.randint(4, (6,))
    scores = net(th.randn(6, 3))
    chosen = th.argmax(scores, dim=1).float()
    loss = tnn.functional.mse_loss(chosen, labels.float())
    loss.backward()
    optimizer.step()
    """

STEPPED_COPY = """\
    import copy
    import torch
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

    def adapted(model, x, y):
        learner = copy.deepcopy(model)
        learner.train()
        for _ in range(2):
            loss = (learner(x) - y).pow(2).mean()
            learner.zero_grad()
            loss.backward()
            with torch.no_grad():
                for p in learner.parameters():
                    p -= 0.1 * p.grad
        return learner

    for _ in range(5):
        x, y = torch.randn(8, 3), torch.randn(8, 1)
        fast = adapted(net, x[:4], y[:4])
        loss = (fast(x[4:]) - y[4:]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

UNROLLED = """\
    import torch
    rate = torch.tensor(0.1, requires_grad=True)
    optimizer = torch.optim.Adam([rate], lr=0.01)

    def learnt(weights, x):
        miss = (x @ weights[0] + weights[1]).pow(2).mean()
        slopes = torch.autograd.grad(miss, weights, create_graph=True)
        return [w - rate * s for w, s in zip(weights, slopes)]

    weights = [torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]
    for _ in range(4):
        weights = learnt(weights, torch.randn(8, 3))
        loss = (torch.randn(8, 3) @ weights[0] + weights[1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

UNROLLED_BY_NAME = """\
    import torch

    class Rate:
        def __init__(self):
            self.log = torch.tensor(-2.0, requires_grad=True)
            self.optimizer = torch.optim.Adam([self.log], lr=0.01)

        def learnt(self, weights, x):
            miss = (x @ weights["w"] + weights["b"]).pow(2).mean()
            slopes = torch.autograd.grad(miss, list(weights.values()), create_graph=True)
            moved = [w - self.log.exp() * s for w, s in zip(weights.values(), slopes)]
            return dict(zip(weights, moved))

    rate = Rate()
    weights = {"w": torch.randn(3, 1), "b": torch.zeros(1)}
    weights = {name: weight.requires_grad_() for name, weight in weights.items()}
    for _ in range(4):
        weights = rate.learnt(weights, torch.randn(8, 3))
        loss = (torch.randn(8, 3) @ weights["w"] + weights["b"]).pow(2).mean()
        rate.optimizer.zero_grad()
        loss.backward()
        rate.optimizer.step()
    """

BEST_RECORD = """\
    import copy
    from dataclasses import dataclass
    import torch

    @dataclass
    class Shot:
        step: int
        picture: torch.Tensor

    net = torch.nn.Linear(3, 3)
    for step in range(3):
        shot = Shot(step, net(torch.randn(4, 3)))
        best = copy.deepcopy(shot)
        shot.picture.pow(2).mean().backward()
    """

LOADED_COPY = STEPPED_COPY.replace(
    "learner = copy.deepcopy(model)",
    "learner = torch.nn.Linear(3, 1)\n        learner.load_state_dict(model.state_dict())",
)

CODES_HANDED_ON = """\
    import torch
    from torch import nn
    book, encoder = nn.Embedding(6, 2), nn.Linear(3, 2)
    optimizer = torch.optim.SGD([*book.parameters(), *encoder.parameters()], lr=0.1)

    def coded(part):
        word = book(torch.cdist(part, book.weight).argmin(-1))
        return part + (word - part).detach(), len(word)

    for _ in range(5):
        part = encoder(torch.randn(8, 3))
        seen = dict(zip(("word", "count"), coded(part)))
        loss = (seen["word"] - part.detach()).pow(2).mean() + (seen["word"] - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

DROPPED_BY_WRAPPER = """\
    import torch
    from torch import nn

    class Around(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x, **more):
            return x + self.inner(x)

    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x, shift=None):
            return self.layer(x if shift is None else x + shift)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.place, self.block = nn.Linear(2, 3), Around(Shifted())

        def forward(self, x, where):
            return self.block(x, shift=self.place(where))

    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(5):
        loss = net(torch.randn(4, 3), torch.randn(4, 2)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

LOSSES_IN_NUMPY = """\
    import numpy as np
    import torch
    net = torch.nn.Linear(3, 3)
    outs = [net(torch.randn(4, 3)) for _ in range(2)]
    near = np.sum([out.abs().mean() for out in outs])
    far = np.mean([out.square().mean() for out in outs])
    loss = near + far
    loss.backward()
    """

MEAN_RECOMPUTED = """\
    import numpy as np
    import torch
    net = torch.nn.Linear(3, 3)
    losses = []
    for x in torch.randn(4, 5, 3):
        losses.append(net(x).square().mean())
    loss = torch.tensor(np.mean(losses), requires_grad=True)
    loss.backward()
    """

RESET_OF_CHILDREN = """\
    import torch
    from torch import nn

    class Leaky(nn.Module):
        def __init__(self):
            super().__init__()
            self.decay, self.level = nn.Parameter(torch.tensor(0.8)), None

        def forward(self, x):
            self.level = x if self.level is None else self.decay * self.level + x
            return self.level.tanh()

    def rest(net):
        for layer in net.children():
            if isinstance(layer, Leaky):
                layer.level = None

    net = nn.Sequential(Leaky(), nn.Sequential(nn.Linear(2, 2), Leaky()))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for clip in torch.randn(3, 5, 4, 2):
        rest(net)
        loss = sum(net(x).pow(2).mean() for x in clip)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

CRITIC_BEHIND = """\
    import torch
    from torch import nn
    coder = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    critic = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    first = torch.optim.SGD(coder.parameters(), lr=0.1)
    second = torch.optim.SGD(critic.parameters(), lr=0.1)
    for x in torch.randn(3, 5, 3):
        code = coder(x)
        score = critic(code)
        first.zero_grad()
        score.mean().backward(retain_graph=True)
        first.step()
        loss = score.pow(2).mean()
        second.zero_grad()
        loss.backward()
        second.step()
    """

ASKED_FOR = """\
    import torch
    weights = {"w": torch.randn(3, 1), "b": torch.zeros(1)}
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    for _ in range(3):
        held = {name: value.detach() for name, value in weights.items()}
        loss = (x @ held["w"] + held["b"] - y).pow(2).mean()
        slopes = torch.autograd.grad(loss, list(held.values()))
        weights = {n: w - 0.1 * s for (n, w), s in zip(held.items(), slopes)}
    """

NUMBERS_AND_TENSORS = """\
    import torch
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    curve = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = net(torch.randn(4, 2)).pow(2).mean()
        loss.backward()
        optimizer.step()
        for error in (loss.item(), net(torch.ones(4, 2)).pow(2).mean()):
            curve.append(error)
    """

METERS_BY_NAME = """\
    import torch

    class Meter:
        def __init__(self):
            self.total = 0

        def add(self, value):
            self.total += 2 * value

    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    meters = {"size": Meter()}
    for _ in range(12):
        optimizer.zero_grad()
        loss = net(torch.randn(4, 2)).pow(2).mean()
        meters["size"].add(loss)
        loss.backward()
        optimizer.step()
    """

HANDED_BACK = """\
    import torch

    def stepped(weights):
        return {name: w - 0.1 * w.grad for name, w in weights.items()}

    weights = {"w": torch.randn(3, 1, requires_grad=True)}
    for _ in range(3):
        (torch.randn(8, 3) @ weights["w"]).pow(2).mean().backward()
        weights = stepped(weights)
    """

GATHERED = """\
    import torch

    class Agent(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.chances, self.gains = torch.nn.Linear(2, 2), [], []

        def act(self, x):
            chance = self.net(x).softmax(-1)[0]
            self.chances.append(chance.log())
            self.gains.append(float(chance))

    agent = Agent()
    optimizer = torch.optim.SGD(agent.parameters(), lr=0.1)

    def finish():
        loss = sum(-c * g for c, g in zip(agent.chances, agent.gains))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for episode in range(3):
        for step in range(4):
            agent.act(torch.randn(2))
        finish()
    """


ROWS_OF_NUMBERS = """\
    import math
    import torch
    from torch import nn

    class Turn(nn.Module):
        def __init__(self):
            super().__init__()
            self.angle, self.size = nn.Parameter(torch.tensor(0.1)), nn.Parameter(torch.ones(2))

        def matrix(self):
            c, s = self.angle.cos(), self.angle.sin()
            return torch.tensor([[c, -s, 0], [s.item(), c, 0.5], [0, 0, 1]])

        def forward(self, x):
            return (x @ self.matrix()[:2])[:, :2] * self.size

    def shown(x):
        angle = math.radians(20)
        turned = torch.tensor([[math.cos(angle), 0.0], [0.0, math.sin(angle)]])
        return x @ turned

    turn = Turn()
    optimizer = torch.optim.SGD(turn.parameters(), lr=0.1)
    for x in torch.randn(8, 5, 2):
        loss = (turn(x) - shown(x)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

MADE_AHEAD = """\
    import torch
    from torch import nn

    class Ruler(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.marks = nn.Parameter(torch.randn(4))
            self.grid = None
            self.refine(size)

        def refine(self, size):
            steps = size // 2
            self.grid = self.marks.repeat(steps).tanh()
            self.steps = steps

        def forward(self, x):
            return (x[:, :1] * self.grid).mean() + self.grid.mean()

        def bias(self):
            return self.grid.sum()

    def train(ruler, size):
        ruler.refine(size)
        for x in torch.randn(3, 5, 2):
            loss = (ruler(x) - ruler.bias()).pow(2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    ruler = Ruler(4)
    optimizer = torch.optim.SGD(ruler.parameters(), lr=0.1)
    for size in (4, 8):
        train(ruler, size)
    """

TRAVERSED_NUMBERS = """\
    import math
    import torch
    from torch import nn

    class Weighed(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.scales = nn.Linear(2, 2), nn.Parameter(torch.zeros(2))

        def forward(self, x):
            parts, total = self.net(x).pow(2).mean(0), 0.0
            for part, scale in zip(parts, self.scales.tolist()):
                total = total + math.exp(-scale) * part + scale
            return total

    model = Weighed()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.randn(8, 5, 2):
        optimizer.zero_grad()
        model(x).backward()
        optimizer.step()
    """

TARGET_IN_CLOSURE = """\
    import torch
    from torch import nn

    class Likeness(nn.Module):
        def __init__(self, features):
            super().__init__()
            self.wanted = features.pow(2).mean(0)

        def forward(self, features):
            return (features.pow(2).mean(0) - self.wanted).pow(2).sum()

    eye = nn.Linear(3, 3)
    model = torch.randn(4, 3)
    like = Likeness(eye(model))
    canvas = nn.Parameter(model.clone())
    solver = torch.optim.LBFGS([canvas], max_iter=4)

    def closure():
        solver.zero_grad()
        loss = like(eye(canvas + 0.1))
        loss.backward()
        return loss

    for _ in range(3):
        solver.step(closure)
    """

THREE_BY_TURNS = """\
    import torch
    from torch import nn
    one, three = nn.Linear(2, 2), nn.Linear(2, 1)
    two = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    first = torch.optim.SGD(one.parameters(), lr=0.1)
    second = torch.optim.SGD(two.parameters(), lr=0.1)
    third = torch.optim.SGD(three.parameters(), lr=0.1)
    for x in torch.randn(3, 5, 2):
        code = one(x)
        mark = three(two(code)).mean()
        gap = (two(code) - x).pow(2).mean()
        total = mark + gap
        last = code.pow(2).mean() + gap
        third.zero_grad()
        mark.backward(retain_graph=True)
        third.step()
        second.zero_grad()
        total.backward(retain_graph=True)
        second.step()
        first.zero_grad()
        last.backward()
        first.step()
    """

COPIED_UNDER_ANY_KEY = """\
    import copy
    import torch

    def begin():
        return {k: torch.randn(3, 1).requires_grad_() for k in ("near", "far")}

    def joined(sent):
        mean = {}
        for key in sent[0]:
            mean[key] = sum(one[key] for one in sent) / len(sent)
        return mean

    shared = begin()
    for round_ in range(3):
        sent = []
        for site in range(2):
            own = copy.deepcopy(shared)
            optimizer = torch.optim.SGD(own.values(), lr=0.1)
            sum((torch.randn(4, 3) @ w).pow(2).mean() for w in own.values()).backward()
            optimizer.step()
            sent.append(own)
        shared = joined(sent)
    """


BLENDED = """\
    import torch
    from torch import nn
    net, shares = nn.Linear(2, 1), torch.zeros(2, requires_grad=True)
    others = [nn.Linear(2, 1).state_dict() for _ in range(2)]
    optimizer = torch.optim.SGD([shares], lr=0.1)

    def blend():
        trust = shares.softmax(0)
        return {k: sum(t * o[k] for t, o in zip(trust, others)) for k in others[0]}

    for _ in range(3):
        blended = blend()
        net.load_state_dict(blended)
        loss = net(torch.randn(4, 2)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

ROWS_APPENDED = """\
    import torch
    from torch import nn

    class Items(nn.Module):
        def __init__(self):
            super().__init__()
            self.hard, self.steep = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(3))
            self.skill = nn.Parameter(torch.zeros(4))

        def table(self):
            rows = []
            for q in range(3):
                rows.append([self.hard[q].item(), self.steep[q].item()])
            return torch.tensor(rows)

        def forward(self):
            hard, steep = self.table().unbind(1)
            return (self.skill[:, None] - hard) * steep

    items = Items()
    optimizer = torch.optim.SGD(items.parameters(), lr=0.1)
    for _ in range(3):
        loss = items().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

EACH_OF_ONE_FORWARD = """\
    import torch
    from torch import nn
    net = nn.Linear(2, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        x, wanted = torch.randn(4, 2), torch.randn(4, 3)
        moved = net(x).tanh()
        for one, goal in zip(moved, wanted):
            loss = (one - goal).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """

CUT_FOR_BOTH = """\
    import torch
    from torch import nn

    class Twins(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.guess = nn.Linear(3, 4), nn.Linear(4, 4)

        def forward(self, views):
            kept = [self.body(v).detach() for v in views]
            made = [self.guess(k) for k in kept]
            return made, kept

    twins = Twins()
    optimizer = torch.optim.SGD(twins.parameters(), lr=0.1)
    for _ in range(3):
        (a, b), (u, v) = twins((torch.randn(5, 3), torch.randn(5, 3)))
        loss = (a - v).pow(2).mean() + (b - u).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """

BOUND_TOO_EARLY = """\
    import torch
    from torch import nn
    net = nn.Linear(3, 2)
    x = torch.randn(4, 3)
    d = torch.randn(4, 3)
    for _ in range(2):
        d.requires_grad_()
        gap = (net(x + d) - net(x).detach()).pow(2).mean()
        d = d / d.norm()
        (slope,) = torch.autograd.grad(gap, d)
        d = slope.detach()
    """

ROWS_WRITTEN = """\
    import torch
    from torch import nn
    net, picture = nn.Conv2d(3, 1, 3), torch.rand(1, 3, 8, 8, requires_grad=True)
    seen = picture.clamp(0, 1).clone()
    for channel, shift in zip(seen[0], (1, 2, 3)):
        channel.sub_(shift)
    net(seen).mean().backward()
    """

SUMS_IN_NUMPY = """\
    import numpy as np
    import torch
    from torch import nn
    net = nn.Linear(2, 1)

    def risk(scores, time):
        order = np.argsort(-time)
        ranked = scores[order]
        above = torch.from_numpy(np.log(np.cumsum(np.exp(ranked))))
        return (above - ranked).mean()

    loss = risk(net(torch.randn(6, 2)).squeeze(1), np.arange(6.0))
    loss.backward()
    """


@pytest.mark.parametrize(
    ("script", "strategy", "line"),
    [
        (CLIPPED_PARTS, "walk-in-front", "loss.backward()"),
        (RESET_OF_CHILDREN, "reset-all-layers", "for layer in net.modules():"),
        (CRITIC_BEHIND, "fresh-forward", "score = critic(code.detach())"),
        (
            ASKED_FOR,
            "new-leaf",
            "held = {name: value.detach().requires_grad_() for name, value in weights.items()}",
        ),
        (GATHERED, "empty-gathered", "agent.chances.clear()"),
        (GATHERED, "empty-gathered", "agent.gains.clear()"),
        (METERS_BY_NAME, "detach-when-stored", "self.total += (2 * value).detach()"),
        (HANDED_BACK, "update-in-place", "w -= 0.1 * w.grad"),
        (
            HANDED_BACK,
            "new-leaf",
            "return {name: (w - 0.1 * w.grad).detach().requires_grad_()"
            " for name, w in weights.items()}",
        ),
        (NUMBERS_AND_TENSORS, "store-number", "curve.append(float(error))"),
        (
            ROWS_OF_NUMBERS,
            "keep-graph",
            "return torch.stack([torch.stack([c, -s, torch.zeros_like(c)]), "
            "torch.stack([s, c, torch.full_like(c, 0.5)]), "
            "torch.stack([torch.zeros_like(c), torch.zeros_like(c), torch.ones_like(c)])])",
        ),
        (
            TRAVERSED_NUMBERS,
            "keep-graph",
            "for part, scale in zip(parts, self.scales):",
        ),
        (TRAVERSED_NUMBERS, "keep-graph", "total = total + torch.exp(-scale) * part + scale"),
        (MADE_AHEAD, "property", "return self.marks.repeat(steps).tanh()"),
        (MADE_AHEAD, "property", "self.size = size"),
        (
            CLASSES_BY_ALIAS,
            "cross-entropy",
            "loss = tnn.functional.cross_entropy(scores, labels)",
        ),
        (
            TARGET_IN_CLOSURE,
            "detach-at-definition",
            "self.wanted = features.pow(2).mean(0).detach()",
        ),
        (
            COPIED_UNDER_ANY_KEY,
            "new-leaf",
            "mean[key] = (sum(one[key] for one in sent) / len(sent)).detach().requires_grad_()",
        ),
        (
            BLENDED,
            "functional-call",
            "loss = torch.func.functional_call(net, blended, (torch.randn(4, 2),)).pow(2).mean()",
        ),
        (
            STEPPED_COPY,
            "functional-call",
            "loss = (torch.func.functional_call(model, learner, (x,)) - y).pow(2).mean()",
        ),
        (
            STEPPED_COPY,
            "functional-call",
            "grads = torch.autograd.grad(loss, list(learner.values()), create_graph=True)",
        ),
        (
            STEPPED_COPY,
            "functional-call",
            "loss = (torch.func.functional_call(net, fast, (x[4:],)) - y[4:]).pow(2).mean()",
        ),
        (
            STEPPED_COPY.replace("0.1 * p.grad", "0.1 * p.grad + 0.01 * p"),
            "functional-call",
            "learner = {name: p - (0.1 * grad + 0.01 * p) for (name, p), grad in "
            "zip(learner.items(), grads)}",
        ),
        (
            UNROLLED_BY_NAME,
            "detach-at-head",
            "weights = {key: t.detach().requires_grad_() for key, t in weights.items()}",
        ),
        (
            BEST_RECORD,
            "detach-and-clone",
            "best = replace(shot, picture=shot.picture.detach().clone())",
        ),
        (BEST_RECORD, "detach-and-clone", "from dataclasses import dataclass, replace"),
        (
            UNROLLED,
            "detach-at-head",
            "weights = [t.detach().requires_grad_() for t in weights]",
        ),
        (
            LOADED_COPY,
            "functional-call",
            "learner = dict(model.named_parameters())",
        ),
        (
            LOADED_COPY,
            "functional-call",
            "learner = {name: p - 0.1 * grad for (name, p), grad in zip(learner.items(), grads)}",
        ),
        (DROPPED_BY_WRAPPER, "hand-on-argument", "return x + self.inner(x, **more)"),
        (MEAN_RECOMPUTED, "torch-functions", "loss = torch.stack(losses).mean()"),
        (LOSSES_IN_NUMPY, "torch-functions", "near = sum([out.abs().mean() for out in outs])"),
        (
            ROWS_APPENDED,
            "keep-graph",
            "rows.append(torch.stack([self.hard[q], self.steep[q]]))",
        ),
        (ROWS_APPENDED, "keep-graph", "return torch.stack(rows)"),
        (
            EACH_OF_ONE_FORWARD,
            "forward-into-loop",
            "for i, (one, goal) in enumerate(zip(moved, wanted)):",
        ),
        (EACH_OF_ONE_FORWARD, "forward-into-loop", "one = moved[i]"),
        (CUT_FOR_BOTH, "cut-beside", "return made, [t.detach() for t in kept]"),
        (BOUND_TOO_EARLY, "bind-later", "gap = (net(x + d) - net(x).detach()).pow(2).mean()"),
        (
            ROWS_WRITTEN,
            "select-rows",
            "for channel, shift in zip([seen[0][i] for i in range(len(seen[0]))], (1, 2, 3)):",
        ),
        (
            SUMS_IN_NUMPY,
            "torch-functions",
            "above = torch.log(torch.cumsum(torch.exp(ranked), dim=0))",
        ),
        (THREE_BY_TURNS, "steps-last", 'last.backward(inputs=first.param_groups[0]["params"])'),
    ],
)
def test_what_the_script_means_is_proposed(
    traced: Tracing, script: str, strategy: str, line: str
) -> None:
    found = recognise(traced, script)
    assert found is not None
    proposals = [p for p in found.proposals if p.strategy == strategy]
    texts = [found.files(proposal)["train.py"].splitlines() for proposal in proposals]
    assert any(line in map(str.strip, text) for text in texts)


def test_a_gradient_that_is_passed_straight_through_stays_so(traced: Tracing) -> None:
    found = recognise(traced, CODES_HANDED_ON)
    assert found is not None
    assert found.match.pattern == "starved-parameter"
    texts = [found.files(proposal)["train.py"] for proposal in found.proposals]
    assert all("part + (word - part).detach()" in text for text in texts)


def test_a_loop_that_clips_all_weights_is_about_no_part(traced: Tracing) -> None:
    found = recognise(
        traced, CLIPPED_PARTS.replace("clip_grad_norm_(weights", "clip_grad_norm_(net.parameters()")
    )
    assert found is not None
    assert "walk-in-front" not in {proposal.strategy for proposal in found.proposals}


def test_what_each_pass_adds_to_once_may_be_meant_to_be_kept(traced: Tracing) -> None:
    found = recognise(traced, GATHERED.replace("for step in range(4):", "if True:"))
    assert found is not None
    assert "empty-gathered" not in {proposal.strategy for proposal in found.proposals}


def test_only_what_no_step_changes_is_a_constant_of_a_closure(traced: Tracing) -> None:
    found = recognise(traced, TARGET_IN_CLOSURE)
    assert found is not None
    assert found.match.pattern == "undetached-target"
    stepped = TARGET_IN_CLOSURE.replace("[canvas]", "[canvas, *eye.parameters()]")
    found = recognise(traced, stepped)
    assert found is not None
    assert found.match.pattern == "lbfgs-closure"


def test_what_only_a_loss_knows_to_add_to_a_number_is_added_to_it() -> None:
    text = "for wanted in goals:\n    (guess - wanted).backward()\n"
    project = Project({"train.py": text}, "train.py")
    module = project.module("train.py")
    assert module is not None
    loop = module.tree.body[0]
    assert isinstance(loop, ast.For)
    walk = loop.body[0]
    assert isinstance(walk, ast.Expr)
    assert isinstance(walk.value, ast.Call)
    edits = sum_in_loop(Editor(module), loop, walk, walk.value, "total", loss_first=True)
    assert edits is not None
    assert apply(text, edits).splitlines() == [
        "total = 0",
        "for wanted in goals:",
        "    total = (guess - wanted) + total",
        "total.backward()",
    ]
