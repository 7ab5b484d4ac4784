"""A reef from sonar rays: two fields, the second is asked where the first saw something (coarse to fine)."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def encode(x, bands=4):
    freq = 2.0 ** torch.arange(bands)
    angles = x.unsqueeze(-1) * freq
    return torch.cat([x, angles.sin().flatten(-2), angles.cos().flatten(-2)], dim=-1)


class Field(nn.Module):
    def __init__(self, bands=4, width=32):
        super().__init__()
        self.bands = bands
        self.layers = nn.ModuleList([nn.Linear(2 + 4 * bands, width), nn.Linear(width, width)])
        self.density = nn.Linear(width, 1)
        self.echo = nn.Linear(width, 1)

    def forward(self, x):
        h = encode(x, self.bands)
        for layer in self.layers:
            h = F.relu(layer(h))
        return F.softplus(self.density(h)).squeeze(-1), torch.sigmoid(self.echo(h)).squeeze(-1)


def render(field, origin, direction, t):
    points = origin[:, None] + t[..., None] * direction[:, None]
    density, echo = field(points)
    gap = torch.cat([t[:, 1:] - t[:, :-1], torch.full_like(t[:, :1], 0.1)], dim=1)
    alpha = 1 - torch.exp(-density * gap)
    free = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-8], dim=1), dim=1)[:, :-1]
    weights = alpha * free
    weights = weights.detach()
    return (weights * echo).sum(1), (weights * t).sum(1), weights


def sample_along(t, weights, count):
    """More samples where the weights are large: inverse of their cumulative sum."""
    p = weights + 1e-4
    cdf = torch.cumsum(p / p.sum(1, keepdim=True), dim=1)
    cdf = torch.cat([torch.zeros_like(cdf[:, :1]), cdf], dim=1)
    u = torch.linspace(0.02, 0.98, count).expand(len(t), count).contiguous()
    above = torch.searchsorted(cdf.detach(), u, right=True).clamp(1, t.size(1) - 1)
    below = above - 1
    c0, c1 = cdf.gather(1, below), cdf.gather(1, above)
    t0, t1 = t.gather(1, below), t.gather(1, above)
    return t0 + (u - c0) / (c1 - c0).clamp(min=1e-3) * (t1 - t0)


def reef(x):
    return -0.6 + 0.2 * torch.sin(3 * x)


def rays(count):
    origin = torch.stack([torch.rand(count) * 2 - 1, torch.ones(count)], dim=1)
    direction = F.normalize(torch.stack([0.4 * torch.randn(count), -torch.ones(count)], dim=1), dim=1)
    t = torch.linspace(0, 2.5, 200)
    points = origin[:, None] + t[:, None] * direction[:, None]
    hit = (points[..., 1] < reef(points[..., 0])).float().argmax(1)
    depth = t[hit]
    echo = 0.5 + 0.4 * torch.cos(4 * points[torch.arange(count), hit, 0])
    return origin, direction, echo, depth


def main(iterations=25, batch=48):
    torch.manual_seed(55)
    coarse, fine = Field(), Field()
    optimizer = torch.optim.Adam([*coarse.parameters(), *fine.parameters()], lr=5e-3, betas=(0.9, 0.99))
    for it in range(iterations):
        origin, direction, echo, depth = rays(batch)
        t = torch.linspace(0.2, 2.4, 16).expand(batch, 16) + 0.1 * torch.rand(batch, 16)
        seen, at, weights = render(coarse, origin, direction, t)
        coarse_loss = F.mse_loss(seen, echo) + 0.1 * F.l1_loss(at, depth)

        new_t = sample_along(t, weights, 24)
        fine_t, _ = torch.sort(torch.cat([t, new_t], dim=1), dim=1)
        seen, at, _ = render(fine, origin, direction, fine_t)
        fine_loss = F.mse_loss(seen, echo) + 0.1 * F.l1_loss(at, depth)

        optimizer.zero_grad()
        coarse_loss.backward()
        fine_loss.backward()
        optimizer.step()
        if it % 8 == 0:
            print(f"{it:3d}  coarse {coarse_loss.item():.4f}  fine {fine_loss.item():.4f}")


if __name__ == "__main__":
    main()
