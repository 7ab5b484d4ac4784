# expect: pattern = none
# expect: raises = nothing
# GAN inversion over a latent that is made a leaf last
import torch
from torch import nn, optim


def project(generator, image, steps=5, lr=0.05):
    mean = generator.mapping(torch.randn(64, 4)).mean(0, keepdim=True).detach()
    w = (mean + 0.1 * torch.randn_like(mean)).requires_grad_()
    noise = [torch.zeros(1, 8, requires_grad=True) for _ in range(2)]
    opt = optim.Adam([{"params": [w]}, {"params": noise, "lr": lr / 2}], lr=lr)
    for step in range(steps):
        out = generator.synthesis(w, noise)
        loss = (out - image).square().mean() + 1e-3 * sum(n.square().mean() for n in noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for n in noise:
                n -= n.mean()
    return w.detach(), loss.item()


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.mapping = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8))
        self.out = nn.Linear(8, 16)

    def synthesis(self, w, noise):
        for n in noise:
            w = torch.tanh(w + 0.1 * n)
        return self.out(w)


torch.manual_seed(1)
G = Generator().requires_grad_(True)
for p in G.parameters():
    p.requires_grad_(False)
print(project(G, torch.randn(1, 16))[1])
