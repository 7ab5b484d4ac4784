# Fast and slow cells; both states stay with the model from call to call, in one list.
import argparse
from typing import Optional

import torch
import torch.nn as nn
from torch import Tensor


class Clockwork(nn.Module):
    def __init__(self, d: int, h: int, periods: tuple[int, ...] = (1, 2)):
        super().__init__()
        self.cells = nn.ModuleList(nn.GRUCell(d, h) for _ in periods)
        self.read = nn.Linear(h * len(periods), d)
        self.periods, self.h, self.clock = periods, h, 0
        self.states: Optional[list[Tensor]] = None

    def forward(self, x: Tensor) -> Tensor:
        if self.states is None:
            self.states = [x.new_zeros(x.size(1), self.h) for _ in self.periods]
        out = []
        for frame in x:
            for i, (cell, period) in enumerate(zip(self.cells, self.periods)):
                if self.clock % period == 0:
                    self.states[i] = cell(frame, self.states[i])
            self.clock += 1
            out.append(self.read(torch.cat(self.states, dim=1)))
        return torch.stack(out)


def step(model, optimizer, x):
    prediction = model(x[:-1])
    loss = (prediction - x[1:]).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.states = [s.detach() for s in model.states]
    return loss.detach()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=4)
    a = p.parse_args([])
    torch.manual_seed(1)
    model = Clockwork(3, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    losses = [step(model, optimizer, torch.randn(7, 2, 3).cumsum(0)) for _ in range(a.steps)]
    print(torch.stack(losses))
