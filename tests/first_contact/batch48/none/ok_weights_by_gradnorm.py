# expect: pattern = none
"""Bread crust: browning, moisture and spring from one oven log. The three objectives
are weighted so that each pulls equally hard on the shared layers."""
import torch
from torch import nn
import torch.nn.functional as F


class OvenNet(nn.Module):
    def __init__(self, channels=4, width=24):
        super().__init__()
        self.shared = nn.GRU(channels, width, batch_first=True)
        self.brown = nn.Linear(width, 1)
        self.moist = nn.Linear(width, 1)
        self.spring = nn.Linear(width, 2)

    def forward(self, log):
        _, h = self.shared(log)
        h = h[-1]
        return self.brown(h).squeeze(1), self.moist(h).squeeze(1), self.spring(h)


def bake(n, generator):
    log = torch.rand(n, 12, 4, generator=generator)
    heat = log[..., 0].mean(1)
    steam = log[..., 1].mean(1)
    return log, (2 * heat, steam - 0.3 * heat, (steam > heat).long())


def objectives(net, log, targets):
    brown, moist, spring = net(log)
    return [F.mse_loss(brown, targets[0]),
            F.l1_loss(moist, targets[1]),
            F.cross_entropy(spring, targets[2])]


def pull(costs, shared):
    """norm of every objective's gradient on the shared layers"""
    norms = []
    for c in costs:
        slopes = torch.autograd.grad(c, shared, retain_graph=True)
        norms.append(torch.sqrt(sum(s.square().sum() for s in slopes)))
    return torch.stack(norms)


def main():
    torch.manual_seed(40)
    gen = torch.Generator().manual_seed(41)
    net = OvenNet()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    shared = list(net.shared.parameters())
    smooth = None
    for it in range(20):
        log, targets = bake(32, gen)
        costs = objectives(net, log, targets)
        norms = pull(costs, shared)
        smooth = norms if smooth is None else 0.9 * smooth + 0.1 * norms
        weight = smooth.mean() / (smooth + 1e-8)
        opt.zero_grad()
        sum(w * c for w, c in zip(weight, costs)).backward()
        opt.step()
        if it % 5 == 4:
            print(it + 1, " ".join(f"{c.item():.3f}" for c in costs),
                  "| weights", " ".join(f"{w:.2f}" for w in weight.tolist()))


if __name__ == "__main__":
    main()
