# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = arr, feats, self.user
# two-stage fine-tuning: encoder output goes through numpy in a preprocessing helper
import numpy as np
import torch
from torch import nn


def standardise(feats):
    arr = feats.detach().cpu().numpy()  # expect: place
    arr = (arr - arr.mean(0)) / (arr.std(0) + 1e-6)
    return torch.from_numpy(arr.astype(np.float32))  # expect: place


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))
        self.item = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 8))
        self.mix = nn.Bilinear(8, 8, 1)

    def forward(self, u, i):
        return self.mix(standardise(self.user(u)), self.item(i)).squeeze(-1)  # expect: place


torch.manual_seed(0)
net = TwoTower()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(4):
    u, i, y = torch.randn(32, 6), torch.randn(32, 9), torch.randint(0, 2, (32,)).float()
    loss = loss_fn(net(u, i), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{epoch} {loss.item():.4f}")
