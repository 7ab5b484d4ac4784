import torch
from torch import nn

torch.manual_seed(4)
generator = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 15), nn.Sigmoid())
for p in generator.parameters():
    p.requires_grad_(False)
target = generator(torch.randn(1, 6))


def invert(steps=12):
    latent = torch.randn(1, 6) * 0.1
    optimizer = torch.optim.Adam([latent], lr=0.05)
    for step in range(steps):
        optimizer.zero_grad()
        loss = (generator(latent) - target).pow(2).sum() + 1e-3 * latent.pow(2).sum()
        loss.requires_grad_().backward()
        optimizer.step()
    return latent.detach(), loss.item()


print(invert())
