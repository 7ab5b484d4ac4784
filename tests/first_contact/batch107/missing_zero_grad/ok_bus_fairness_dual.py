"""School bus demand with a bound on how unequally the districts are served.

Lagrangian: the net goes down on demand error plus lambda times the excess of each district, and
lambda goes up. One batch tells little about a district, so lambda moves once an epoch.
"""
from types import SimpleNamespace

import torch
from torch import nn

DISTRICTS = 4


def pupils(n, gen):
    """Demand of a stop on a day; the hills (district 3) are few and behave otherwise."""
    share = torch.tensor([0.45, 0.3, 0.18, 0.07])
    where = torch.multinomial(share, n, replacement=True, generator=gen)
    x = torch.randn(n, 5, generator=gen)
    slope = torch.tensor([[1.0, 0.5, 0, 0, 0], [0.8, 0.7, 0.2, 0, 0], [0.5, 1, 0, 0.4, 0], [-0.7, 0.2, 0, 0, 1.2]])
    y = (x * slope[where]).sum(1) + 0.3 * torch.randn(n, generator=gen)
    return SimpleNamespace(x=torch.cat([x, nn.functional.one_hot(where, DISTRICTS).float()], 1), y=y, where=where)


class Multipliers(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.raw = nn.Parameter(torch.full((count,), -1.0))

    def forward(self):
        return nn.functional.softplus(self.raw)


def excess(error, where, bound):
    """Mean squared error of each district over the bound; a district without a stop in the batch has none."""
    onehot = nn.functional.one_hot(where, DISTRICTS).float()
    count = onehot.sum(0)
    mean = (onehot * error[:, None]).sum(0) / count.clamp(min=1)
    return torch.where(count > 0, mean - bound, torch.zeros_like(mean))


def train(net, duals, data, epochs=12, batch=50, bound=0.25):
    down = torch.optim.Adam(net.parameters(), lr=5e-3)
    up = torch.optim.SGD(duals.parameters(), lr=0.15, maximize=True)
    history = []
    for epoch in range(epochs):
        order = torch.randperm(len(data.y)).split(batch)
        up.zero_grad()
        for rows in order:
            error = (net(data.x[rows]).squeeze(1) - data.y[rows]).square()
            over = excess(error, data.where[rows], bound)
            lagrangian = error.mean() + (duals() * over).sum()
            down.zero_grad()
            lagrangian.backward()
            down.step()
        for p in duals.parameters():
            p.grad.div_(len(order))
        up.step()
        history.append(duals().detach())
    return torch.stack(history)


@torch.no_grad()
def by_district(net, data):
    error = (net(data.x).squeeze(1) - data.y).square()
    return [round(error[data.where == d].mean().item(), 3) for d in range(DISTRICTS)]


if __name__ == "__main__":
    torch.manual_seed(71)
    gen = torch.Generator().manual_seed(71)
    data, test = pupils(1000, gen), pupils(800, gen)
    net = nn.Sequential(nn.Linear(5 + DISTRICTS, 32), nn.ReLU(), nn.Linear(32, 1))
    duals = Multipliers(DISTRICTS)
    print("before", by_district(net, test))
    for epoch, values in enumerate(train(net, duals, data)):
        if epoch % 4 == 3:
            print("epoch", epoch + 1, "lambda", [round(v, 3) for v in values.tolist()])
    print("after", by_district(net, test))
