# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 0 of SplitWithSizes is a view and is being modified inplace
# expect: carrier = dt
"""Selective state space model over the sensors of garden bird feeders: when is the next visit due?"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelectiveScan(nn.Module):
    def __init__(self, d_inner, d_state=4, dt_min=0.01, dt_max=0.3):
        super().__init__()
        self.d_inner, self.d_state = d_inner, d_state
        self.x_proj = nn.Linear(d_inner, d_inner + 2 * d_state, bias=False)
        steps = torch.exp(torch.rand(d_inner) * math.log(dt_max / dt_min) + math.log(dt_min))
        self.dt_bias = nn.Parameter(steps + torch.log(-torch.expm1(-steps)))
        self.A_log = nn.Parameter(torch.log(torch.arange(1.0, d_state + 1).repeat(d_inner, 1)))
        self.D = nn.Parameter(torch.ones(d_inner))

    def forward(self, u):
        dt, B, C = self.x_proj(u).split([self.d_inner, self.d_state, self.d_state], dim=-1)  # expect: place
        dt += self.dt_bias  # expect: place
        dt = F.softplus(dt)
        A = -self.A_log.exp()
        h = u.new_zeros(u.size(0), self.d_inner, self.d_state)
        ys = []
        for t in range(u.size(1)):
            decay = torch.exp(dt[:, t, :, None] * A)
            h = decay * h + (dt[:, t] * u[:, t])[..., None] * B[:, t, None, :]
            ys.append((h * C[:, t, None, :]).sum(-1))
        return torch.stack(ys, dim=1) + self.D * u


class Block(nn.Module):
    def __init__(self, d_model, expand=2):
        super().__init__()
        d_inner = expand * d_model
        self.norm = nn.LayerNorm(d_model)
        self.in_proj = nn.Linear(d_model, 2 * d_inner, bias=False)
        self.conv = nn.Conv1d(d_inner, d_inner, 3, groups=d_inner)
        self.ssm = SelectiveScan(d_inner)
        self.out_proj = nn.Linear(d_inner, d_model, bias=False)

    def forward(self, x):
        u, gate = self.in_proj(self.norm(x)).chunk(2, dim=-1)
        u = F.silu(self.conv(F.pad(u.transpose(1, 2), (2, 0))).transpose(1, 2))
        return x + self.out_proj(self.ssm(u) * F.silu(gate))


class FeederNet(nn.Module):
    def __init__(self, n_sensors=3, d_model=8, depth=2):
        super().__init__()
        self.stem = nn.Linear(n_sensors, d_model)
        self.blocks = nn.Sequential(*[Block(d_model) for _ in range(depth)])
        self.head = nn.Linear(d_model, 1)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x))).squeeze(-1)


def make_days(n, length, generator):
    visits = torch.rand(n, length + 1, generator=generator) < 0.25
    weight = -0.1 * visits.float().cumsum(1) + 0.02 * torch.randn(n, length + 1, generator=generator)
    light = torch.sin(torch.linspace(0, math.pi, length + 1)).expand(n, -1)
    sensors = torch.stack([weight, light, visits.float()], -1)
    return sensors[:, :-1], visits[:, 1:].float()


torch.manual_seed(31)
gen = torch.Generator().manual_seed(8)
net = FeederNet()
optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3)
for step in range(10):
    x, y = make_days(8, 16, gen)
    loss = F.binary_cross_entropy_with_logits(net(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(f"{step:02d} {loss.item():.4f}")
