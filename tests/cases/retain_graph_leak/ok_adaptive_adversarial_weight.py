# expect: pattern = none
# expect: raises = nothing
"""VQGAN-like balance of two losses by their gradients at the last layer."""
import torch
from torch import nn

torch.manual_seed(2)
decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
critic = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(decoder.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3)


def adaptive_weight(a, b, weight):
    ga = torch.autograd.grad(a, weight, retain_graph=True)[0]
    gb = torch.autograd.grad(b, weight, retain_graph=True)[0]
    return (ga.norm() / (gb.norm() + 1e-4)).clamp(0, 10).detach()


for step in range(4):
    z, x = torch.randn(12, 4), torch.randn(12, 8)
    rec = decoder(z)
    pixel = (rec - x).abs().mean()
    adv = -critic(rec).mean()
    loss = pixel + adaptive_weight(pixel, adv, decoder[-1].weight) * adv
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()

    opt_d.zero_grad()
    d_loss = torch.relu(1 - critic(x)).mean() + torch.relu(1 + critic(rec.detach())).mean()
    d_loss.backward()
    opt_d.step()
    print(step, loss.item(), d_loss.item())
