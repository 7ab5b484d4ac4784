"""Scripts whose losses or backward calls a repair rewrites."""

from __future__ import annotations

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
