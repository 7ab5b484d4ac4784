# Deep embedded clustering: soft assignments, sharpened into a target for several steps.
import torch
from torch import nn


class DEC(nn.Module):
    def __init__(self, d_in=6, d_z=3, k=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d_in, 10), nn.ReLU(), nn.Linear(10, d_z))
        self.centres = nn.Parameter(torch.randn(k, d_z))

    def forward(self, x):
        distance = torch.cdist(self.encoder(x), self.centres).pow(2)
        q = 1 / (1 + distance)
        return q / q.sum(1, keepdim=True)


def sharpen(q):
    weight = q**2 / q.sum(0)
    return weight / weight.sum(1, keepdim=True)


torch.manual_seed(15)
data = torch.randn(30, 6) + 3 * torch.randint(0, 3, (30, 1))
model = DEC()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
update_interval = 3
for it in range(6):
    if it % update_interval == 0:
        targets = sharpen(model(data)).detach()
    q = model(data)
    loss = nn.functional.kl_div(q.log(), targets, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
