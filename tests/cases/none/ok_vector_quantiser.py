# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn.functional as F
from torch import nn


class Quantiser(nn.Module):
    """Codebook kept by moving averages, gradient copied straight through."""

    def __init__(self, codes=16, dim=4, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("codebook", torch.randn(codes, dim))
        self.register_buffer("count", torch.ones(codes))
        self.register_buffer("total", self.codebook.clone())

    def forward(self, z):
        index = torch.cdist(z.detach(), self.codebook).argmin(1)
        q = self.codebook[index]
        if self.training:
            with torch.no_grad():
                onehot = F.one_hot(index, len(self.codebook)).float()
                self.count.lerp_(onehot.sum(0), 1 - self.decay)
                self.total.lerp_(onehot.t() @ z, 1 - self.decay)
                self.codebook.copy_(self.total / self.count.clamp(min=1e-3).unsqueeze(1))
        commitment = F.mse_loss(z, q)
        return z + (q - z).detach(), commitment


torch.manual_seed(6)
enc, vq, dec = nn.Linear(10, 4), Quantiser(), nn.Linear(4, 10)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=1e-2)
for step in range(5):
    x = torch.randn(32, 10)
    q, commitment = vq(enc(x))
    loss = F.mse_loss(dec(q), x) + 0.25 * commitment
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
