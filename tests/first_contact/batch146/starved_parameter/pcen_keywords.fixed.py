"""Keyword spotting with a PCEN front end on top of a mel spectrogram."""
import argparse
import logging
import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger("kws")
SR = 4000


def synth_clips(n_per_class, num_classes, samples=1000, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(samples) / SR
    clips, labels = [], []
    for c in range(num_classes):
        for _ in range(n_per_class):
            f0 = 200 + 180 * c + 20 * torch.randn(1, generator=g)
            chirp = torch.sin(2 * math.pi * (f0 * t + 150 * (c % 2) * t ** 2))
            gain = 0.2 + torch.rand(1, generator=g)
            clips.append(gain * chirp + 0.2 * torch.randn(samples, generator=g))
            labels.append(c)
    return TensorDataset(torch.stack(clips), torch.tensor(labels))


def mel_filters(n_freqs, n_mels):
    hz_to_mel = lambda f: 2595 * math.log10(1 + f / 700)
    mels = torch.linspace(hz_to_mel(40), hz_to_mel(SR / 2), n_mels + 2)
    points = 700 * (10 ** (mels / 2595) - 1)
    freqs = torch.linspace(0, SR / 2, n_freqs)
    up = (freqs[None] - points[:-2, None]) / (points[1:-1] - points[:-2])[:, None]
    down = (points[2:, None] - freqs[None]) / (points[2:] - points[1:-1])[:, None]
    return torch.clamp(torch.minimum(up, down), min=0)


class PCEN(nn.Module):
    """Per-channel energy normalisation with trainable gain, bias, root and smoothing."""

    def __init__(self, n_mels, eps=1e-6):
        super().__init__()
        self.log_alpha = nn.Parameter(torch.full((n_mels,), math.log(0.9)))
        self.log_delta = nn.Parameter(torch.full((n_mels,), math.log(2.0)))
        self.log_r = nn.Parameter(torch.full((n_mels,), math.log(0.5)))
        self.log_s = nn.Parameter(torch.full((n_mels,), math.log(0.1)))
        self.eps = eps

    def forward(self, mel):
        s, alpha = self.log_s.exp(), self.log_alpha.exp()
        delta, r = self.log_delta.exp(), self.log_r.exp()
        smooth = [mel[:, 0]]
        for frame in mel.unbind(1)[1:]:
            smooth.append((1 - s) * smooth[-1] + s * frame)
        m = torch.stack(smooth, dim=1)
        return (mel / (self.eps + m) ** alpha + delta) ** r - delta ** r


class FrontEnd(nn.Module):
    def __init__(self, n_fft=128, hop=64, n_mels=20):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("fb", mel_filters(n_fft // 2 + 1, n_mels))
        self.pcen = PCEN(n_mels)

    def forward(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)
        power = spec.abs() ** 2
        mel = (self.fb @ power).transpose(1, 2)
        return self.pcen(mel)


class KeywordNet(nn.Module):
    def __init__(self, num_classes, n_mels=20):
        super().__init__()
        self.frontend = FrontEnd(n_mels=n_mels)
        self.conv = nn.Sequential(
            nn.Conv1d(n_mels, 32, 3, padding=1), nn.BatchNorm1d(32), nn.ReLU(),
            nn.Conv1d(32, 32, 3, padding=1), nn.ReLU())
        self.fc = nn.Linear(32, num_classes)

    def forward(self, wav):
        feats = self.frontend(wav)
        return self.fc(self.conv(feats.transpose(1, 2)).mean(dim=2))


def accuracy(model, loader):
    model.eval()
    hits = 0
    with torch.no_grad():
        for wav, label in loader:
            hits += (model(wav).argmax(1) == label).sum().item()
    return hits / len(loader.dataset)


def main(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--classes", type=int, default=4)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--frontend-lr", type=float, default=3e-2)
    args = p.parse_args(argv)
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    torch.manual_seed(3)
    train = DataLoader(synth_clips(16, args.classes), batch_size=16, shuffle=True)
    test = DataLoader(synth_clips(8, args.classes, seed=1), batch_size=32)

    model = KeywordNet(args.classes)
    rest = list(model.conv.parameters()) + list(model.fc.parameters())
    optimizer = torch.optim.Adam([
        {"params": model.frontend.parameters(), "lr": args.frontend_lr},
        {"params": rest}], lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        for wav, label in train:
            loss = F.cross_entropy(model(wav), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        log.info("epoch %d loss %.3f acc %.3f alpha %.3f r %.3f", epoch, loss.item(), accuracy(model, test),
                 model.frontend.pcen.log_alpha.exp().mean().item(), model.frontend.pcen.log_r.exp().mean().item())


if __name__ == "__main__":
    main(sys.argv[1:])
