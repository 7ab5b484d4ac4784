# expect: pattern = numpy-on-grad
# expect: raises = RuntimeError: Can't call numpy() on Tensor that requires grad
# expect: carrier = cp, cp_lo, cp_up, upper, lower, load, loads, lift, moment, cl, cm
"""Surrogate of a wind-tunnel wing section.

From incidence, flap angle and log Reynolds number to the pressure coefficients at the taps of both
surfaces. The balance under the floor measures lift and pitching moment much better than the taps
measure pressure, so the integrals of the prediction have to agree with the balance as well.
"""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CHORD = 0.5 * (1 - np.cos(np.linspace(0, np.pi, 19)))  # cosine spaced taps, leading edge first


@dataclass
class Settings:
    epochs: int = 12
    batch: int = 32
    lr: float = 4e-3
    w_lift: float = 2.0
    w_moment: float = 4.0
    seed: int = 8


def loads(upper, lower):
    """Lift and quarter-chord moment coefficients from the pressures of both surfaces."""
    load = lower - upper
    lift = np.trapezoid(load, CHORD, axis=-1)  # expect: place
    moment = -np.trapezoid(load * (CHORD - 0.25), CHORD, axis=-1)  # expect: place
    return lift, moment


def tunnel(n, rng):
    """Runs of the tunnel: conditions, noisy taps, and the balance."""
    alpha = rng.uniform(-4, 10, n)
    flap = rng.uniform(0, 20, n)
    reynolds = rng.uniform(5.5, 6.5, n)
    x = CHORD[None]
    suction = (0.11 * alpha[:, None]) * np.sqrt((1 - x) / (x + 0.03))
    hinge = 0.03 * flap[:, None] * np.exp(-((x - 0.75) / 0.12) ** 2)
    thickness = -0.6 * np.sqrt(x) * (1 - x) * (1 + 0.2 * (reynolds[:, None] - 6))
    upper = thickness - suction - hinge
    lower = thickness + 0.6 * suction + 0.5 * hinge
    lift, moment = loads(upper, lower)
    upper, lower = (side + 0.08 * rng.standard_normal(side.shape) for side in (upper, lower))
    conditions = np.stack([alpha / 10, flap / 20, reynolds - 6], 1)
    return conditions, upper, lower, np.stack([lift, moment], 1)


class Section(nn.Module):
    def __init__(self, taps, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.sides = nn.Linear(width, 2 * taps)

    def forward(self, conditions):
        cp = self.sides(self.body(conditions))
        return cp.chunk(2, -1)


def batch_loss(model, batch, cfg):
    conditions, upper, lower, balance = batch
    cp_up, cp_lo = model(conditions)  # expect: place
    taps = nn.functional.mse_loss(cp_up, upper) + nn.functional.mse_loss(cp_lo, lower)
    cl, cm = loads(cp_up, cp_lo)  # expect: place
    lift = ((cl - balance[:, 0]) ** 2).mean()
    moment = ((cm - balance[:, 1]) ** 2).mean()
    return taps + cfg.w_lift * lift + cfg.w_moment * moment, taps


def polar_error(model, conditions, balance):
    model.eval()
    with torch.no_grad():
        upper, lower = model(conditions)
    lift, moment = loads(upper.numpy(), lower.numpy())
    model.train()
    return np.abs(lift - balance[:, 0].numpy()).mean(), np.abs(moment - balance[:, 1].numpy()).mean()


def main(cfg):
    rng = np.random.default_rng(cfg.seed)
    torch.manual_seed(cfg.seed)
    data = [torch.from_numpy(part).double() for part in tunnel(240, rng)]
    train = TensorDataset(*(part[:192] for part in data))
    loader = DataLoader(train, batch_size=cfg.batch, shuffle=True)
    model = Section(len(CHORD)).double()
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.epochs)
    curve = []
    for epoch in range(cfg.epochs):
        seen = []
        for batch in loader:
            opt.zero_grad(set_to_none=True)
            loss, taps = batch_loss(model, batch, cfg)
            loss.backward()
            opt.step()
            seen.append((loss.item(), taps.item()))
        schedule.step()
        curve.append(np.mean(seen, 0))
        if epoch % 4 == 3:
            d_lift, d_moment = polar_error(model, data[0][192:], data[3][192:])
            print(f"{epoch + 1:3d}  loss {curve[-1][0]:.4f}  taps {curve[-1][1]:.4f}  |dCl| {d_lift:.3f}  |dCm| {d_moment:.4f}")


if __name__ == "__main__":
    main(Settings())
