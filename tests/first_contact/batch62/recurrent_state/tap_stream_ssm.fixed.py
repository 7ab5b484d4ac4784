


"""Selective state-space block trained on a continuous vibration recording.

The recording is cut into windows; lanes run in parallel and the block carries
its memory from one window to the next, as it will on the device.
"""
from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

LANES, WINDOW, WIDTH, STATE, TAPS = 4, 24, 12, 6, 4


class SelectiveBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(2, WIDTH)
        self.taps = nn.Conv1d(WIDTH, WIDTH, TAPS, groups=WIDTH)
        self.to_dt = nn.Linear(WIDTH, WIDTH)
        self.to_bc = nn.Linear(WIDTH, 2 * STATE)
        self.log_a = nn.Parameter(torch.log(torch.arange(1, STATE + 1).float()).repeat(WIDTH, 1))
        self.skip = nn.Parameter(torch.ones(WIDTH))
        self.out = nn.Linear(WIDTH, 1)

    def empty(self, lanes):
        return torch.zeros(lanes, WIDTH, STATE), torch.zeros(lanes, WIDTH, TAPS - 1)

    def forward(self, x, carry):
        state, tail = carry
        u = self.inp(x).transpose(1, 2)
        padded = torch.cat([tail, u], dim=-1)
        tail = padded[..., -(TAPS - 1):]
        u = F.silu(self.taps(padded)).transpose(1, 2)
        ys = []
        for t in range(u.shape[1]):
            state, y = self.scan_step(state, u[:, t])
            ys.append(y)
        y = torch.stack(ys, dim=1) + self.skip * u
        return self.out(y), (state, tail)

    def scan_step(self, state, u_t):
        dt = F.softplus(self.to_dt(u_t)).unsqueeze(-1)
        b, c = self.to_bc(u_t).chunk(2, dim=-1)
        decay = torch.exp(-dt * self.log_a.exp())
        state = decay * state + dt * b.unsqueeze(1) * u_t.unsqueeze(-1)
        return state, (state * c.unsqueeze(1)).sum(-1)


def windows(n):
    """Two accelerometer axes; target is the bearing temperature drift."""
    t = torch.arange(n * WINDOW + 1).float()
    phase = torch.rand(LANES, 1) * 6.28
    axes = torch.stack([torch.sin(0.3 * t + phase), torch.cos(0.11 * t + phase)], dim=-1)
    drift = torch.cumsum(axes[..., :1] * 0.1, dim=1)
    for k in range(n):
        sl = slice(k * WINDOW, (k + 1) * WINDOW)
        yield axes[:, sl] + 0.05 * torch.randn(LANES, WINDOW, 2), drift[:, sl]


@contextmanager
def updating(opt, model, clip=1.0):
    opt.zero_grad(set_to_none=True)
    yield
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    opt.step()


def carry_over(carry):
    """What goes from one window into the next."""
    state, tail = carry
    return state.detach(), tail.detach()


def run(epochs=2):
    model = SelectiveBlock()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        carry, seen = model.empty(LANES), 0.0
        for x, drift in windows(6):
            with updating(opt, model):
                pred, carry = model(x, carry)
                loss = F.smooth_l1_loss(pred, drift)
                loss.backward()
            carry = carry_over(carry)
            seen += loss.item()
        print(f"epoch {epoch}: {seen / 6:.4f}")


if __name__ == "__main__":
    run()
