"""Multislice ptychography: the phase of a thick specimen from overlapping diffraction patterns.

Far-field intensities of a known probe at a grid of positions. The specimen is a stack of thin
phase slices with free-space propagation between them. Lengths are in pixels.
"""
import numpy as np
import torch

N = 32  # specimen
P = 16  # probe window


def disk(n, radius, soft=1.0):
    y, x = torch.meshgrid(torch.arange(n) - n / 2, torch.arange(n) - n / 2, indexing="ij")
    return torch.sigmoid((radius - torch.hypot(x, y)) / soft)


def fresnel(n, distance):
    f = torch.fft.fftfreq(n)
    return torch.exp(-1j * torch.pi * distance * (f[:, None] ** 2 + f[None] ** 2))


class Microscope:
    def __init__(self, slices=3, distance=6.0):
        self.slices = slices
        self.probe = disk(P, 5.0) * torch.exp(0.15j * disk(P, 3.0))
        self.kernel = fresnel(P, distance)
        self.outside = 1 - disk(P, 6.5)
        self.steps = [(r, c) for r in range(0, N - P + 1, 4) for c in range(0, N - P + 1, 4)]

    def windows(self, volume):
        """All patches at once: (position, slice, P, P)."""
        return torch.stack([volume[:, r:r + P, c:c + P] for r, c in self.steps])

    def expose(self, volume):
        """Diffraction amplitudes, and the light that strays out of the probe within the stack."""
        patches = self.windows(volume)
        wave = self.probe.repeat(len(self.steps), 1, 1)
        leak = volume.new_zeros(())
        for depth in range(self.slices):
            wave = wave * torch.exp(1j * patches[:, depth])
            wave = torch.fft.ifft2(torch.fft.fft2(wave) * self.kernel)
            leak = leak + (self.outside * wave.abs().square()).mean()
        far = torch.fft.fft2(wave, norm="ortho")
        return (far.real.square() + far.imag.square() + 1e-9).sqrt(), leak


def specimen(slices, rng):
    volume = np.zeros((slices, N, N), dtype=np.float32)
    for s in range(slices):
        for _ in range(6):
            r, c = rng.integers(4, N - 6, size=2)
            h, w = rng.integers(3, 7, size=2)
            volume[s, r:r + h, c:c + w] += rng.uniform(0.2, 0.6)
    return torch.from_numpy(volume)


def total_variation(volume):
    return (volume.diff(dim=-1).square() + 1e-6).sqrt().mean() + (volume.diff(dim=-2).square() + 1e-6).sqrt().mean()


def agreement(a, b):
    """Correlation of the projected phases; an offset does not matter."""
    a, b = (v.sum(0) - v.sum(0).mean() for v in (a, b))
    return (a * b).sum() / (a.norm() * b.norm() + 1e-9)


def reconstruct(scope, measured, truth, rounds=60, lr=0.05, tv=1e-3, mu=0.5):
    volume = torch.zeros(scope.slices, N, N, requires_grad=True)
    opt = torch.optim.Adam([volume], lr=lr, betas=(0.9, 0.99))
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, rounds)
    for k in range(rounds):
        opt.zero_grad(set_to_none=True)
        amplitude, leak = scope.expose(volume)
        misfit = (amplitude - measured).square().mean()
        loss = misfit + tv * total_variation(volume) + mu * leak
        loss.backward()
        opt.step()
        sched.step()
        if k % 15 == 0 or k == rounds - 1:
            r = agreement(volume.detach(), truth).item()
            print(f"round {k:3d}  misfit {misfit.item():.5f}  leak {leak.item():.4f}  r {r:.3f}")
    return volume.detach()


if __name__ == "__main__":
    torch.manual_seed(9)
    rng = np.random.default_rng(9)
    scope = Microscope()
    truth = specimen(scope.slices, rng)
    with torch.no_grad():
        clean, _ = scope.expose(truth)
        measured = (clean + 0.01 * torch.randn_like(clean)).clamp_min(0)
    found = reconstruct(scope, measured, truth)
    print("per slice:", [round(agreement(found[s:s + 1], truth[s:s + 1]).item(), 2) for s in range(3)])
