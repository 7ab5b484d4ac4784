import torch

SPECIES = 3
PITCH = torch.tensor([0.08, 0.11, 0.16])
GLIDE = torch.tensor([2e-4, -3e-4, 0.0])


def squeaks(n, seed, samples=128):
    g = torch.Generator().manual_seed(seed)
    species = torch.randint(SPECIES, (n,), generator=g)
    t = torch.arange(samples).float()
    pitch = (PITCH[species] + 0.01 * torch.randn(n, generator=g))[:, None]
    wave = torch.sin(6.2832 * (pitch * t + GLIDE[species][:, None] * t * t))
    return wave + 0.6 * torch.randn(n, samples, generator=g), species
