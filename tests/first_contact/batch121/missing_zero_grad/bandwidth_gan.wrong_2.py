"""Speech bandwidth extension: a generator restores the band that a cheap codec cut off.

Adversarial + L1 + log-spectrum losses on synthetic harmonics.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH = 128


def synth(n, gen):
    t = torch.arange(LENGTH) / LENGTH
    f0 = 3 + 4 * torch.rand(n, 1, generator=gen)
    wave = torch.zeros(n, LENGTH)
    for h in range(1, 7):
        amp = torch.rand(n, 1, generator=gen) / h
        phase = 6.283 * torch.rand(n, 1, generator=gen)
        wave += amp * torch.sin(6.283 * h * f0 * t + phase)
    return wave.unsqueeze(1)


def codec(wave):
    spec = torch.fft.rfft(wave)
    spec[..., 14:] = 0
    return torch.fft.irfft(spec, n=LENGTH)


class ResGenerator(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.inp = nn.Conv1d(1, ch, 9, padding=4)
        self.mid = nn.ModuleList(nn.Conv1d(ch, ch, 5, padding=2 * d, dilation=d) for d in (1, 2, 4))
        self.out = nn.Conv1d(ch, 1, 9, padding=4)

    def forward(self, x):
        h = F.leaky_relu(self.inp(x), 0.2)
        for conv in self.mid:
            h = h + F.leaky_relu(conv(h), 0.2)
        return x + self.out(h)


class WaveDiscriminator(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(2, ch, 9, stride=2, padding=4), nn.LeakyReLU(0.2),
            nn.Conv1d(ch, 2 * ch, 9, stride=4, padding=4), nn.LeakyReLU(0.2),
            nn.Conv1d(2 * ch, 1, 5, padding=2),
        )

    def forward(self, narrow, wave):
        return self.net(torch.cat([narrow, wave], dim=1))


def log_spectrum(x):
    return torch.log(torch.fft.rfft(x).abs() + 1e-3)


def hinge_d(real, fake):
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean()


torch.manual_seed(2)
gen = torch.Generator().manual_seed(2)
wide = synth(160, gen)
narrow = codec(wide)

netG, netD = ResGenerator(), WaveDiscriminator()
opt_g = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.9))

step = 0
for epoch in range(4):
    for idx in torch.randperm(len(wide), generator=gen).split(32):
        x, y = narrow[idx], wide[idx]
        opt_g.zero_grad()
        opt_d.zero_grad()

        # generator
        fake = netG(x)
        adv = -netD(x, fake).mean()
        rec = F.l1_loss(fake, y)
        spectral = F.l1_loss(log_spectrum(fake), log_spectrum(y))
        g_loss = adv + 20 * rec + spectral
        g_loss.backward()
        opt_g.step()

        # discriminator
        d_loss = hinge_d(netD(x, y), netD(x, fake.detach()))
        d_loss.backward()
        opt_d.zero_grad()
        opt_d.step()

        step += 1
        if step % 5 == 0:
            print(f"step {step:3d}  adv {adv.item():+.3f}  rec {rec.item():.4f}  "
                  f"spec {spectral.item():.3f}  D {d_loss.item():.3f}")
