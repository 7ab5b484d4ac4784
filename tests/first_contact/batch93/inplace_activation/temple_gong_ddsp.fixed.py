"""Analysis by synthesis of a temple gong: partials that decay, fitted through several spectrograms."""
import math

import torch
from torch import nn

SR = 4000
SECONDS = 0.5


class GongModes(nn.Module):
    def __init__(self, guesses_hz):
        super().__init__()
        n = len(guesses_hz)
        self.log_f = nn.Parameter(torch.log(torch.tensor(guesses_hz)))
        self.log_decay = nn.Parameter(torch.full((n,), math.log(4.0)))
        self.log_amp = nn.Parameter(torch.full((n,), -1.5))
        self.phase = nn.Parameter(torch.zeros(n))
        self.strike = nn.Parameter(torch.tensor(-3.0))

    def forward(self, t, noise):
        f, decay, amp = self.log_f.exp(), self.log_decay.exp(), self.log_amp.exp()
        partials = torch.sin(2 * math.pi * f[:, None] * t + self.phase[:, None])
        ring = (amp[:, None] * torch.exp(-decay[:, None] * t) * partials).sum(0)
        return ring + self.strike.exp() * torch.exp(-60 * t) * noise


class SpectralLoss:
    """Linear and logarithmic distance over a few window lengths, blind to the recording's level."""

    def __init__(self, n_ffts=(128, 256, 512), log_weight=0.3, eps=1e-5):
        self.windows = {n: torch.hann_window(n) for n in n_ffts}
        self.log_weight = log_weight
        self.eps = eps

    def magnitude(self, wave, n_fft):
        spec = torch.stft(wave, n_fft, n_fft // 4, window=self.windows[n_fft], return_complex=True)
        mag = torch.sqrt(spec.real ** 2 + spec.imag ** 2 + 1e-8)
        level = mag.detach().pow(2).mean().sqrt()
        mag = mag / level
        return mag

    def __call__(self, heard, made):
        total = 0.0
        for n_fft in self.windows:
            a, b = self.magnitude(heard, n_fft), self.magnitude(made, n_fft)
            linear = torch.norm(a - b) / torch.norm(a)
            logs = (torch.log(a + self.eps) - torch.log(b + self.eps)).abs().mean()
            total = total + linear + self.log_weight * logs
        return total / len(self.windows)


def record(t):
    f = torch.tensor([182.0, 331.0, 489.0, 760.0])
    amp = torch.tensor([0.5, 0.35, 0.2, 0.12])
    decay = torch.tensor([2.0, 4.0, 6.0, 9.0])
    ring = (amp[:, None] * torch.exp(-decay[:, None] * t) * torch.sin(2 * math.pi * f[:, None] * t)).sum(0)
    return ring + 0.1 * torch.exp(-60 * t) * torch.randn_like(t) + 0.001 * torch.randn_like(t)


def describe(gong):
    with torch.no_grad():
        f, decay = gong.log_f.exp(), gong.log_decay.exp()
    return "  ".join(f"{a:.0f} Hz/{b:.1f}" for a, b in zip(f.tolist(), decay.tolist()))


def main():
    torch.manual_seed(74)
    t = torch.arange(int(SR * SECONDS)) / SR
    heard = record(t)
    gong = GongModes([175.0, 340.0, 500.0, 745.0])
    distance = SpectralLoss()
    slow = [gong.log_f]
    fast = [p for name, p in gong.named_parameters() if name != "log_f"]
    optimizer = torch.optim.Adam([{"params": slow, "lr": 2e-3}, {"params": fast, "lr": 3e-2}])
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.98)
    best = (float("inf"), None)
    for step in range(60):
        made = gong(t, torch.randn_like(t))
        loss = distance(heard, made)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if loss.item() < best[0]:
            best = (loss.item(), {k: v.clone() for k, v in gong.state_dict().items()})
        if step % 20 == 19:
            print(f"{step + 1:3d}  {loss.item():.4f}  {describe(gong)}")
    gong.load_state_dict(best[1])
    print(f"kept {best[0]:.4f}  {describe(gong)}")


if __name__ == "__main__":
    main()
