"""Where does the cicada sit? Generalised cross correlation of two microphones, with learnt parts.

The two channels have gone through unlike preamplifiers, so that each needs a
short filter of its own; which frequencies can be trusted is learnt as well.
"""
import numpy as np
import torch
import torch.nn as nn

FRAME = 128
MAX_LAG = 10


class PhatLocator(nn.Module):
    def __init__(self, frame, max_lag, eps=1e-5):
        super().__init__()
        bins = frame // 2 + 1
        self.frame, self.max_lag, self.eps = frame, max_lag, eps
        self.window = nn.Parameter(torch.hann_window(frame), requires_grad=False)
        self.preamp = nn.Conv1d(2, 2, 9, padding=4, groups=2, bias=False)
        with torch.no_grad():
            self.preamp.weight.mul_(0.1)[..., 4] += 1.0
        self.smooth = nn.Conv1d(1, 1, 3, padding=1, bias=False)
        nn.init.constant_(self.smooth.weight, 1 / 3)
        self.trust = nn.Parameter(torch.zeros(bins))
        self.sharpness = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("lags", torch.arange(-max_lag, max_lag + 1).float())

    def spectra(self, pair):
        return torch.fft.rfft(self.preamp(pair) * self.window, dim=-1).unbind(1)

    def whiten(self, left, right):
        cross = left * right.conj()
        cross /= cross.abs().detach() + self.eps
        return cross * torch.sigmoid(self.trust)

    def correlation(self, cross):
        full = torch.fft.irfft(cross, n=self.frame, dim=-1)
        near = torch.cat([full[:, -self.max_lag :], full[:, : self.max_lag + 1]], dim=1)
        return self.smooth(near[:, None])[:, 0]

    def forward(self, pair):
        score = self.correlation(self.whiten(*self.spectra(pair)))
        belief = torch.softmax(score * self.sharpness.exp(), dim=-1)
        return belief @ self.lags, belief


def chirps(count, rng):
    """Noise bursts at the two microphones, the right one late and with a bent phase."""
    source = rng.standard_normal((count, FRAME + 2 * MAX_LAG))
    lag = rng.integers(-MAX_LAG + 2, MAX_LAG - 1, count)
    left = source[:, MAX_LAG : MAX_LAG + FRAME]
    right = np.stack([s[MAX_LAG + d : MAX_LAG + d + FRAME] for s, d in zip(source, lag)])
    bend = np.exp(0.6j * np.sin(np.linspace(0, 3, FRAME // 2 + 1)))
    right = np.fft.irfft(np.fft.rfft(right) * bend, n=FRAME)
    pair = np.stack([left, right], 1) + 0.3 * rng.standard_normal((count, 2, FRAME))
    return torch.tensor(pair, dtype=torch.float32), torch.tensor(lag, dtype=torch.float32)


def main():
    torch.manual_seed(17)
    rng = np.random.default_rng(17)
    locator = PhatLocator(FRAME, MAX_LAG)
    trained = [p for p in locator.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=0.02)
    test_pair, test_lag = chirps(200, rng)
    for step in range(40):
        pair, lag = chirps(32, rng)
        guess, belief = locator(pair)
        spread = (belief * (locator.lags - guess[:, None]) ** 2).sum(1).mean()
        loss = nn.functional.l1_loss(guess, lag) + 0.01 * spread
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            with torch.no_grad():
                off = (locator(test_pair)[0] - test_lag).abs().mean()
            print(f"{step:3d} loss {loss.item():.3f}  off by {off.item():.3f} samples")


main()
