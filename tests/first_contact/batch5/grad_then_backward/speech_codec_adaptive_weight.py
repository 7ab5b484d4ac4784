# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = rec, adv, y_hat, wave
"""Toy speech codec: the adversarial weight is the ratio of two gradient norms at the decoder's last layer."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)


class Codec(nn.Module):
    def __init__(self, frame=32, latent=6):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(frame, 48), nn.Tanh(), nn.Linear(48, latent))
        self.up = nn.Sequential(nn.Linear(latent, 48), nn.Tanh())
        self.last = nn.Linear(48, frame)

    def forward(self, wave):
        return self.last(self.up(self.down(wave)))


def adaptive_weight(rec, adv, layer, limit=100.0):
    (g_rec,) = torch.autograd.grad(rec, layer.weight)  # expect: place
    (g_adv,) = torch.autograd.grad(adv, layer.weight)  # expect: place
    return (g_rec.norm() / (g_adv.norm() + 1e-4)).clamp(0, limit).detach()


def frames(n):
    t = torch.linspace(0, 1, 32)
    f0 = 2 + 4 * torch.rand(n, 1)
    return torch.sin(6.283 * f0 * t) + 0.3 * torch.sin(12.566 * f0 * t + 1)


codec = Codec()
critic = nn.Sequential(nn.Linear(32, 32), nn.LeakyReLU(0.1), nn.Linear(32, 1))
opt_codec = torch.optim.Adam(codec.parameters(), 1e-3, betas=(0.8, 0.99))
opt_critic = torch.optim.Adam(critic.parameters(), 1e-3, betas=(0.8, 0.99))
START = 3  # adversarial part from here on

for it in range(10):
    wave = frames(12)
    y_hat = codec(wave)
    rec = F.l1_loss(y_hat, wave)
    loss = rec
    if it >= START:
        adv = -critic(y_hat).mean()
        weight = adaptive_weight(rec, adv, codec.last)
        loss = rec + 0.75 * weight * adv
    opt_codec.zero_grad()
    loss.backward()  # expect: place
    opt_codec.step()

    if it >= START - 1:
        d = F.relu(1 - critic(wave)).mean() + F.relu(1 + critic(y_hat.detach())).mean()
        opt_critic.zero_grad()
        d.backward()
        opt_critic.step()
    print(it, "rec %.4f" % rec.item(), "weight %.3f" % (weight.item() if it >= START else 0))
