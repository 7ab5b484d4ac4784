# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = three_body, angular
"""Energies of small silica-like clusters from pair and three-body features."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(41)

N_ATOMS, N_RADIAL, N_ANGULAR = 6, 8, 6


class RadialBasis(nn.Module):
    def __init__(self, n, cutoff):
        super().__init__()
        self.cutoff = cutoff
        self.centres = nn.Parameter(torch.linspace(0.5, cutoff, n))
        self.widths = nn.Parameter(torch.full((n,), 4.0))

    def forward(self, d):
        envelope = 0.5 * (torch.cos(torch.pi * d / self.cutoff) + 1) * (d < self.cutoff)
        return torch.exp(-self.widths * (d[..., None] - self.centres) ** 2) * envelope[..., None]


class AngularBasis(nn.Module):
    """Learned bumps in cos(theta), mixed by a small layer."""

    def __init__(self, n):
        super().__init__()
        self.centres = nn.Parameter(torch.linspace(-1, 1, n))
        self.mix = nn.Linear(n, n)

    def forward(self, cos):
        return torch.tanh(self.mix(torch.exp(-6.0 * (cos[..., None] - self.centres) ** 2)))


class ClusterNet(nn.Module):
    def __init__(self, cutoff=3.0, hidden=32):
        super().__init__()
        self.cutoff = cutoff
        self.radial = RadialBasis(N_RADIAL, cutoff)
        self.angular = AngularBasis(N_ANGULAR)
        self.atom = nn.Sequential(
            nn.Linear(N_RADIAL + N_ANGULAR, hidden), nn.SiLU(), nn.Linear(hidden, 1)
        )
        i, j, k = torch.meshgrid(*[torch.arange(N_ATOMS)] * 3, indexing="ij")
        keep = (i != j) & (i != k) & (j < k)
        self.register_buffer("triplets", torch.stack([i[keep], j[keep], k[keep]]))

    @torch.no_grad()  # expect: place
    def three_body(self, pos):
        # positions are data, no need to track the geometry
        i, j, k = self.triplets
        a, b = pos[:, j] - pos[:, i], pos[:, k] - pos[:, i]
        cos = F.cosine_similarity(a, b, dim=-1)
        near = torch.exp(-(a.norm(dim=-1) ** 2 + b.norm(dim=-1) ** 2) / self.cutoff)
        feats = self.angular(cos) * near[..., None]  # expect: place
        out = pos.new_zeros(pos.shape[0], N_ATOMS, N_ANGULAR)
        return out.index_add(1, i, feats)

    def forward(self, pos):
        dist = (pos[:, :, None] - pos[:, None] + 1e-6).norm(dim=-1)
        off = ~torch.eye(N_ATOMS, dtype=torch.bool)
        two = (self.radial(dist) * off[None, :, :, None]).sum(2)
        three = self.three_body(pos).requires_grad_()  # expect: place
        return self.atom(torch.cat([two, three], dim=-1)).squeeze(-1).sum(1)


def reference(pos):
    dist = (pos[:, :, None] - pos[:, None] + 1e-6).norm(dim=-1)
    iu = torch.triu_indices(N_ATOMS, N_ATOMS, 1)
    pair = torch.exp(-dist[:, iu[0], iu[1]]).sum(1)
    bend = 0.0
    for c in range(N_ATOMS):
        a = torch.cat([pos[:, :c], pos[:, c + 1:]], dim=1) - pos[:, c:c + 1]
        cos = F.cosine_similarity(a[:, :, None], a[:, None], dim=-1)
        near = torch.exp(-a.pow(2).sum(-1) / 3.0)
        weight = torch.triu(near[:, :, None] * near[:, None], diagonal=1)
        bend = bend + (weight * torch.sin(4.0 * cos)).sum((1, 2))
    return 0.3 * pair + bend


pos = 1.2 * torch.randn(256, N_ATOMS, 3)
energy = reference(pos)
energy = (energy - energy.mean()) / energy.std()
loader = DataLoader(TensorDataset(pos, energy), batch_size=64, shuffle=True)

net = ClusterNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=24)
for epoch in range(24):
    seen = 0.0
    for p, e in loader:
        loss = F.mse_loss(net(p), e)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += loss.item() * len(p)
    sched.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d}  mse {seen / len(pos):.4f}")
