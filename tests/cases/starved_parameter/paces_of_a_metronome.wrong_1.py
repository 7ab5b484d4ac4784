"""Notes are moved onto a grid of beats whose pace is learnt, as a drummer would find it."""
import torch
from torch import nn

torch.manual_seed(3)


class Grid(nn.Module):
    def __init__(self, pace):
        super().__init__()
        self.pace = nn.Parameter(torch.tensor(pace))

    def forward(self, onsets):
        beats = onsets / self.pace
        on_grid = beats.floor() * self.pace
        played = on_grid
        return played


class Drummer(nn.Module):
    def __init__(self):
        super().__init__()
        self.feel = nn.Linear(5, 5)
        self.grid = Grid(0.4)
        self.loudness = nn.Linear(5, 1)

    def forward(self, onsets):
        return self.loudness(torch.tanh(self.grid(self.feel(onsets))))


drummer = Drummer()
sgd = torch.optim.SGD(drummer.parameters(), lr=0.05)
for bar in range(8):
    onsets = torch.rand(24, 5) * 4
    sgd.zero_grad()
    gap = (drummer(onsets) - onsets.mean(1, keepdim=True)).pow(2).mean()
    gap.backward()
    sgd.step()
    print(f"bar {bar}: gap {gap.item():.4f}, pace {drummer.grid.pace.item():.4f}")
