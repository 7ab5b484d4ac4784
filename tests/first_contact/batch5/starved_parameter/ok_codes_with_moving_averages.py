"""Vector quantisation of valve signals: straight-through gradients, codes moved by averages and not by autograd."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Codes(nn.Module):
    def __init__(self, k=8, d=4, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(k, d))
        self.register_buffer("count", torch.ones(k))
        self.register_buffer("total", self.codes.clone())

    @torch.no_grad()
    def move(self, z, idx):
        hot = F.one_hot(idx, len(self.codes)).float()
        self.count.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
        self.total.mul_(self.decay).add_(hot.t() @ z, alpha=1 - self.decay)
        self.codes.copy_(self.total / (self.count[:, None] + 1e-5))

    def forward(self, z):
        idx = torch.cdist(z.detach(), self.codes).argmin(1)
        q = self.codes[idx]
        if self.training:
            self.move(z, idx)
        commit = F.mse_loss(z, q)
        return z + (q - z).detach(), commit


torch.manual_seed(55)
enc = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
dec = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 10))
codes = Codes()
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=4e-3)
for it in range(12):
    x = torch.sin(torch.rand(32, 1) * 6 + torch.linspace(0, 3, 10))
    q, commit = codes(enc(x))
    loss = F.mse_loss(dec(q), x) + 0.25 * commit
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 4))
