"""Echo density along sonar beams under a pier, rendered by ray marching; the window of distances that is
sampled along each beam is learnt together with the field."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class EchoField(nn.Module):
    def __init__(self, n_freq=3, width=24):
        super().__init__()
        self.register_buffer("freq", 2.0 ** torch.arange(n_freq))
        self.net = nn.Sequential(nn.Linear(2 + 4 * n_freq, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, points):
        angle = points.unsqueeze(-1) * self.freq
        coded = torch.cat([points, angle.sin().flatten(-2), angle.cos().flatten(-2)], dim=-1)
        density, echo = self.net(coded).unbind(-1)
        return F.softplus(density), echo


class BeamRenderer(nn.Module):
    def __init__(self, field, n_samples=16):
        super().__init__()
        self.field, self.n_samples = field, n_samples
        self.near = nn.Parameter(torch.tensor(0.3))
        self.far = nn.Parameter(torch.tensor(2.0))

    def sample_depths(self, n_beams):
        t = self.near + (self.far - self.near) * torch.linspace(0, 1, self.n_samples)
        if self.training:
            t = t + (t[1] - t[0]) * (torch.rand(n_beams, self.n_samples) - 0.5)
        return t.expand(n_beams, self.n_samples)

    def forward(self, origin, direction):
        depths = self.sample_depths(len(origin))
        points = origin[:, None] + depths[..., None] * direction[:, None]
        density, echo = self.field(points)
        gap = F.pad(depths[:, 1:] - depths[:, :-1], (0, 1), value=0.1)
        alpha = 1 - torch.exp(-density * gap.clamp(min=0))
        clear = torch.cumprod(F.pad(1 - alpha + 1e-8, (1, 0), value=1.0), dim=1)[:, :-1]
        weight = alpha * clear
        return (weight * echo).sum(1), (weight * depths).sum(1)


def survey(n, gen):
    bearing = 0.6 * (torch.rand(n, generator=gen) - 0.5)
    origin = torch.stack([torch.zeros(n), torch.rand(n, generator=gen)], 1)
    direction = torch.stack([bearing.cos(), bearing.sin()], 1)
    distance = 2.6 / bearing.cos()
    return origin, direction, torch.sin(3 * origin[:, 1]), distance


def main():
    torch.manual_seed(260)
    gen = torch.Generator().manual_seed(261)
    renderer = BeamRenderer(EchoField())
    optimizer = torch.optim.Adam([
        {"params": renderer.field.parameters(), "lr": 5e-3},
        {"params": [renderer.near, renderer.far], "lr": 2e-2},
    ])
    for it in range(20):
        origin, direction, echo, distance = survey(48, gen)
        pred_echo, pred_distance = renderer(origin, direction)
        loss = F.mse_loss(pred_echo, echo) + 0.5 * F.smooth_l1_loss(pred_distance, distance)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 5 == 4:
            print(f"{it + 1} loss {loss.item():.4f} window {renderer.near.item():.3f}-{renderer.far.item():.3f} m")


main()
