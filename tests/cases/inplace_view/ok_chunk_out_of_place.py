# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
enc = nn.Linear(12, 2 * 4)
dec = nn.Linear(4, 12)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=1e-2)
for epoch in range(5):
    x = torch.rand(16, 12)
    mu, logvar = enc(x).chunk(2, dim=1)
    logvar = logvar.clamp(-5, 5)
    z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
    kl = 0.5 * (mu.pow(2) + logvar.exp() - 1 - logvar).sum(1).mean()
    loss = (dec(z).sigmoid() - x).pow(2).sum(1).mean() + kl
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
