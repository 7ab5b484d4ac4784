# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = q, self.codebook
import torch
from torch import nn
import torch.nn.functional as F


class VectorQuantizer(nn.Module):
    def __init__(self, k, d):
        super().__init__()
        self.codebook = nn.Embedding(k, d)
        nn.init.uniform_(self.codebook.weight, -1 / k, 1 / k)

    def forward(self, z):
        dist = torch.cdist(z, self.codebook.weight)
        idx = dist.argmin(dim=1)
        q = self.codebook(idx).detach()  # expect: place
        commit = F.mse_loss(z, q)
        return q, commit


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
        self.vq = VectorQuantizer(16, 4)
        self.dec = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, x):
        q, commit = self.vq(self.enc(x))
        return self.dec(q), commit


torch.manual_seed(0)
model = VQVAE()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(5):
    x = torch.randn(32, 8)
    rec, commit = model(x)
    loss = F.mse_loss(rec, x) + 0.25 * commit
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
