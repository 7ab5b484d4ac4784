"""Scripts that copy, replace or load weights and values made of them."""

from __future__ import annotations

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

HANDED_BACK = """\
    import torch

    def stepped(weights):
        return {name: w - 0.1 * w.grad for name, w in weights.items()}

    weights = {"w": torch.randn(3, 1, requires_grad=True)}
    for _ in range(3):
        (torch.randn(8, 3) @ weights["w"]).pow(2).mean().backward()
        weights = stepped(weights)
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
