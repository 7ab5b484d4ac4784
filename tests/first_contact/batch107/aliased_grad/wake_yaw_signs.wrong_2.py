"""Yaw angles of a row of turbines that steer their wakes past each other.

Steps by the signs of the gradient only (Rprop): the sectors of the wind rose differ so much in
weight that no common learning rate suits all of them, and a line search was too jumpy.
"""
import logging

import torch
from torch.optim import Optimizer

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("wakes")


class SignSteps(Optimizer):
    """Every entry has a step of its own: longer while its sign stays, shorter when it turns."""

    def __init__(self, params, first=0.02, grow=1.2, shrink=0.5, bounds=(1e-5, 0.5)):
        super().__init__(params, dict(first=first, grow=grow, shrink=shrink, bounds=bounds))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            low, high = group["bounds"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g, st = p.grad, self.state[p]
                if "last" in st:
                    agree = g * st["last"].clone()
                    longer = (st["delta"] * group["grow"]).clamp(max=high)
                    shorter = (st["delta"] * group["shrink"]).clamp(min=low)
                    st["delta"] = torch.where(agree > 0, longer, torch.where(agree < 0, shorter, st["delta"]))
                else:
                    st["delta"] = torch.full_like(p, group["first"])
                st["last"] = g
                p.sub_(g.sign() * st["delta"])


class Farm(torch.nn.Module):
    """Gaussian wakes, each bent sideways by the yaw of the turbine that makes it."""

    def __init__(self, places, sectors):
        super().__init__()
        self.register_buffer("places", places)
        self.register_buffer("sectors", sectors)
        self.yaw = torch.nn.Parameter(0.02 * torch.randn(len(sectors), len(places)))
        self.trim = torch.nn.Parameter(torch.zeros(len(places)))

    def angles(self):
        return 0.6 * torch.tanh(self.yaw + self.trim)

    def power(self):
        """Of every turbine (sectors, turbines), in units of a free one."""
        c, s = self.sectors.cos(), self.sectors.sin()
        x = self.places[:, 0] * c[:, None] + self.places[:, 1] * s[:, None]
        y = -self.places[:, 0] * s[:, None] + self.places[:, 1] * c[:, None]
        dx = x[:, :, None] - x[:, None, :]  # receiver, maker
        dy = y[:, :, None] - y[:, None, :]
        angle = self.angles()
        behind = (dx > 0.5).float()
        reach = dx.clamp(min=0.5)
        bend = 0.25 * angle[:, None, :] * reach
        width = 0.35 + 0.045 * reach
        deficit = 0.55 * angle.cos()[:, None, :] / (1 + 0.12 * reach) ** 1.5
        wake = behind * deficit * torch.exp(-0.5 * ((dy - bend) / width) ** 2)
        wind = 1 - wake.pow(2).sum(2).add(1e-9).sqrt()
        return wind ** 3 * angle.cos() ** 1.9


def layout(rows, columns, apart):
    grid = torch.cartesian_prod(torch.arange(rows), torch.arange(columns)).float() * apart
    return grid + 0.3 * torch.randn(grid.shape)


def optimise(farm, frequency, iterations, fatigue=0.02):
    optimizer = SignSteps(farm.parameters())
    start = (frequency @ farm.power().detach().mean(1)).item()
    best, kept = start, farm.angles().detach()
    for it in range(iterations):
        optimizer.zero_grad(set_to_none=False)
        gain = frequency @ farm.power().mean(1)
        load = farm.angles().pow(2).mean(1) @ frequency
        loss = -gain + fatigue * load
        loss.backward()
        if gain.item() > best:
            best, kept = gain.item(), farm.angles().detach()
        optimizer.step()
        if it % 15 == 14:
            log.info("%3d  power %.4f (%+.2f %%)  largest yaw %.1f deg", it + 1, gain.item(),
                     100 * (gain.item() / start - 1), farm.angles().abs().max().rad2deg().item())
    return kept


def main():
    torch.manual_seed(2020)
    sectors = torch.linspace(-0.4, 0.4, 9)
    frequency = torch.softmax(-(sectors / 0.3) ** 2, 0)
    farm = Farm(layout(4, 3, 5.0), sectors)
    kept = optimise(farm, frequency, iterations=60)
    for sector, row in zip(sectors.tolist(), kept.rad2deg()):
        log.info("%+5.2f  %s", sector, " ".join(f"{a:+5.1f}" for a in row[:6].tolist()))


if __name__ == "__main__":
    main()
