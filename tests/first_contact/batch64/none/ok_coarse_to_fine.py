# expect: pattern = none
# expect: raises = nothing
"""Two-stage volume rendering of a 2D slice: proposal network picks the samples, main network colours them."""
import torch
from torch import nn
import torch.nn.functional as F


class Slab(nn.Module):
    """Positional encoding and a small MLP over points in the plane."""

    def __init__(self, n_out, width=32, octaves=5):
        super().__init__()
        self.register_buffer("bands", 2.0 ** torch.arange(octaves))
        self.mlp = nn.Sequential(nn.Linear(4 * octaves, width), nn.ReLU(inplace=True),
                                 nn.Linear(width, width), nn.ReLU(inplace=True), nn.Linear(width, n_out))

    def forward(self, xy):
        ang = (xy.unsqueeze(-1) * self.bands).flatten(-2)
        return self.mlp(torch.cat((ang.sin(), ang.cos()), -1))


def alpha_weights(density, edges):
    tau = F.softplus(density - 1.0) * (edges[:, 1:] - edges[:, :-1])
    before = torch.cumsum(tau, 1) - tau
    return torch.exp(-before) * (1 - torch.exp(-tau))


def resample(edges, weights, n):
    """Inverse transform sampling of new edges where the proposal sees mass."""
    pdf = weights + 0.01
    cdf = torch.cumsum(pdf / pdf.sum(1, keepdim=True), 1)
    cdf = torch.cat([torch.zeros_like(cdf[:, :1]), cdf], 1)
    u = ((torch.arange(n + 1) + torch.rand(len(edges), 1)) / (n + 1)).contiguous()
    hi = torch.searchsorted(cdf, u).clamp(1, edges.shape[1] - 1)
    c0, c1 = cdf.gather(1, hi - 1), cdf.gather(1, hi)
    e0, e1 = edges.gather(1, hi - 1), edges.gather(1, hi)
    return e0 + (e1 - e0) * ((u - c0) / (c1 - c0).clamp_min(1e-5)).clamp(0, 1)


def envelope_loss(fine_edges, fine_w, edges, w):
    """The proposal has to cover the main network's histogram."""
    mid = 0.5 * (fine_edges[:, 1:] + fine_edges[:, :-1])
    inside = (mid[:, :, None] >= edges[:, None, :-1]) & (mid[:, :, None] < edges[:, None, 1:])
    target = (inside * fine_w[:, :, None]).sum(1)
    return (F.relu(target - w).square() / (w + 1e-4)).mean()


def shadow(rays_o, rays_d):
    """Ground truth: colour of the first disc hit, grey otherwise."""
    centres = torch.tensor([[0.4, 0.3], [-0.5, 0.1], [0.0, -0.4]])
    colour = torch.full((len(rays_o), 3), 0.5)
    rel = centres - rays_o[:, None]
    along = (rel * rays_d[:, None]).sum(-1)
    miss = (rel.square().sum(-1) - along.square()).clamp_min(0).sqrt()
    along = along.masked_fill(miss > 0.25, 9.0)
    first = along.argmin(1)
    hit = along.gather(1, first[:, None]).squeeze(1) < 9.0
    colour[hit] = torch.eye(3)[first[hit]]
    return colour


def main(iters=8, chunks=2, rays_per_chunk=48):
    torch.manual_seed(12)
    proposal, field = Slab(1), Slab(4)
    opt_proposal = torch.optim.Adam(proposal.parameters(), lr=5e-3)
    opt_field = torch.optim.Adam(field.parameters(), lr=5e-3)
    seen = None
    for it in range(iters):
        opt_proposal.zero_grad(set_to_none=False)
        opt_field.zero_grad(set_to_none=False)
        for _ in range(chunks):
            turn = torch.rand(rays_per_chunk) * 2 * torch.pi
            rays_o = torch.stack([turn.cos(), turn.sin()], 1) * 1.5
            aim = torch.rand(rays_per_chunk, 2) - 0.5
            rays_d = F.normalize(aim - rays_o, dim=1)

            edges = torch.linspace(0.3, 2.7, 17).expand(rays_per_chunk, -1)
            mids = 0.5 * (edges[:, 1:] + edges[:, :-1])
            w = alpha_weights(proposal(rays_o[:, None] + rays_d[:, None] * mids[..., None]).squeeze(-1), edges)

            fine = resample(edges, w.detach(), 24)
            mids = 0.5 * (fine[:, 1:] + fine[:, :-1])
            raw = field(rays_o[:, None] + rays_d[:, None] * mids[..., None])
            fine_w = alpha_weights(raw[..., 3], fine)
            rgb = (fine_w[..., None] * raw[..., :3].sigmoid()).sum(1) + 0.5 * (1 - fine_w.sum(1, keepdim=True))

            photo = F.mse_loss(rgb, shadow(rays_o, rays_d)) / chunks
            cover = envelope_loss(fine, fine_w.detach(), edges, w) / chunks
            photo.backward()
            cover.backward()
            seen = photo.detach() if seen is None else 0.95 * seen + 0.05 * photo.detach()
        opt_field.step()
        opt_proposal.step()
        if it % 4 == 3:
            print(f"{it + 1:3d} photo {chunks * seen.item():.4f}")


main()
