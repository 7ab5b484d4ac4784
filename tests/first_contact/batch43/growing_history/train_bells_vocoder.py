# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = sum, self.sum, epoch_disc_sum, epoch_gen_sum, loss_disc, loss_gen_all
"""Vocoder for recordings of station bells. RAM climbs by a few MB with every step and falls back after each epoch."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):
    def __init__(self, n_mels=8, ch=16):
        super().__init__()
        self.conv_pre = nn.Conv1d(n_mels, ch, 7, padding=3)
        self.ups = nn.ModuleList([nn.ConvTranspose1d(ch, ch // 2, 8, 4, 2), nn.ConvTranspose1d(ch // 2, ch // 4, 4, 2, 1)])
        self.conv_post = nn.Conv1d(ch // 4, 1, 7, padding=3)

    def forward(self, mel):
        x = self.conv_pre(mel)
        for up in self.ups:
            x = up(F.leaky_relu(x, 0.1))
        return torch.tanh(self.conv_post(F.leaky_relu(x, 0.1)))


class Discriminator(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(1, ch, 15, 2, 7), nn.Conv1d(ch, ch, 15, 2, 7)])
        self.post = nn.Conv1d(ch, 1, 3, padding=1)

    def forward(self, y, y_hat):
        outs, fmaps = [], []
        for x in (y, y_hat):
            fmap = []
            for conv in self.convs:
                x = F.leaky_relu(conv(x), 0.1)
                fmap.append(x)
            outs.append(self.post(x))
            fmaps.append(fmap)
        return outs[0], outs[1], fmaps[0], fmaps[1]


def feature_loss(fmap_r, fmap_g):
    return 2 * sum((r.detach() - g).abs().mean() for r, g in zip(fmap_r, fmap_g))


def discriminator_loss(real, fake):
    return ((1 - real) ** 2).mean() + (fake ** 2).mean()


def bells(n, frames=8, n_mels=8):
    t = torch.arange(frames * 8) / 64
    f = 3 + 9 * torch.rand(n, 1)
    wave = torch.exp(-2 * t) * torch.sin(6.2832 * f * t)
    mel = wave.view(n, frames, 8).abs().mean(2)[:, None] * torch.softmax(-(torch.arange(n_mels) - f) ** 2 / 4, 1)[:, :, None]
    return mel, wave.unsqueeze(1)


def train_epoch(epoch, net_g, net_d, optim_g, optim_d, steps=12):
    epoch_disc_sum = 0.0
    epoch_gen_sum = 0.0
    for batch_idx in range(steps):
        mel, wave = bells(8)
        y_hat = net_g(mel)

        y_d_r, y_d_g, _, _ = net_d(wave, y_hat.detach())
        loss_disc = discriminator_loss(y_d_r, y_d_g)
        epoch_disc_sum += loss_disc  # expect: place
        optim_d.zero_grad()
        loss_disc.backward()
        grad_norm_d = nn.utils.clip_grad_norm_(net_d.parameters(), max_norm=1000.0)
        optim_d.step()

        _, y_d_g, fmap_r, fmap_g = net_d(wave, y_hat)
        loss_gen_all = 45 * F.l1_loss(y_hat, wave) + feature_loss(fmap_r, fmap_g) + ((1 - y_d_g) ** 2).mean()
        epoch_gen_sum += loss_gen_all  # expect: place
        optim_g.zero_grad()
        loss_gen_all.backward()
        grad_norm_g = nn.utils.clip_grad_norm_(net_g.parameters(), max_norm=1000.0)
        optim_g.step()
    print(f"epoch {epoch} | disc {epoch_disc_sum / steps:.3f} ({grad_norm_d:.2f}) | gen {epoch_gen_sum / steps:.3f} ({grad_norm_g:.2f})")


def run():
    torch.manual_seed(10)
    net_g, net_d = Generator(), Discriminator()
    optim_g = torch.optim.AdamW(net_g.parameters(), 2e-3, betas=(0.8, 0.99))
    optim_d = torch.optim.AdamW(net_d.parameters(), 2e-3, betas=(0.8, 0.99))
    for epoch in range(1, 4):
        train_epoch(epoch, net_g, net_d, optim_g, optim_d)


run()
