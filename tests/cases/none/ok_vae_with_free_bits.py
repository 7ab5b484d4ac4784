import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)
encoder, decoder = nn.Linear(10, 6), nn.Sequential(nn.Linear(3, 10), nn.Sigmoid())
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
prior = Normal(torch.zeros(3), torch.ones(3))
history = []
for _ in range(5):
    x = torch.rand(16, 10)
    mu, log_std = encoder(x).chunk(2, dim=-1)
    q = Normal(mu, log_std.exp())
    recon = nn.functional.binary_cross_entropy(decoder(q.rsample()), x, reduction="none").sum(-1)
    kl = kl_divergence(q, prior).clamp(min=0.1).sum(-1)
    loss = (recon + kl).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append((loss.item(), kl.mean().item()))
