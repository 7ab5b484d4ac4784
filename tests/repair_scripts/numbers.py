"""Scripts that lose gradients on the way through numbers and arrays."""

from __future__ import annotations

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
