# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = mask
"""Take wind noise out of infrasound records (volcano array, 50 Hz) with a learnt spectral mask.

The mask is estimated from the log magnitude and applied to the complex spectrogram. The lowest
bins are nothing but wind and drift at any weather and are always muted.
"""
import numpy as np
import torch
import torch.nn as nn

RATE = 50
N_FFT, HOP = 64, 16
MUTE_BELOW = 1.2  # Hz


class Records(torch.utils.data.Dataset):
    def __init__(self, count, seconds=10, seed=0):
        rng = np.random.RandomState(seed)
        n = seconds * RATE
        t = np.arange(n) / RATE
        clean, noisy = [], []
        for _ in range(count):
            tone = rng.uniform(2, 9)
            burst = np.exp(-((t - rng.uniform(2, 8)) / rng.uniform(0.6, 1.5)) ** 2)
            tremor = burst * np.sin(2 * np.pi * tone * t + rng.uniform(0, 6))
            wind = np.convolve(rng.randn(n + 24), np.ones(25) / 6, "valid")
            gust = 0.5 + 0.5 * np.sin(2 * np.pi * t / rng.uniform(4, 9))
            clean.append(tremor)
            noisy.append(tremor + 0.8 * gust * wind)
        self.clean = torch.tensor(np.array(clean), dtype=torch.float32)
        self.noisy = torch.tensor(np.array(noisy), dtype=torch.float32)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        return self.noisy[i], self.clean[i]


def mute_low(mask, hz=MUTE_BELOW):
    """Mask of shape (batch, bin, frame)."""
    bins = int(np.ceil(hz * N_FFT / RATE))
    mask[:, :bins] = 0.0  # expect: place
    return mask


class WindMask(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        bins = N_FFT // 2 + 1
        self.register_buffer("window", torch.hann_window(N_FFT))
        self.enter = nn.Conv1d(bins, channels, 3, padding=1)
        self.middle = nn.Conv1d(channels, channels, 5, padding=2)
        self.leave = nn.Conv1d(channels, bins, 1)
        nn.init.constant_(self.leave.bias, 1.0)

    def spectrum(self, wave):
        return torch.stft(wave, N_FFT, HOP, window=self.window, return_complex=True)

    def forward(self, wave):
        spec = self.spectrum(wave)
        x = torch.log1p(spec.abs())
        x = torch.relu(self.enter(x))
        x = x + torch.relu(self.middle(x))
        mask = torch.sigmoid(self.leave(x))  # expect: place
        mask = mute_low(mask)  # expect: place
        cleaned = torch.istft(mask * spec, N_FFT, HOP, window=self.window, length=wave.shape[-1])
        return cleaned, mask


def snr_db(estimate, truth):
    power = truth.pow(2).sum(-1)
    return (10 * torch.log10(power / (truth - estimate).pow(2).sum(-1))).mean()


def objective(net, noisy, clean):
    cleaned, mask = net(noisy)
    target = net.spectrum(clean)
    spectral = (mask * net.spectrum(noisy) - target).abs().pow(2).mean()
    return -snr_db(cleaned, clean) + 0.1 * spectral


def main(epochs=4):
    torch.manual_seed(8)
    train = torch.utils.data.DataLoader(Records(96, seed=1), batch_size=12, shuffle=True)
    test = Records(32, seed=2)
    net = WindMask()
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    best, best_weights = -np.inf, None
    for epoch in range(epochs):
        net.train()
        for noisy, clean in train:
            loss = objective(net, noisy, clean)
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
        net.eval()
        with torch.no_grad():
            before = snr_db(test.noisy, test.clean).item()
            after = snr_db(net(test.noisy)[0], test.clean).item()
        if after > best:
            best, best_weights = after, {k: v.clone() for k, v in net.state_dict().items()}
        print(f"epoch {epoch}: {before:+.2f} dB -> {after:+.2f} dB")
    net.load_state_dict(best_weights)


if __name__ == "__main__":
    main()
