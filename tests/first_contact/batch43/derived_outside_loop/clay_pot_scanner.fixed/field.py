import torch
from torch import nn


class DensityField(nn.Module):
    def __init__(self, n_freq=3, hidden=24):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(n_freq))
        self.mlp = nn.Sequential(nn.Linear(3 + 6 * n_freq, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 1), nn.Softplus())

    def forward(self, x):
        ang = (x[..., None] * self.freqs).flatten(-2)
        return self.mlp(torch.cat([x, ang.sin(), ang.cos()], -1)).squeeze(-1)


def render(field, rays_o, rays_d, near=1.5, far=4.5, n_samples=12):
    z = torch.linspace(near, far, n_samples)
    pts = rays_o[:, None] + rays_d[:, None] * z[None, :, None]
    sigma = field(pts)
    return 1 - torch.exp(-(sigma * (far - near) / n_samples).sum(-1))
