# expect: pattern = aliased-grad
# expect: carrier = kept
"""Predict wait and cost of a surgery from one trunk; conflicting gradients are projected."""
import torch
import torch.nn.functional as F
from torch import nn


class Hospital(nn.Module):
    def __init__(self, features=9, width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.wait = nn.Linear(width, 1)
        self.cost = nn.Linear(width, 1)

    def forward(self, patient):
        h = self.trunk(patient)
        return self.wait(h).squeeze(-1), self.cost(h).squeeze(-1)


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def project(mine, theirs):
    """Take out of one task's gradient what works against the other."""
    overlap = torch.dot(flat(mine), flat(theirs))
    if overlap >= 0:
        return mine
    scale = overlap / flat(theirs).square().sum()
    return [m - scale * t for m, t in zip(mine, theirs)]


def task_gradients(trunk, objectives):
    kept = []
    for i, objective in enumerate(objectives):
        for p in trunk:
            if p.grad is not None:
                p.grad.zero_()
        objective.backward(retain_graph=i + 1 < len(objectives))
        kept.append([p.grad for p in trunk])  # expect: place
    return kept


def patients(count):
    x = torch.randn(count, 9)
    wait = x[:, 0] - x[:, 1] * x[:, 2]
    cost = -x[:, 0] + 0.5 * x[:, 3].square()
    return x, wait, cost


def main():
    torch.manual_seed(41)
    x, wait, cost = patients(128)
    net = Hospital()
    trunk = list(net.trunk.parameters())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(10):
        for rows in torch.randperm(len(x)).split(32):
            guess_wait, guess_cost = net(x[rows])
            objectives = [F.mse_loss(guess_wait, wait[rows]), F.mse_loss(guess_cost, cost[rows])]
            opt.zero_grad()
            of_wait, of_cost = task_gradients(trunk, objectives)
            for p, a, b in zip(trunk, project(of_wait, of_cost), project(of_cost, of_wait)):
                p.grad = a + b
            opt.step()
        print(f"epoch {epoch}: wait {objectives[0]:.3f} cost {objectives[1]:.3f}")


if __name__ == "__main__":
    main()
