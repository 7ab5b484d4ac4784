"""Fit the noise levels and the drag of a constant velocity tracker by maximum likelihood."""
import math

import numpy as np
import torch
from torch import nn


def make_tracks(n_tracks=16, n_steps=20, dt=0.5, seed=21):
    rng = np.random.default_rng(seed)
    pos = rng.normal(size=(n_tracks, 2)) * 3
    vel = rng.normal(size=(n_tracks, 2))
    out = []
    for _ in range(n_steps):
        pos = pos + dt * vel
        vel = 0.95 * vel + 0.3 * rng.normal(size=vel.shape)
        out.append(pos + 0.4 * rng.normal(size=pos.shape))
    return torch.tensor(np.stack(out, axis=1), dtype=torch.float32)


class Tracker(nn.Module):
    def __init__(self, dt=0.5):
        super().__init__()
        self.dt = dt
        self.drag = nn.Parameter(torch.tensor(0.2))
        self.log_q = nn.Parameter(torch.tensor([-2.0, -2.0]))
        self.log_r = nn.Parameter(torch.zeros(2))
        self.register_buffer("H", torch.eye(2, 4))

    def transition(self):
        eye = torch.eye(2)
        keep = torch.exp(-self.drag) * eye
        top = torch.cat([eye, self.dt * eye], dim=1)
        bottom = torch.cat([torch.zeros(2, 2), keep], dim=1)
        return torch.cat([top, bottom], dim=0)

    def noise(self):
        q = torch.diag(self.log_q.exp().repeat_interleave(2))
        return q, torch.diag(self.log_r.exp())

    def start(self, z0):
        mean = torch.cat([z0, torch.zeros_like(z0)], dim=1)
        return mean, torch.diag(torch.tensor([1.0, 1.0, 4.0, 4.0]))

    def neg_log_likelihood(self, z):
        A, (Q, R), H = self.transition(), self.noise(), self.H
        mean, cov = self.start(z[:, 0])
        terms = []
        for k in range(1, z.shape[1]):
            mean = mean @ A.T
            cov = A @ cov @ A.T + Q

            resid = z[:, k] - mean @ H.T
            S = H @ cov @ H.T + R
            gain = torch.linalg.solve(S, H @ cov).T

            maha = (resid * torch.linalg.solve(S, resid.T).T).sum(dim=1)
            terms.append(0.5 * (maha + torch.logdet(S) + 2 * math.log(2 * math.pi)))

            mean = mean + resid @ gain.T
            cov.data -= gain @ H @ cov
        return torch.stack(terms).mean()


def fit(z, n_iter=60, lr=0.05):
    tracker = Tracker()
    optimizer = torch.optim.Adam(tracker.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)
    for it in range(n_iter):
        optimizer.zero_grad()
        nll = tracker.neg_log_likelihood(z)
        nll.backward()
        optimizer.step()
        scheduler.step()
        if it % 10 == 0:
            print(f"{it:3d}  nll {nll.item():.4f}")
    return tracker


if __name__ == "__main__":
    torch.manual_seed(0)
    tracks = make_tracks()
    fitted = fit(tracks)
    print("drag", round(fitted.drag.item(), 3))
    print("process", fitted.log_q.exp().tolist())
    print("radar", fitted.log_r.exp().tolist())
