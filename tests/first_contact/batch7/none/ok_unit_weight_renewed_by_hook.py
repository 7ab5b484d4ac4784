# expect: pattern = none
"""A smooth critic for glaze recipes: unit-length weights kept between calls, with a slope penalty."""
import torch
from torch import nn


class UnitLinear(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.raw = nn.Parameter(torch.randn(d_out, d_in))
        self.kept = None

    def drop(self, *_):
        self.kept = None

    def forward(self, x):
        if self.kept is None:
            self.kept = self.raw / self.raw.norm(dim=1, keepdim=True)
        return x @ self.kept.t()


class Mean:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def add(self, loss):
        self.total += loss.detach()
        self.n += 1


torch.manual_seed(64)
critic = nn.Sequential(UnitLinear(4, 16), nn.Softplus(), UnitLinear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
for layer in critic:
    if isinstance(layer, UnitLinear):
        opt.register_step_post_hook(layer.drop)

mean = Mean()
for firing in range(10):
    good, poor = torch.randn(12, 4) + 0.5, torch.randn(12, 4) - 0.5
    gap = critic(poor).mean() - critic(good).mean()
    mixed = torch.lerp(poor, good, torch.rand(12, 1)).requires_grad_()
    slope, = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    loss = gap + 10 * (slope.norm(dim=1) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    mean.add(loss)
    print(firing, round(loss.item(), 4), round(float(mean.total / mean.n), 4))
