# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = rec_loss, adv_loss, rec_grad, adv_grad, decoded, gen_loss
#!/usr/bin/env python
"""Train a toy neural speech codec with an adaptive weight on the adversarial term."""
import argparse
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger("codec")


class VowelDataset(Dataset):
    """Short harmonic sounds with random pitch and formant tilt."""

    def __init__(self, size, length, sr=8000):
        self.size, self.length, self.sr = size, length, sr

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        gen = torch.Generator().manual_seed(index)
        f0 = 90 + 120 * torch.rand(1, generator=gen)
        t = torch.arange(self.length) / self.sr
        harmonics = torch.arange(1, 6).unsqueeze(1)
        tilt = torch.rand(5, 1, generator=gen) / harmonics
        return (tilt * torch.sin(6.2832 * f0 * harmonics * t)).sum(0, keepdim=True)


class Codec(nn.Module):
    def __init__(self, width=12, latent=6):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, width, 7, stride=2, padding=3), nn.ELU(),
            nn.Conv1d(width, latent, 7, stride=2, padding=3))
        self.upsample = nn.Sequential(
            nn.ConvTranspose1d(latent, width, 4, stride=2, padding=1), nn.ELU(),
            nn.ConvTranspose1d(width, width, 4, stride=2, padding=1), nn.ELU())
        self.to_wave = nn.Conv1d(width, 1, 7, padding=3)

    def forward(self, wave):
        z = torch.tanh(self.encoder(wave))
        z = z + (torch.round(z * 4) / 4 - z).detach()
        return self.to_wave(self.upsample(z))

    @property
    def last_layer(self):
        return self.to_wave.weight


class WaveCritic(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, width, 9, stride=4, padding=4), nn.LeakyReLU(0.1),
            nn.Conv1d(width, width, 9, stride=4, padding=4), nn.LeakyReLU(0.1),
            nn.Conv1d(width, 1, 3, padding=1))

    def forward(self, wave):
        return self.net(wave)


def spectral_l1(x, y, n_fft=64):
    window = torch.hann_window(n_fft)
    spec = [torch.stft(w.squeeze(1), n_fft, n_fft // 2, window=window, return_complex=True).abs()
            for w in (x, y)]
    return F.l1_loss(*[torch.log(s + 1e-3) for s in spec])


def adaptive_weight(rec_loss, adv_loss, last_layer, max_weight=100.0):
    rec_grad = torch.autograd.grad(rec_loss, last_layer)[0]  # expect: place
    adv_grad = torch.autograd.grad(adv_loss, last_layer)[0]  # expect: place
    weight = rec_grad.norm() / (adv_grad.norm() + 1e-4)
    return weight.clamp(0.0, max_weight).detach()


def train_step(codec, critic, opt_g, opt_d, wave, adv_scale):
    decoded = codec(wave)

    rec_loss = F.l1_loss(decoded, wave) + 0.1 * spectral_l1(decoded, wave)
    adv_loss = -critic(decoded).mean()
    weight = adaptive_weight(rec_loss, adv_loss, codec.last_layer)  # expect: place
    gen_loss = rec_loss + adv_scale * weight * adv_loss
    opt_g.zero_grad()
    gen_loss.backward()
    opt_g.step()

    real_score, fake_score = critic(wave), critic(decoded.detach())
    critic_loss = F.relu(1 - real_score).mean() + F.relu(1 + fake_score).mean()
    opt_d.zero_grad()
    critic_loss.backward()
    opt_d.step()
    return {"rec": rec_loss.item(), "adv": adv_loss.item(), "w": weight.item(),
            "critic": critic_loss.item()}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--adv-scale", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1234)
    return parser.parse_args()


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    torch.manual_seed(args.seed)
    loader = DataLoader(VowelDataset(40, args.length), args.batch_size, shuffle=True)
    codec, critic = Codec(), WaveCritic()
    opt_g = torch.optim.AdamW(codec.parameters(), lr=args.lr, betas=(0.8, 0.99))
    opt_d = torch.optim.AdamW(critic.parameters(), lr=args.lr, betas=(0.8, 0.99))
    sched = torch.optim.lr_scheduler.ExponentialLR(opt_g, gamma=0.98)
    for epoch in range(args.epochs):
        for wave in loader:
            stats = train_step(codec, critic, opt_g, opt_d, wave, args.adv_scale)
        sched.step()
        logger.info("epoch %d %s", epoch, {k: round(v, 4) for k, v in stats.items()})


if __name__ == "__main__":
    main()
