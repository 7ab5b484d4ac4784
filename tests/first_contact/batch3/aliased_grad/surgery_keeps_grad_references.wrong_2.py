"""Gradient surgery for two tasks: conflicting components are projected away before the step."""
import torch
import torch.nn as nn

TASKS = ("angle", "radius")


def dot(a, b):
    return sum((x * y).sum() for x, y in zip(a, b))


class Surgeon:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        for p in self.params:
            p.grad = torch.zeros_like(p)

    @property
    def params(self):
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def gradient(self, loss, last):
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward(retain_graph=not last)
        return [p.grad.data for p in self.params]

    def combine(self, gradients):
        out = []
        for i, own in enumerate(gradients):
            g = list(own)
            for j, other in enumerate(gradients):
                conflict = dot(g, other)
                if j != i and conflict < 0:
                    scale = conflict / (dot(other, other) + 1e-12)
                    g = [a - scale * b for a, b in zip(g, other)]
            out.append(g)
        return [sum(parts) for parts in zip(*out)]

    def step(self, losses):
        gradients = [self.gradient(loss, last=i == len(losses) - 1)
                     for i, loss in enumerate(losses)]
        for p, g in zip(self.params, self.combine(gradients)):
            p.grad = g
        self.optimizer.step()


class Polar(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2, 24), nn.Tanh())
        self.heads = nn.ModuleDict({t: nn.Linear(24, 1) for t in TASKS})

    def forward(self, x):
        h = self.trunk(x)
        return {t: head(h).squeeze(1) for t, head in self.heads.items()}


def main():
    torch.manual_seed(33)
    net = Polar()
    surgeon = Surgeon(torch.optim.SGD(net.parameters(), lr=0.05))
    for it in range(12):
        x = torch.randn(40, 2)
        wanted = {"angle": torch.atan2(x[:, 1], x[:, 0]), "radius": x.norm(dim=1)}
        out = net(x)
        losses = [(out[t] - wanted[t]).pow(2).mean() for t in TASKS]
        surgeon.step(losses)
        if it % 4 == 3:
            print(it, {t: round(l.item(), 4) for t, l in zip(TASKS, losses)})


if __name__ == "__main__":
    main()
