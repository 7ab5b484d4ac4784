# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = d_interp, out_real, d_out, d_real
"""Discriminator updates with R1 regularisation."""
import torch
from torch import nn


def r1_penalty(d_out, x):
    (g,) = torch.autograd.grad(d_out.sum(), x)  # expect: place
    return g.flatten(1).pow(2).sum(1).mean()


def d_step(D, opt, real, fake, gamma=1.0):
    real = real.requires_grad_()
    d_real = D(real)
    penalty = r1_penalty(d_real, real)  # expect: place
    loss = nn.functional.softplus(-d_real).mean() + nn.functional.softplus(D(fake)).mean()
    loss = loss + 0.5 * gamma * penalty
    opt.zero_grad()
    loss.backward()  # expect: place
    opt.step()


torch.manual_seed(2)
D = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 1))
opt = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.99))
for _ in range(3):
    d_step(D, opt, torch.randn(8, 4) + 1, torch.randn(8, 4))
