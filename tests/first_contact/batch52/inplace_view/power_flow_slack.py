# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 0 of Select is a view and is being modified inplace
# expect: carrier = vm, va, qg
"""Physics-informed power flow surrogate for a five-bus grid.

The network sees the loads and predicts voltage magnitude, angle and reactive injection of each bus;
the loss is the mismatch of the AC power flow equations.  Bus 0 is the slack bus.
"""
import torch
from torch import nn

N_BUS, SLACK = 5, 0
LINES = [(0, 1, 0.02, 0.06), (0, 2, 0.08, 0.24), (1, 2, 0.06, 0.18), (1, 3, 0.06, 0.18), (2, 4, 0.04, 0.12), (3, 4, 0.01, 0.03)]


def admittance():
    y = torch.zeros(N_BUS, N_BUS, dtype=torch.complex64)
    for i, j, r, x in LINES:
        g = 1 / complex(r, x)
        y[i, j] -= g
        y[j, i] -= g
        y[i, i] += g
        y[j, j] += g
    return y


class BusNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2 * N_BUS, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.out = nn.Linear(width, 3 * N_BUS)
        nn.init.normal_(self.out.weight, std=0.02)
        nn.init.zeros_(self.out.bias)

    def forward(self, load):
        vm, va, qg = self.out(self.trunk(load)).chunk(3, dim=-1)  # expect: place
        # the slack bus fixes the reference: 1.0 p.u., angle zero
        vm[:, SLACK] = 0.0  # expect: place
        va[:, SLACK] = 0.0  # expect: place
        return 1.0 + 0.1 * vm, 0.5 * va, qg


def mismatch(Y, vm, va, qg, p, q):
    v = torch.polar(vm, va)
    s = v * (v @ Y.T).conj()
    dp = (s.real + p)[:, 1:]
    dq = (s.imag + q - 0.1 * qg)[:, 1:]
    return dp, dq


class LoadSampler:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.base_p = torch.tensor([0.0, 0.2, 0.45, 0.4, 0.6])
        self.base_q = torch.tensor([0.0, 0.1, 0.15, 0.05, 0.1])

    def __call__(self, n):
        scale = 0.6 + 0.8 * torch.rand(n, N_BUS, generator=self.gen)
        return self.base_p * scale, self.base_q * scale


def main():
    torch.manual_seed(14)
    Y = admittance()
    net, sample = BusNet(), LoadSampler(14)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.97)
    for it in range(40):
        p, q = sample(64)
        vm, va, qg = net(torch.cat([p, q], dim=-1))
        dp, dq = mismatch(Y, vm, va, qg, p, q)
        loss = dp.pow(2).mean() + dq.pow(2).mean() + 1e-3 * qg.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if it % 8 == 0:
            print(f"{it:3d} mismatch {loss.item():.5f}  vmin {vm.min().item():.3f}")


if __name__ == "__main__":
    main()
