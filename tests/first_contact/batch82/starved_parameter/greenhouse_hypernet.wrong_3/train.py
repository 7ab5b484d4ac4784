"""Yield of tomatoes in many greenhouses: a hypernetwork writes the last layer for each house."""
import torch
from torch import nn

from houses import Houses
from hyper import HyperNetwork, load_into


class YieldModel(nn.Module):
    def __init__(self, climate, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(climate, width), nn.Tanh())
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        return self.last(self.body(x)).squeeze(-1)


def fit(steps=30):
    torch.manual_seed(17)
    houses = Houses(count=6, climate=4)
    model = YieldModel(4, 10)
    hyper = HyperNetwork(traits=3, shapes=[p.shape for p in model.last.parameters()])
    opt = torch.optim.Adam([*model.body.parameters(), *hyper.parameters(), *model.last.parameters()], lr=0.01)
    for step in range(steps):
        opt.zero_grad()
        total = 0.0
        for traits, climate, tomatoes in houses.season():
            load_into(model.last, hyper(traits))
            loss = nn.functional.mse_loss(model(climate), tomatoes)
            loss.backward()
            total += loss.item()
        opt.step()
        if step % 10 == 0:
            print(step, round(total / houses.count, 4))


if __name__ == "__main__":
    fit()
