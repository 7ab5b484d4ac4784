"""Postal cancellations in eight by eight pixels, drawn by a generator; R1 on the real ones."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def stamps(n, gen):
    ys, xs = torch.meshgrid(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8), indexing="ij")
    radius = 0.5 + 0.3 * torch.rand(n, 1, 1, generator=gen)
    ring = torch.exp(-((xs ** 2 + ys ** 2).sqrt() - radius) ** 2 / 0.03)
    bar = torch.exp(-(ys - 0.6 * torch.rand(n, 1, 1, generator=gen)) ** 2 / 0.01)
    return (ring + bar).clamp(max=1).flatten(1) * 2 - 1


G = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 64), nn.Tanh())
D = nn.Sequential(nn.Linear(64, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))


def reset(seed):
    torch.manual_seed(seed)
    for net in (G, D):
        for layer in net:
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight)
                nn.init.zeros_(layer.bias)


def r1(real):
    real = real.clone().requires_grad_(True)
    slope, = torch.autograd.grad(D(real).sum(), real, create_graph=True)
    return slope.pow(2).sum(1).mean()


def main(steps=60, batch=32):
    reset(9)
    gen = torch.Generator().manual_seed(9)
    book = stamps(256, gen)
    optG = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.99))
    optD = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.99))
    average = {name: value.clone() for name, value in G.state_dict().items()}
    for step in range(steps):
        real = book[torch.randint(len(book), (batch,), generator=gen)]
        fake = G(torch.randn(batch, 6, generator=gen))

        lossD = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
        optD.zero_grad()
        lossD.backward()
        if step % 4 == 0:
            (2.0 * r1(real)).backward()
        optD.step()

        for p in D.parameters():
            p.requires_grad_(False)
        lossG = F.softplus(-D(fake)).mean()
        optG.zero_grad()
        lossG.backward()
        optG.step()
        for p in D.parameters():
            p.requires_grad_(True)

        for name, value in G.state_dict().items():
            average[name].lerp_(value, 0.05)
        if step % 20 == 19:
            gap = (fake.detach().mean(0) - book.mean(0)).abs().mean().item()
            print(f"step {step}: D {lossD.item():.3f} G {lossG.item():.3f} mean image off by {gap:.3f}")
    G.load_state_dict(average)
    with torch.no_grad():
        print("spread of the averaged one", G(torch.randn(64, 6, generator=gen)).std(0).mean().item())


main()
