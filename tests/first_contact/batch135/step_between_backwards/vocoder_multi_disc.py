# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = loss_g, fake_scores, fake_maps, mpd, msd, bank
"""Train a small mel-to-waveform vocoder with a period and a scale discriminator."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class HParams:
    seed: int = 1234
    batch_size: int = 4
    frames: int = 12
    n_mels: int = 10
    hop: int = 8
    periods: tuple = (2, 3)
    channels: int = 12
    lr: float = 2e-4
    betas: tuple = (0.8, 0.99)
    lr_decay: float = 0.999
    lambda_fm: float = 2.0
    lambda_mel: float = 15.0
    steps: int = 6


class Upsampler(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.pre = nn.Conv1d(hp.n_mels, hp.channels, 3, padding=1)
        self.up = nn.ConvTranspose1d(hp.channels, hp.channels, 2 * hp.hop, hp.hop, padding=hp.hop // 2)
        self.res = nn.Conv1d(hp.channels, hp.channels, 3, padding=1)
        self.post = nn.Conv1d(hp.channels, 1, 7, padding=3)

    def forward(self, mel):
        x = F.leaky_relu(self.pre(mel), 0.1)
        x = self.up(x)
        x = x + self.res(F.leaky_relu(x, 0.1))
        return torch.tanh(self.post(F.leaky_relu(x, 0.1)))


class PeriodDiscriminator(nn.Module):
    def __init__(self, period, channels):
        super().__init__()
        self.period = period
        self.conv = nn.Conv2d(1, channels, (5, 1), (2, 1), padding=(2, 0))
        self.out = nn.Conv2d(channels, 1, (3, 1), padding=(1, 0))

    def forward(self, wav):
        b, c, t = wav.shape
        pad = (-t) % self.period
        wav = F.pad(wav, (0, pad), mode="reflect") if pad else wav
        fmap = F.leaky_relu(self.conv(wav.view(b, c, -1, self.period)), 0.1)
        return self.out(fmap).flatten(1), fmap


class ScaleDiscriminator(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(1, channels, 9, 2, padding=4)
        self.out = nn.Conv1d(channels, 1, 3, padding=1)

    def forward(self, wav):
        fmap = F.leaky_relu(self.conv(wav), 0.1)
        return self.out(fmap).flatten(1), fmap


class DiscriminatorBank(nn.Module):
    def __init__(self, discs):
        super().__init__()
        self.discs = nn.ModuleList(discs)

    def forward(self, wav):
        outs = [d(wav) for d in self.discs]
        return [o[0] for o in outs], [o[1] for o in outs]


def disc_loss(real_scores, fake_scores):
    return sum(((1 - r) ** 2).mean() + (f ** 2).mean() for r, f in zip(real_scores, fake_scores))


def gen_adv_loss(fake_scores):
    return sum(((1 - f) ** 2).mean() for f in fake_scores)


def feature_loss(real_maps, fake_maps):
    return sum((r.detach() - f).abs().mean() for r, f in zip(real_maps, fake_maps))


def frame_energy(wav, hop):
    return wav.unfold(-1, 2 * hop, hop).pow(2).mean(-1).add(1e-5).log()


class Meter:
    def __init__(self):
        self.total, self.count = {}, 0

    def update(self, **values):
        for key, value in values.items():
            self.total[key] = self.total.get(key, 0.0) + float(value)
        self.count += 1

    def summary(self):
        return " ".join(f"{k}={v / self.count:.4f}" for k, v in self.total.items())


def sample_batch(hp, generator):
    t = torch.arange(hp.frames * hp.hop) / (hp.frames * hp.hop)
    f0 = torch.rand(hp.batch_size, 1, 1, generator=generator) * 6 + 2
    wav = 0.6 * torch.sin(2 * math.pi * f0 * t)
    mel = torch.randn(hp.batch_size, hp.n_mels, hp.frames, generator=generator) * 0.2 + f0 / 8
    return mel, wav


def train(hp):
    torch.manual_seed(hp.seed)
    generator = torch.Generator().manual_seed(hp.seed)
    vocoder = Upsampler(hp)
    mpd = DiscriminatorBank([PeriodDiscriminator(p, hp.channels) for p in hp.periods])
    msd = DiscriminatorBank([ScaleDiscriminator(hp.channels)])
    optim_g = torch.optim.AdamW(vocoder.parameters(), hp.lr, betas=hp.betas)
    optim_d = torch.optim.AdamW([*mpd.parameters(), *msd.parameters()], hp.lr, betas=hp.betas)
    sched_g = torch.optim.lr_scheduler.ExponentialLR(optim_g, hp.lr_decay)
    sched_d = torch.optim.lr_scheduler.ExponentialLR(optim_d, hp.lr_decay)
    meter = Meter()

    for step in range(hp.steps):
        mel, wav = sample_batch(hp, generator)
        wav_hat = vocoder(mel)

        # discriminator terms
        loss_d = 0.0
        for bank in (mpd, msd):
            loss_d = loss_d + disc_loss(bank(wav)[0], bank(wav_hat.detach())[0])

        # generator terms
        loss_g = hp.lambda_mel * F.l1_loss(frame_energy(wav_hat, hp.hop), frame_energy(wav, hp.hop))
        for bank in (mpd, msd):
            fake_scores, fake_maps = bank(wav_hat)  # expect: place
            _, real_maps = bank(wav)
            loss_g = loss_g + gen_adv_loss(fake_scores) + hp.lambda_fm * feature_loss(real_maps, fake_maps)  # expect: place

        optim_d.zero_grad()
        loss_d.backward()
        optim_d.step()  # expect: place

        optim_g.zero_grad()
        loss_g.backward()  # expect: place
        optim_g.step()

        sched_d.step()
        sched_g.step()
        meter.update(d=loss_d.item(), g=loss_g.item())
    print(meter.summary())


if __name__ == "__main__":
    train(HParams())
