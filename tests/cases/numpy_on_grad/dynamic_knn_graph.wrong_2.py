import numpy as np
import torch
from torch import nn


class EdgeConv(nn.Module):
    """Neighbours are looked up in feature space, anew at every layer."""

    def __init__(self, n_in, n_out, k=3):
        super().__init__()
        self.k = k
        self.mlp = nn.Sequential(nn.Linear(2 * n_in, n_out), nn.LeakyReLU(0.2))

    def forward(self, feats):
        feats = feats.detach()
        distance = torch.cdist(feats, feats)
        order = np.argsort(distance.numpy(), axis=1)[:, 1:self.k + 1]
        neighbours = feats[torch.from_numpy(order)]
        centre = feats.unsqueeze(1).expand_as(neighbours)
        return self.mlp(torch.cat([centre, neighbours - centre], dim=-1)).amax(dim=1)


torch.manual_seed(7)
net = nn.Sequential(EdgeConv(3, 8), EdgeConv(8, 8), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(3):
    cloud = torch.randn(20, 3)
    target = (cloud.norm(dim=1) > 1.5).long()
    loss = nn.functional.cross_entropy(net(cloud), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
