# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = v, self.v, earth
"""1-D acoustic full waveform inversion on a synthetic marine profile."""
import math

import torch
import torch.nn as nn

NZ, NT, DZ, DT = 48, 140, 0.02, 0.003     # km, s
N_WATER = 8
SRC, RECEIVERS = 2, torch.tensor([1, 3, 5, 7])


def ricker(freq, n, dt):
    t = torch.arange(n) * dt - 1.0 / freq
    a = (math.pi * freq * t) ** 2
    return (1 - 2 * a) * torch.exp(-a)


def laplacian(u):
    pad = nn.functional.pad(u, (1, 1))
    return (pad[2:] - 2 * u + pad[:-2]) / DZ**2


def propagate(v, wavelet):
    before, now = torch.zeros(NZ), torch.zeros(NZ)
    spike = torch.zeros(NZ)
    spike[SRC] = 1.0
    traces = []
    for amp in wavelet:
        after = 2 * now - before + (v * DT) ** 2 * laplacian(now) + amp * spike
        traces.append(after[RECEIVERS])
        before, now = now, after
    return torch.stack(traces)


class Earth(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.v = nn.Parameter(start.clone())

    def forward(self, wavelet):
        return propagate(self.v, wavelet)

    def keep_physical(self):
        # the sea is known, only the rock below it is inverted
        v = self.v.detach().clone()
        v[:N_WATER] = 1.5
        self.v = nn.Parameter(v)  # expect: place


def true_profile():
    v = torch.full((NZ,), 1.5)
    v[N_WATER:22] = 1.9
    v[22:35] = 2.3
    v[35:] = 2.8
    return v


def starting_profile():
    v = torch.linspace(1.5, 2.6, NZ)
    v[:N_WATER] = 1.5
    return v


def invert(n_iter=6):
    wavelet = ricker(8.0, NT, DT)
    observed = propagate(true_profile(), wavelet)
    earth = Earth(starting_profile())
    opt = torch.optim.Adam(earth.parameters(), lr=0.02)
    for it in range(n_iter):
        opt.zero_grad()
        misfit = ((earth(wavelet) - observed) ** 2).sum()
        misfit.backward()
        opt.step()
        earth.keep_physical()  # expect: place
        print(f"it {it:2d}  misfit {misfit.item():.5f}")
    return earth.v


if __name__ == "__main__":
    torch.manual_seed(0)
    v = invert()
    print("rms velocity error:", (v - true_profile()).pow(2).mean().sqrt().item())
