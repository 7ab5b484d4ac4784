# expect: pattern = none
# expect: raises = nothing
"""Parcel volume of three depots, learnt one after the other; an elastic pull towards the weights of
the depots before, and the answers of the last net, keep the old ones from being forgotten."""
import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def depot(seed, n=192):
    rng = np.random.default_rng(seed)
    days = rng.normal(size=(n, 7))
    slope = rng.normal(size=7)
    volume = np.tanh(days @ slope) + 0.1 * rng.normal(size=n)
    return torch.tensor(days, dtype=torch.float32), torch.tensor(volume, dtype=torch.float32)


class VolumeNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.calendar = nn.Linear(7, width)
        self.norm = nn.LayerNorm(width)
        self.volume = nn.Linear(width, 1)

    def forward(self, days):
        return self.volume(torch.tanh(self.norm(self.calendar(days)))).squeeze(1)


class Memory:
    """What is known of the depots before: where the weights were, and how firmly they sat."""

    def __init__(self, net):
        self.firmness = {key: torch.zeros_like(value) for key, value in net.named_parameters()}
        self.trust = 0.0
        self.store(net)

    def store(self, net):
        self.anchors = {key: value.clone() for key, value in net.state_dict().items()}
        self.previous = copy.deepcopy(net).requires_grad_(False).eval()

    def keep(self, net, days, volume):
        for row in range(0, len(days), 8):
            net.zero_grad()
            F.mse_loss(net(days[row : row + 8]), volume[row : row + 8]).backward()
            for key, parameter in net.named_parameters():
                self.firmness[key] += parameter.grad.detach() ** 2
        self.trust = 0.1
        self.store(net)

    def pull(self, net):
        terms = [
            (self.firmness[key] * (parameter - self.anchors[key]) ** 2).sum()
            for key, parameter in net.named_parameters()
        ]
        return torch.stack(terms).sum()

    def echo(self, net, days):
        with torch.no_grad():
            answer = self.previous(days)
        return self.trust * F.mse_loss(net(days), answer)


def learn(net, memory, days, volume, epochs=12, batch=48):
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(days)).split(batch):
            task = F.mse_loss(net(days[rows]), volume[rows])
            loss = task + 5.0 * memory.pull(net) + memory.echo(net, days[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    memory.keep(net, days, volume)
    return task.item()


def main():
    torch.manual_seed(5)
    net = VolumeNet()
    memory = Memory(net)
    depots = {"north": depot(1), "harbour": depot(2), "airport": depot(3)}
    for number, (name, (days, volume)) in enumerate(depots.items(), 1):
        last = learn(net, memory, days, volume)
        with torch.no_grad():
            errors = [F.mse_loss(net(x), y).item() for x, y in list(depots.values())[:number]]
        print(f"{name}: task {last:.3f}, so far " + ", ".join(f"{error:.3f}" for error in errors))


if __name__ == "__main__":
    main()
