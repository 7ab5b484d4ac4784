"""Drift of ice floes: noise levels of a constant-velocity Kalman filter, learnt from buoy fixes."""
from functools import cached_property

import torch
from torch import nn

DT = 0.5


class FloeTracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_accel = nn.Parameter(torch.tensor([-1.0, -1.0]))
        self.corr = nn.Parameter(torch.zeros(()))
        self.log_fix = nn.Parameter(torch.tensor(0.0))
        eye, zero = torch.eye(2), torch.zeros(2, 2)
        self.register_buffer("F", torch.cat([torch.cat([eye, DT * eye], 1), torch.cat([zero, eye], 1)]))
        self.register_buffer("H", torch.cat([eye, zero], 1))
        self.register_buffer("G", torch.cat([0.5 * DT ** 2 * eye, DT * eye]))

    @cached_property
    def process_noise(self):
        s = self.log_accel.exp()
        off = torch.tanh(self.corr) * s[0] * s[1]
        accel = torch.stack([torch.stack([s[0] ** 2, off]), torch.stack([off, s[1] ** 2])])
        return self.G @ accel @ self.G.T + 1e-6 * torch.eye(4)

    @property
    def fix_noise(self):
        return torch.exp(2 * self.log_fix) * torch.eye(2)

    def predict(self, mean, cov):
        return self.F @ mean, self.F @ cov @ self.F.T + self.process_noise

    def update(self, mean, cov, fix):
        innov = fix - self.H @ mean
        S = self.H @ cov @ self.H.T + self.fix_noise
        gain = torch.linalg.solve(S, self.H @ cov).T
        logp = torch.distributions.MultivariateNormal(torch.zeros(2), S).log_prob(innov)
        return mean + gain @ innov, cov - gain @ self.H @ cov, logp

    def log_likelihood(self, track):
        mean = torch.cat([track[0], torch.zeros(2)])
        cov = torch.diag(torch.tensor([1.0, 1.0, 4.0, 4.0]))
        total = 0.0
        for fix in track[1:]:
            mean, cov = self.predict(mean, cov)
            mean, cov, logp = self.update(mean, cov, fix)
            total = total + logp
        return total / (len(track) - 1)


def simulate(n, gen):
    accel = 0.6 * torch.randn(n, 2, generator=gen) @ torch.tensor([[1.0, 0.5], [0.0, 0.8]])
    velocity = torch.cumsum(DT * accel, 0) + torch.randn(2, generator=gen)
    return torch.cumsum(DT * velocity, 0) + 0.3 * torch.randn(n, 2, generator=gen)


def main():
    gen = torch.Generator().manual_seed(79)
    tracks = [simulate(12, gen) for _ in range(6)]
    tracker = FloeTracker()
    optimizer = torch.optim.Adam(tracker.parameters(), lr=0.05)
    for epoch in range(2):
        optimizer.zero_grad()
        loss = -sum(tracker.log_likelihood(track) for track in tracks)
        loss.backward()
        optimizer.step()
        del tracker.process_noise
        print(epoch, round(loss.item(), 3), tracker.log_accel.exp().tolist(), tracker.log_fix.exp().item())


if __name__ == "__main__":
    main()
