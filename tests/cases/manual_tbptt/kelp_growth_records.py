# expect: pattern = manual-tbptt
# expect: carrier = trail
# expect: raises = RuntimeError: Trying to backward through the graph a second time
"""Kelp biomass from light and temperature, a week of hand-linked days for each update."""
from dataclasses import dataclass

import torch
from torch import nn

torch.manual_seed(33)


@dataclass
class Day:
    given: torch.Tensor
    left: torch.Tensor


cell = nn.GRUCell(2, 9)
head = nn.Linear(9, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
state = torch.zeros(4, 9)
trail = []
mass = torch.full((4, 1), 0.5)
for day in range(42):
    weather = torch.rand(4, 2)
    mass = mass + 0.1 * (weather[:, :1] - mass)
    given = state.detach().requires_grad_()
    state = cell(weather, given)
    trail.append(Day(given, state))  # expect: place
    if day % 7 == 6:
        opt.zero_grad()
        loss = (head(state) - mass).pow(2).mean()
        loss.backward()
        back = len(trail) - 2
        while back >= 0:  # expect: place
            trail[back].left.backward(trail[back + 1].given.grad)  # expect: place
            back -= 1
        opt.step()
        print(day, round(loss.item(), 4))
