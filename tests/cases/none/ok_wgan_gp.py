# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn, autograd

torch.manual_seed(3)
LATENT, N_CRITIC, LAMBDA = 4, 3, 10.0
G = nn.Sequential(nn.Linear(LATENT, 24), nn.ReLU(), nn.Linear(24, 2))
C = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=1e-3, betas=(0.0, 0.9))


def gradient_penalty(real, fake):
    t = torch.rand(len(real), 1)
    mixed = (t * real + (1 - t) * fake).requires_grad_()
    out = C(mixed)
    grad = autograd.grad(out, mixed, torch.ones_like(out), create_graph=True, retain_graph=True)[0]
    return (grad.norm(dim=1) - 1).square().mean()


for it in range(4):
    for _ in range(N_CRITIC):
        real = torch.randn(16, 2) * 0.3 + torch.tensor([1.0, -1.0])
        fake = G(torch.randn(16, LATENT)).detach()
        c_loss = C(fake).mean() - C(real).mean() + LAMBDA * gradient_penalty(real, fake)
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()
    g_loss = -C(G(torch.randn(16, LATENT))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    print(it, c_loss.item(), g_loss.item())
