# expect: pattern = none
# expect: raises = nothing
"""Sap flow in two trees: how hard each tree pulls at the shared layers sets its weight in the step."""
import torch
from torch import nn

torch.manual_seed(9)
shared = nn.Sequential(nn.Linear(4, 10), nn.Softplus())
trees = nn.ModuleDict({name: nn.Linear(10, 1) for name in ("oak", "ash")})
optimizer = torch.optim.Adam([*shared.parameters(), *trees.parameters()], lr=0.01)


def slopes_of(losses):
    """The shared gradients of one loss after another: the next one takes their place."""
    for name, loss in losses.items():
        for p in shared.parameters():
            if p.grad is not None:
                p.grad.zero_()
        loss.backward(retain_graph=True)
        yield name, {key: p.grad for key, p in shared.named_parameters()}


air = torch.randn(64, 4)
flow = {"oak": air.sum(1, keepdim=True).relu(), "ash": (air[:, :1] - air[:, 1:2]).relu()}
for hour in range(12):
    felt = shared(air)
    losses = {name: (tree(felt) - flow[name]).pow(2).mean() for name, tree in trees.items()}
    pulls = {}
    for name, slopes in slopes_of(losses):
        pulls[name] = torch.stack([slope.norm() for slope in slopes.values()]).norm()
    optimizer.zero_grad()
    sum(loss / pulls[name].clamp_min(0.1) for name, loss in losses.items()).backward()
    optimizer.step()
    print(hour, {name: round(pull.item(), 3) for name, pull in pulls.items()})
