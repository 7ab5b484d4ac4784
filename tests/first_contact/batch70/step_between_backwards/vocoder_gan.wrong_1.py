# expect: pattern = step-between-backwards
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = score_fake, loss_g, critic
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

HOP, N_MEL = 8, 10


def utterances(n, frames=12):
    """Pitch contours, a crude mel of them and the wave they belong to."""
    f0 = 0.05 + 0.1 * torch.rand(n, 1) + 0.01 * torch.randn(n, frames).cumsum(1)
    phase = 2 * math.pi * f0.repeat_interleave(HOP, 1).cumsum(1)
    wave = torch.sin(phase) + 0.3 * torch.sin(2 * phase)
    centres = torch.linspace(0, 0.3, N_MEL)[None, :, None]
    mel = torch.exp(-((f0[:, None, :] - centres) / 0.03) ** 2)
    return mel, wave[:, None, :]


class Vocoder(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.inp = nn.Conv1d(N_MEL, ch, 3, padding=1)
        self.up = nn.ConvTranspose1d(ch, ch, HOP, stride=HOP)
        self.out = nn.Conv1d(ch, 1, 7, padding=3)

    def forward(self, mel):
        h = F.leaky_relu(self.inp(mel), 0.1)
        h = F.leaky_relu(self.up(h), 0.1)
        return torch.tanh(self.out(h))


class ScaleCritic(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.Conv1d(1, ch, 9, 2, 4), nn.Conv1d(ch, ch, 5, 2, 2), nn.Conv1d(ch, 1, 3, 1, 1)]
        )

    def forward(self, wave):
        h = wave
        for layer in self.layers[:-1]:
            h = F.leaky_relu(layer(h), 0.2)
        return self.layers[-1](h)


def spectrum(wave):
    return torch.fft.rfft(wave.squeeze(1)).abs()


class System:
    def __init__(self, lambda_spec=0.05):
        self.vocoder, self.critic = Vocoder(), ScaleCritic()
        self.opt_g = torch.optim.AdamW(self.vocoder.parameters(), lr=2e-3, betas=(0.8, 0.99))
        self.opt_d = torch.optim.AdamW(self.critic.parameters(), lr=2e-3, betas=(0.8, 0.99))
        self.lambda_spec = lambda_spec

    def training_step(self, mel, wave):
        fake = self.vocoder(mel)
        score_real = self.critic(wave)
        score_fake = self.critic(fake)

        loss_d = (score_real - 1).square().mean() + score_fake.square().mean()
        loss_g = (score_fake - 1).square().mean()
        loss_g = loss_g + self.lambda_spec * F.l1_loss(spectrum(fake), spectrum(wave))

        self.opt_d.zero_grad()
        self.opt_g.zero_grad()
        loss_d.backward(retain_graph=True)
        loss_g.backward()
        self.opt_d.step()
        self.opt_g.step()
        return loss_d.item(), loss_g.item()


if __name__ == "__main__":
    torch.manual_seed(2)
    system = System()
    for step in range(8):
        d, g = system.training_step(*utterances(6))
        print(f"step {step}  critic {d:.3f}  vocoder {g:.3f}")
