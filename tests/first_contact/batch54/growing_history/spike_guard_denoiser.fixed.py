# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = mean, m2
"""Denoise spectrogram frames of clarinet notes.

Some recordings are damaged; a guard follows the running mean and variance of the
loss (Welford) and leaves a batch out when it lies far outside.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BINS, BATCH, EPOCHS, PER_EPOCH = 40, 16, 4, 30


class SpikeGuard:
    """Running statistics of the training loss, from the first step on."""

    def __init__(self, sigmas=4.0, warmup=10):
        self.sigmas, self.warmup = sigmas, warmup
        self.n = 0
        self.mean = 0.0
        self.m2 = 0.0

    def std(self):
        return (self.m2 / max(self.n - 1, 1)) ** 0.5

    def is_spike(self, loss):
        return self.n > self.warmup and loss > self.mean + self.sigmas * self.std()

    def update(self, loss):
        self.n += 1
        delta = loss - self.mean
        self.mean = self.mean + delta / self.n  # expect: place
        self.m2 = self.m2 + delta * (loss - self.mean)  # expect: place


class MaskNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Conv1d(1, 12, 5, padding=2)
        self.mid = nn.Conv1d(12, 12, 5, padding=2)
        self.out = nn.Conv1d(12, 1, 1)

    def forward(self, noisy):
        h = F.elu(self.inp(noisy[:, None]))
        h = h + F.elu(self.mid(h))
        return noisy * torch.sigmoid(self.out(h)).squeeze(1)


def notes(gen):
    """Odd harmonics over noise; one batch in twenty is clipped tape."""
    f0 = torch.randint(2, 6, (BATCH, 1), generator=gen).float()
    k = torch.arange(1, 12, 2).float()[None]
    bins = torch.arange(BINS).float()
    peaks = torch.exp(-((bins - (f0 * k)[..., None]) ** 2)) / k[..., None]
    clean = peaks.sum(1)
    noisy = clean + 0.3 * torch.rand(BATCH, BINS, generator=gen)
    if torch.rand(1, generator=gen).item() < 0.05:
        noisy = noisy + 4.0
    return noisy, clean


def train_epoch(net, opt, guard, gen):
    skipped, last = 0, None
    for _ in range(PER_EPOCH):
        noisy, clean = notes(gen)
        loss = F.mse_loss(net(noisy), clean)
        if guard.is_spike(loss):
            skipped += 1
            continue
        guard.update(loss.item())  # expect: place
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        last = loss.item()
    return skipped, last


def main():
    torch.manual_seed(9)
    gen = torch.Generator().manual_seed(10)
    net = MaskNet()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    guard = SpikeGuard()
    for epoch in range(EPOCHS):
        skipped, last = train_epoch(net, opt, guard, gen)
        print(f"epoch {epoch}: last loss {last:.5f}, skipped {skipped}, "
              f"usual loss {float(guard.mean):.5f} +- {float(guard.std()):.5f}")


if __name__ == "__main__":
    main()
