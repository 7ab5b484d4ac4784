# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = river, held, loss, miss, self.held
"""A weir is steered through a learnt model of its river. River and keeper learn in turns, and the
river stands still while the keeper learns."""
import torch
from torch import nn


class Still:
    """Nothing of `module` learns within; what had learnt before learns again afterwards."""

    def __init__(self, module):
        self.module = module

    def __enter__(self):
        self.held = filter(lambda w: w.requires_grad, self.module.parameters())  # expect: place
        for weight in self.module.parameters():
            weight.requires_grad_(False)  # expect: place
        return self.module

    def __exit__(self, *error):
        for weight in self.held:  # expect: place
            weight.requires_grad_(True)  # expect: place


class River(nn.Module):
    def __init__(self):
        super().__init__()
        self.flow = nn.Sequential(nn.Linear(3, 24), nn.SiLU(), nn.Linear(24, 2))

    def forward(self, levels, gate):
        return levels + self.flow(torch.cat([levels, gate], dim=1))


def measured(levels, gate):
    above, below = levels.chunk(2, dim=1)
    let = 0.4 * torch.sigmoid(gate) * (above - below)
    return torch.cat([above - let + 0.05, below + let - 0.1 * below], dim=1)


def river_turn(river, opt):
    levels, gate = torch.rand(32, 2) * 2, torch.randn(32, 1)
    miss = (river(levels, gate) - measured(levels, gate)).pow(2).mean()  # expect: place
    opt.zero_grad()
    miss.backward()  # expect: place
    opt.step()
    return miss.item()


def keeper_turn(river, keeper, opt, hours=4):
    levels, cost = torch.rand(16, 2) * 2, 0.0
    with Still(river) as still:  # expect: place
        for _ in range(hours):
            levels = still(levels, keeper(levels))
            cost = cost + (levels[:, 0] - 1.2).pow(2).mean()
        opt.zero_grad()
        cost.backward()
        opt.step()
    return cost.item()


torch.manual_seed(15)
river = River()
keeper = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
river_opt = torch.optim.Adam(river.parameters(), lr=5e-3)
keeper_opt = torch.optim.Adam(keeper.parameters(), lr=5e-3)
for day in range(4):
    miss = [river_turn(river, river_opt) for _ in range(3)]
    cost = [keeper_turn(river, keeper, keeper_opt) for _ in range(2)]
    print(day, round(miss[-1], 4), round(cost[-1], 4))
