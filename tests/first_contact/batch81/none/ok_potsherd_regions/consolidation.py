import torch
import torch.nn.functional as F


class Consolidation:
    """Elastic weights: what earlier regions needed is held fast by its Fisher information."""

    def __init__(self, net, strength):
        self.net, self.strength = net, strength
        self.anchors = []

    def remember(self, x, y, rows=24):
        fisher = [torch.zeros_like(p) for p in self.net.parameters()]
        for xi, yi in zip(x[:rows], y[:rows]):
            loss = F.cross_entropy(self.net(xi[None]), yi[None])
            grads = torch.autograd.grad(loss, list(self.net.parameters()))
            for f, g in zip(fisher, grads):
                f += g.pow(2) / rows
        values = [p.detach().clone() for p in self.net.parameters()]
        self.anchors.append((values, fisher))

    def penalty(self):
        total = torch.zeros(())
        for values, fisher in self.anchors:
            for p, v, f in zip(self.net.parameters(), values, fisher):
                total = total + (f * (p - v).pow(2)).sum()
        return 0.5 * self.strength * total
