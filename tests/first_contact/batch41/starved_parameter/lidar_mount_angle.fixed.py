"""Calibrate how a lidar is mounted on a tractor: angle and offset, from pairs of points
(the same poles seen by the lidar and by the surveyor). The offset wanders, the angle stays 0."""
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Mount(nn.Module):
    def __init__(self):
        super().__init__()
        self.angle = nn.Parameter(torch.zeros(()))
        self.offset = nn.Parameter(torch.zeros(2))

    def rotation(self):
        c, s = torch.cos(self.angle), torch.sin(self.angle)
        R = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
        return R

    def forward(self, points):
        return points @ self.rotation().T + self.offset


def poles(n, angle=math.radians(25), offset=(0.8, -0.3)):
    seen = 6 * torch.rand(n, 2) - torch.tensor([0.0, 3.0])
    R = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    return seen, seen @ R.T + torch.tensor(offset) + 0.02 * torch.randn(n, 2)


def main():
    torch.manual_seed(77)
    loader = DataLoader(TensorDataset(*poles(120)), batch_size=30, shuffle=True)
    model = Mount()
    criterion = nn.HuberLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(8):
        running = 0.0
        for seen, surveyed in loader:
            optimizer.zero_grad()
            loss = criterion(model(seen), surveyed)
            loss.backward()
            optimizer.step()
            running += loss.item()
        if epoch % 2 == 1:
            print("epoch %d loss %.4f angle %.2f deg offset %s" % (
                epoch, running / len(loader), math.degrees(model.angle.item()), model.offset.tolist()))


if __name__ == "__main__":
    main()
