# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = T
import torch
from torch import nn
from dataclasses import dataclass


@dataclass
class RenderCfg:
    n_samples: int = 12
    near: float = 0.5
    far: float = 3.0


class TinyField(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.sigma = nn.Linear(width, 1)
        self.rgb = nn.Linear(width, 3)

    def forward(self, p):
        h = self.trunk(p)
        return nn.functional.softplus(self.sigma(h)).squeeze(-1), torch.sigmoid(self.rgb(h))


def render(field, origins, dirs, cfg):
    z = torch.linspace(cfg.near, cfg.far, cfg.n_samples)
    pts = origins[:, None, :] + dirs[:, None, :] * z[None, :, None]
    sigma, rgb = field(pts)
    delta = (cfg.far - cfg.near) / cfg.n_samples
    alpha = 1.0 - torch.exp(-sigma * delta)
    T = torch.ones_like(alpha)
    for i in range(1, cfg.n_samples):
        T[:, i] = T[:, i - 1] * (1.0 - alpha[:, i - 1])  # expect: place
    weights = T * alpha
    return (weights[..., None] * rgb).sum(dim=1)


def main():
    torch.manual_seed(0)
    cfg = RenderCfg()
    field = TinyField()
    opt = torch.optim.Adam(field.parameters(), lr=5e-3)
    for it in range(6):
        o = torch.randn(32, 3) * 0.1
        d = nn.functional.normalize(torch.randn(32, 3), dim=-1)
        gt = torch.sigmoid(d)
        pred = render(field, o, d, cfg)
        loss = ((pred - gt) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 2 == 0:
            print(f"[{it}] psnr {-10 * torch.log10(loss.detach()):.2f}")


main()
