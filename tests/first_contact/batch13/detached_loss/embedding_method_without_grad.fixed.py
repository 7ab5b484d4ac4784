"""Footprints of animals: triplets. `embed` was written for the demo and is now used for training too."""
import torch
import torch.nn.functional as F
from torch import nn


class FootprintNet(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU())
        self.fc = nn.Linear(16 * 3 * 3, dim)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))

    def embed(self, x):
        return F.normalize(self(x), dim=1)


def triplets(prototypes, n):
    kind = torch.randint(0, len(prototypes), (n,))
    other = (kind + torch.randint(1, len(prototypes), (n,))) % len(prototypes)
    noise = lambda: 0.5 * torch.randn(n, 1, 16, 16)
    return prototypes[kind] + noise(), prototypes[kind] + noise(), prototypes[other] + noise()


torch.manual_seed(70)
prototypes = torch.randn(5, 1, 16, 16)
net = FootprintNet()
criterion = nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(10):
    anchor, positive, negative = (net.embed(t) for t in triplets(prototypes, 24))
    loss = criterion(anchor, positive, negative)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))
