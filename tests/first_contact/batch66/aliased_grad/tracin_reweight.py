# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = grads, p.grad, probe, rows
"""Clean a noisily labelled training set with gradient influence, then train again with the suspects weighted down.

Score of an example = sum over checkpoints of <grad of its loss, grad of the trusted set's loss>.
"""
import copy

import torch
from torch import nn
import torch.nn.functional as F


def two_rings(n, noise):
    angle = torch.rand(n) * 6.2832
    label = (torch.rand(n) < 0.5).long()
    radius = 1.0 + label.float() + 0.15 * torch.randn(n)
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    flipped = torch.rand(n) < noise
    return points, torch.where(flipped, 1 - label, label), flipped


def mlp():
    return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2))


def train(net, x, y, weight, epochs, lr=0.05, every=None):
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    checkpoints = []
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(32):
            loss = (weight[idx] * F.cross_entropy(net(x[idx]), y[idx], reduction="none")).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if every and (epoch + 1) % every == 0:
            checkpoints.append(copy.deepcopy(net.state_dict()))
    return checkpoints


class Influence:
    def __init__(self, net, loss_fn):
        self.net = net
        self.loss_fn = loss_fn

    def clear(self):
        for p in self.net.parameters():
            if p.grad is not None:
                p.grad.zero_()  # expect: place

    def gradient(self, x, y):
        self.clear()  # expect: place
        self.loss_fn(self.net(x), y).backward()  # expect: place
        grads = [p.grad for p in self.net.parameters()]  # expect: place
        return grads

    def scores(self, checkpoints, train_set, trusted):
        x, y = train_set
        total = torch.zeros(len(x))
        for state in checkpoints:
            self.net.load_state_dict(state)
            probe = self.gradient(*trusted)  # expect: place
            rows = [self.gradient(x[i : i + 1], y[i : i + 1]) for i in range(len(x))]  # expect: place
            for i, row in enumerate(rows):
                total[i] += sum((a * b).sum() for a, b in zip(row, probe))  # expect: place
        return total


if __name__ == "__main__":
    torch.manual_seed(3)
    x, y, flipped = two_rings(160, noise=0.2)
    trusted_x, trusted_y, _ = two_rings(128, noise=0.0)

    first = mlp()
    saved = train(first, x, y, torch.ones(len(x)), epochs=30, every=15)

    score = Influence(mlp(), F.cross_entropy).scores(saved, (x, y), (trusted_x, trusted_y))
    worst = score.argsort()[: len(x) // 5]
    weight = torch.ones(len(x))
    weight[worst] = 0.1
    print(f"{flipped[worst].sum().item()} of {flipped.sum().item()} flipped labels among the {len(worst)} lowest scores")

    second = mlp()
    train(second, x, y, weight / weight.mean(), epochs=40)
    with torch.no_grad():
        for name, net in (("first", first), ("second", second)):
            acc = (net(trusted_x).argmax(1) == trusted_y).float().mean().item()
            print(f"{name} model on the trusted set: {acc:.3f}")
