# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 1 of Unbind
# expect: carrier = theta, omega, state
# expect: also = inplace-state, inplace-activation
"""Friction and length of a pendulum from a video track, by differentiating through a simple integrator."""
import torch
import torch.nn as nn


class Pendulum(nn.Module):
    def __init__(self, dt=0.05):
        super().__init__()
        self.log_length = nn.Parameter(torch.tensor(0.4))
        self.friction = nn.Parameter(torch.tensor(0.05))
        self.dt = dt

    def step(self, state):
        theta, omega = state.unbind(-1)  # expect: place
        accel = -9.81 / self.log_length.exp() * torch.sin(theta) - self.friction * omega
        omega += self.dt * accel  # expect: place
        theta += self.dt * omega
        return torch.stack((theta, omega), dim=-1)

    def forward(self, start, steps):
        states = [start]
        for _ in range(steps):
            states.append(self.step(states[-1]))  # expect: place
        return torch.stack(states)


def track(start, steps):
    truth = Pendulum()
    with torch.no_grad():
        truth.log_length.fill_(0.0)
        truth.friction.fill_(0.3)
        angles = [start.clone()]
        for _ in range(steps):
            theta, omega = angles[-1].unbind(-1)
            omega = omega + 0.05 * (-9.81 * torch.sin(theta) - 0.3 * omega)
            angles.append(torch.stack((theta + 0.05 * omega, omega), -1))
    return torch.stack(angles) + 0.01 * torch.randn(steps + 1, *start.shape)


torch.manual_seed(61)
release = torch.stack((torch.linspace(0.2, 1.0, 6), torch.zeros(6)), dim=-1)
video = track(release, 20)
model = Pendulum()
offset = nn.Parameter(torch.zeros(6, 2))
opt = torch.optim.Adam([*model.parameters(), offset], lr=0.02)
for it in range(12):
    path = model(release + offset, 20)  # expect: place
    loss = (path[..., 0] - video[..., 0]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 3 == 2:
        print(it, round(loss.item(), 5), round(model.log_length.exp().item(), 3), round(model.friction.item(), 3))
