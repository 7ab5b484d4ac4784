"""Light curves of a star behind an asteroid: depth, edges and a slow drift of the sky.

Cosmic rays spoil some frames, so points are clipped at three robust sigmas while the fit goes on.
"""
import logging

import numpy as np
import torch

log = logging.getLogger("occult")


def make_curve(frames=300, seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, frames)
    flux = 1.0 + 0.08 * np.sin(3 * t + 0.5)
    flux[(t > 0.42) & (t < 0.61)] -= 0.7
    flux += 0.03 * rng.standard_normal(frames)
    hits = rng.choice(frames, 15, replace=False)
    flux[hits] += rng.uniform(0.5, 2.0, 15)
    return t.astype(np.float32), flux.astype(np.float32), hits


class Occultation(torch.nn.Module):
    def __init__(self, degree=3):
        super().__init__()
        self.sky = torch.nn.Parameter(torch.zeros(degree + 1))
        self.edges = torch.nn.Parameter(torch.tensor([0.38, 0.66]))
        self.depth = torch.nn.Parameter(torch.tensor(0.4))
        self.log_width = torch.nn.Parameter(torch.tensor(-3.0))

    def forward(self, t):
        powers = torch.stack([t ** k for k in range(len(self.sky))], 1)
        width = self.log_width.exp()
        inside = torch.sigmoid((t - self.edges[0]) / width) * torch.sigmoid((self.edges[1] - t) / width)
        return 1 + powers @ self.sky - self.depth * inside


def robust_sigma(values):
    """1.4826 times the median absolute deviation, as in the reduction pipeline."""
    values = np.asarray(values)
    centre = np.median(values)
    return centre, 1.4826 * np.median(np.abs(values - centre))


def clip(residual, kappa):
    centre, sigma = robust_sigma(residual)
    return ((residual - centre).abs() < kappa * sigma).float()


def fit(model, t, flux, steps=120, warmup=20, kappa=3.0):
    optimizer = torch.optim.Adam([
        {"params": [model.sky], "lr": 1e-2},
        {"params": [model.edges, model.depth], "lr": 5e-3},
        {"params": [model.log_width], "lr": 2e-2},
    ])
    keep = torch.ones_like(flux)
    for step in range(steps):
        residual = flux - model(t).detach()
        if step >= warmup and step % 10 == 0:
            keep = clip(residual, kappa)
        loss = (keep * residual ** 2).sum() / keep.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            log.info("step %3d loss %.5f kept %d", step, loss.item(), int(keep.sum()))
    return keep


def main():
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(1)
    t, flux, hits = make_curve()
    baseline, noise = robust_sigma(flux[:80])
    log.info("baseline %.3f, noise %.3f", baseline, noise)
    model = Occultation()
    keep = fit(model, torch.from_numpy(t), torch.from_numpy(flux))
    dropped = set(np.flatnonzero(keep.numpy() == 0))
    log.info("depth %.3f, edges %s, cosmics found %d of %d", model.depth.item(),
             [round(e, 3) for e in model.edges.tolist()], len(dropped & set(hits)), len(hits))


if __name__ == "__main__":
    main()
