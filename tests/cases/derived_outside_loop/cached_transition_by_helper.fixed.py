"""How a river splits over its arms: learned shares of each junction, and the travel time."""
import torch
from torch import nn


def shares(scores):
    return scores.softmax(-1)


class Delta(nn.Module):
    def __init__(self, arms):
        super().__init__()
        self.scores = nn.Parameter(torch.randn(arms, arms) * 0.1)
        self.times = nn.Parameter(torch.zeros(arms))

    def forward(self, inflow):
        spread = inflow @ routing(self)
        return spread @ torch.diag(shares(self.times))


def routing(delta):
    return shares(delta.scores)


def gauges(days, arms):
    inflow = torch.rand(days, arms)
    return inflow, inflow.roll(1, 1) / arms


torch.manual_seed(3)
model = Delta(5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for week in range(12):
    inflow, outflow = gauges(7, 5)
    optimizer.zero_grad()
    error = (model(inflow) - outflow).square().mean()
    error.backward()
    optimizer.step()
print(round(error.item(), 5))
