"""Calibrate a wide-angle lens (radial + tangential distortion) with Barzilai-Borwein steps."""
import torch
from torch import nn
from torch.optim import Optimizer


class BarzilaiBorwein(Optimizer):
    """Step length s's / s'y from the last two points, one length for each parameter tensor.

    Falls back to `lr` when the curvature estimate is not positive.
    """

    def __init__(self, params, lr=1e-2, longest=4.0):
        super().__init__(params, dict(lr=lr, longest=longest))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                st = self.state[p]
                eta = group["lr"]
                if "prev_grad" in st:
                    s = p - st["prev_point"]
                    y = p.grad - st["prev_grad"]
                    sy = (s * y).sum()
                    if sy > 1e-12:
                        eta = min((s * s).sum().item() / sy.item(), group["longest"])
                st["prev_point"] = p.clone()
                st["prev_grad"] = p.grad.clone()
                st["eta"] = eta
                p.add_(p.grad, alpha=-eta)

    def lengths(self):
        return [self.state[p].get("eta") for g in self.param_groups for p in g["params"]]


class Lens(nn.Module):
    def __init__(self, focal=1.0):
        super().__init__()
        self.log_focal = nn.Parameter(torch.tensor(float(focal)).log())
        self.centre = nn.Parameter(torch.zeros(2))
        self.radial = nn.Parameter(torch.zeros(2))
        self.tangential = nn.Parameter(torch.zeros(2))

    def forward(self, rays):
        x, y = (rays[:, :2] / rays[:, 2:]).unbind(1)
        r2 = x * x + y * y
        scale = 1 + self.radial[0] * r2 + self.radial[1] * r2 ** 2
        p1, p2 = self.tangential.unbind()
        dx = 2 * p1 * x * y + p2 * (r2 + 2 * x * x)
        dy = p1 * (r2 + 2 * y * y) + 2 * p2 * x * y
        uv = torch.stack([x * scale + dx, y * scale + dy], dim=1)
        return uv * self.log_focal.exp() + self.centre


def chessboard(poses=6):
    """Rays to the corners of a board seen in several poses."""
    u = torch.linspace(-0.8, 0.8, 7)
    board = torch.cartesian_prod(u, u)
    rays = []
    for k in range(poses):
        a = torch.tensor(0.5 * (k - poses / 2) / poses)
        z = 1.6 + board[:, :1] * torch.sin(a)
        rays.append(torch.cat([board * torch.cos(a) + 0.1 * k - 0.25, z], dim=1))
    return torch.cat(rays)


def calibrate(lens, rays, corners, iterations=60):
    opt = BarzilaiBorwein(lens.parameters(), lr=5e-2)
    for it in range(iterations):
        opt.zero_grad(set_to_none=False)
        residual = lens(rays) - corners
        loss = residual.square().sum(1).mean()
        loss.backward()
        opt.step()
        if it % 15 == 0 or it == iterations - 1:
            steps = " ".join("%.3f" % e for e in opt.lengths())
            print("%3d  rms %.5f   steps %s" % (it, loss.item() ** 0.5, steps))
    return lens


if __name__ == "__main__":
    torch.manual_seed(6)
    truth = Lens(1.4)
    with torch.no_grad():
        truth.centre.copy_(torch.tensor([0.03, -0.02]))
        truth.radial.copy_(torch.tensor([-0.25, 0.06]))
        truth.tangential.copy_(torch.tensor([0.01, -0.015]))
        rays = chessboard()
        corners = truth(rays) + 0.001 * torch.randn(len(rays), 2)
    calibrate(Lens(), rays, corners)
