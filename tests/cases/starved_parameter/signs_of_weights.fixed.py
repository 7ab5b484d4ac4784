"""Layers with weights of one bit, distilled from a layer with real ones."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class OneBit(nn.Module):
    def __init__(self, before, behind):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(behind, before) / before**0.5)
        self.scale = nn.Parameter(torch.ones(behind, 1))

    def binary(self):
        w = self.weight
        sign = torch.where(w >= 0, 1.0, -1.0)
        return ((sign - w).detach() + w) * self.scale

    def forward(self, x):
        return F.linear(x, self.binary())


def main():
    torch.manual_seed(66)
    teacher = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 4))
    pupil = nn.Sequential(OneBit(8, 24), nn.ReLU(), OneBit(24, 4))
    optimizer = torch.optim.Adam(pupil.parameters(), lr=1e-2)
    for batch in range(12):
        x = torch.randn(32, 8)
        loss = F.mse_loss(pupil(x), teacher(x).detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.4f}")


main()
