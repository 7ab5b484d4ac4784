"""Settlement trough above a tunnel that is being driven, from the data of the boring machine.

Robust fit: weights of the points come from Tukey's biweight of the last residuals (in NumPy, as the
monitoring people have it), and what the lawyers ask about - the deepest point and the steepest
slope - has a term of its own.
"""
import numpy as np
import torch
from torch import nn

OFFSETS = np.linspace(-30, 30, 31)


def biweight(residual, c=4.685):
    scale = np.median(np.abs(residual)) / 0.6745 + 1e-6
    u = residual / (c * scale)
    return np.where(np.abs(u) < 1, (1 - u**2) ** 2, 0.0)


def landmarks(profile):
    """Columns of the deepest point and of the steepest slope, for each row of an array."""
    slope = np.gradient(profile, OFFSETS, axis=1)
    return profile.argmin(1), np.abs(slope[:, 1:-1]).argmax(1) + 1


def drive(n, rng):
    pressure = rng.uniform(1, 3, n)
    cover = rng.uniform(10, 25, n)
    clay = rng.uniform(0, 1, n)
    depth = (35 - 8 * pressure) * (0.6 + 0.8 * clay) * 15 / cover
    width = 0.45 * cover * (0.8 + 0.4 * clay)
    shift = 4 * (clay - 0.5)
    z = -depth[:, None] * np.exp(-0.5 * ((OFFSETS - shift[:, None]) / width[:, None]) ** 2)
    seen = z + 0.5 * rng.standard_normal(z.shape)
    lorries = rng.random(z.shape) < 0.03
    seen[lorries] += rng.uniform(-25, 25, lorries.sum())
    features = np.stack([pressure - 2, (cover - 17) / 5, 2 * clay - 1], 1)
    return features.astype(np.float32), seen.astype(np.float32), z.astype(np.float32)


class Trough(nn.Module):
    """Few numbers per section, and a correction that need not be a Gaussian."""

    def __init__(self, width=32):
        super().__init__()
        self.register_buffer("y", torch.from_numpy(OFFSETS).float())
        self.body = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.shape = nn.Linear(width, 3)
        self.bend = nn.Linear(width, len(OFFSETS))

    def forward(self, features):
        h = self.body(features)
        depth, spread, shift = self.shape(h).unbind(-1)
        spread = 8 * torch.exp(0.5 * spread)
        bell = torch.exp(-0.5 * ((self.y - 3 * shift[:, None]) / spread[:, None]) ** 2)
        return -20 * nn.functional.softplus(depth)[:, None] * bell + self.bend(h)


def settlement_loss(model, features, seen):
    z = model(features)
    profile = z.detach().numpy()
    weight = torch.from_numpy(biweight(seen.numpy() - profile)).to(z)
    fit = (weight * (z - seen) ** 2).sum() / weight.sum().clamp_min(1.0)
    deepest, steepest = (torch.from_numpy(column) for column in landmarks(profile))
    rows = torch.arange(len(z))
    near = torch.stack([seen[rows, (deepest + k).clamp(0, len(OFFSETS) - 1)] for k in (-1, 0, 1)], 1).median(1).values
    low = nn.functional.huber_loss(z[rows, deepest], near)
    slope = (z[rows, steepest + 1] - z[rows, steepest - 1]) - (seen[rows, steepest + 1] - seen[rows, steepest - 1])
    steep = nn.functional.huber_loss(slope, torch.zeros_like(slope))
    return fit + 0.3 * low + 0.1 * steep, {"fit": fit.item(), "low": low.item(), "kept": weight.gt(0).float().mean().item()}


def main():
    rng = np.random.default_rng(12)
    torch.manual_seed(12)
    features, seen, truth = (torch.from_numpy(part) for part in drive(260, rng))
    fit, held = np.arange(200), np.arange(200, 260)
    model = Trough()
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
    log, plot = [], {}
    for epoch in range(25):
        for rows in np.array_split(rng.permutation(fit), 5):
            optimizer.zero_grad()
            loss, told = settlement_loss(model, features[rows], seen[rows])
            loss.backward()
            optimizer.step()
            log.append([loss.item(), *told.values()])
        if epoch % 8 == 0:
            z = model(features[held])
            plot[epoch] = z[:3].detach().cpu().numpy().copy()
            error = np.sqrt(np.mean((z.detach().numpy() - truth[held].numpy()) ** 2))
            mean = np.mean(log[-5:], axis=0)
            print(f"epoch {epoch:2d}  loss {mean[0]:8.2f}  fit {mean[1]:8.2f}  kept {mean[3]:.2f}  held out {error:.2f} mm")
    moved = np.abs(plot[24] - plot[0]).max()
    print(f"the three plotted troughs moved by up to {moved:.1f} mm")


if __name__ == "__main__":
    main()
