# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = routing, network, shares, model.routing, scores
"""How a river splits over its arms: learned shares of each junction, and the travel time."""
import functools

import torch
from torch import nn


def shares(scores):
    return scores.softmax(-1)  # expect: place


class Delta(nn.Module):
    def __init__(self, arms):
        super().__init__()
        self.scores = nn.Parameter(torch.randn(arms, arms) * 0.1)
        self.times = nn.Parameter(torch.zeros(arms))

    def forward(self, inflow):
        spread = inflow @ routing(self)
        return spread @ torch.diag(shares(self.times))


@functools.lru_cache(maxsize=8)  # expect: place
def routing(delta):  # expect: place
    return shares(delta.scores)  # expect: place


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
    error.backward()  # expect: place
    optimizer.step()
print(round(error.item(), 5))
