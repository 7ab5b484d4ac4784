# expect: pattern = none
# expect: raises = nothing
"""Learn the noise levels of a Kalman filter that follows trawlers for hours, ten fixes at a time."""

import torch
import torch.nn as nn
from dataclasses import dataclass, fields, replace


@dataclass
class Belief:
    mean: torch.Tensor
    cov: torch.Tensor

    def leave_the_past(self):
        return replace(self, **{f.name: getattr(self, f.name).detach() for f in fields(self)})


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_q = nn.Parameter(torch.tensor([-2.0, -2.0]))
        self.log_r = nn.Parameter(torch.tensor(0.5))
        self.damp = nn.Parameter(torch.tensor(2.0))
        self.belief = None

    def start(self, n):
        self.belief = Belief(torch.zeros(n, 2, 1), torch.eye(2).expand(n, 2, 2) * 4)

    def transition(self):
        one, zero = torch.ones(()), torch.zeros(())
        return torch.stack([torch.stack([one, one * 0.5]), torch.stack([zero, torch.sigmoid(self.damp)])])

    def fix(self, z):
        A, Q, R = self.transition(), torch.diag(self.log_q.exp()), self.log_r.exp()
        mean = A @ self.belief.mean
        cov = A @ self.belief.cov @ A.t() + Q
        s = cov[:, :1, :1] + R
        gap = z[:, None, None] - mean[:, :1]
        gain = cov[:, :, :1] / s
        self.belief = Belief(mean + gain @ gap, cov - gain @ cov[:, :1, :])
        return 0.5 * (gap ** 2 / s + s.log()).mean()

    def forward(self, window):
        self.belief = self.belief.leave_the_past()
        return sum(self.fix(z) for z in window.unbind(1)) / window.size(1)


def tracks(n, hours):
    speed, place, out = torch.zeros(n), torch.zeros(n), []
    for _ in range(hours):
        speed = 0.9 * speed + 0.3 * torch.randn(n)
        place = place + 0.5 * speed
        out.append(place + 0.4 * torch.randn(n))
    return torch.stack(out, dim=1)


torch.manual_seed(58)
model = Filter()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for voyage in range(3):
    seen = tracks(8, 60)
    model.start(8)
    for window in seen.split(10, dim=1):
        loss = model(window)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("voyage %d  nll %.4f  r %.3f" % (voyage, loss.item(), model.log_r.exp().item()))
