# expect: pattern = none
"""Critic with gradient penalty on cell-shape outlines; losses kept apart because they are logged apart."""
import torch
import torch.nn as nn


def outlines(n, points=12):
    t = torch.linspace(0, 2 * torch.pi, points + 1)[:-1]
    lobes = torch.randint(2, 5, (n, 1))
    return 1 + 0.3 * torch.cos(lobes * t + 6.28 * torch.rand(n, 1))


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mix)
    grad, = torch.autograd.grad(score, mix, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True)
    return (grad.norm(2, dim=1) - 1).pow(2).mean()


def set_requires_grad(net, flag):
    for p in net.parameters():
        p.requires_grad = flag


torch.manual_seed(9)
G = nn.Sequential(nn.Linear(6, 32), nn.ReLU(True), nn.Linear(32, 12), nn.Softplus())
D = nn.Sequential(nn.Linear(12, 32), nn.LeakyReLU(0.2, True), nn.Linear(32, 1))
optG = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.0, 0.9))
optD = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.0, 0.9))
one = torch.tensor(1.0)
history = {"wasserstein": [], "gp": [], "smooth": []}

for it in range(10):
    set_requires_grad(D, True)
    for _ in range(3):
        real = outlines(32)
        fake = G(torch.randn(32, 6)).detach()
        optD.zero_grad()
        d_real = D(real).mean()
        d_real.backward(-one)
        d_fake = D(fake).mean()
        d_fake.backward(one)
        gp = 10 * gradient_penalty(D, real, fake)
        gp.backward()
        optD.step()
        history["wasserstein"].append((d_real - d_fake).item())
        history["gp"].append(gp.detach())

    set_requires_grad(D, False)
    optG.zero_grad()
    fake = G(torch.randn(32, 6))
    adv = -D(fake).mean()
    adv.backward(retain_graph=True)          # the second loss shares the generator's pass
    smooth = 0.1 * (fake - fake.roll(1, 1)).pow(2).mean()
    smooth.backward()
    optG.step()
    history["smooth"].append(smooth.item())
    if it % 3 == 0:
        print(it, round(history["wasserstein"][-1], 4), round(torch.stack(history["gp"][-3:]).mean().item(), 4))
