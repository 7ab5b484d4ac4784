# expect: pattern = none
# expect: raises = nothing
"""Classifier guidance: train a denoiser and a noisy classifier of dune profiles, then sample one class."""

import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS, WIDTH, CLASSES = 20, 16, 3
betas = torch.linspace(1e-3, 0.25, STEPS)
alphas = 1 - betas
alpha_bar = torch.cumprod(alphas, dim=0)


class TimeNet(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.time = nn.Embedding(STEPS, 16)
        self.inp = nn.Linear(WIDTH, 32)
        self.mid = nn.Linear(32 + 16, 32)
        self.out = nn.Linear(32, out)

    def forward(self, x, t):
        h = F.silu(self.inp(x))
        h = F.silu(self.mid(torch.cat([h, self.time(t)], dim=1)))
        return self.out(h)


def profiles(n):
    kind = torch.randint(0, CLASSES, (n,))
    s = torch.linspace(0, 1, WIDTH)
    peak = 0.25 + 0.25 * kind[:, None]
    return torch.exp(-((s - peak) / 0.12) ** 2) * 2 - 0.5 + 0.05 * torch.randn(n, WIDTH), kind


def q_sample(x0, t, noise):
    a = alpha_bar[t][:, None]
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


def cond_grad(classifier, x, t, label, scale):
    with torch.enable_grad():
        x_in = x.detach().requires_grad_(True)
        log_prob = F.log_softmax(classifier(x_in, t), dim=1)
        selected = log_prob[torch.arange(len(x)), label]
        return scale * torch.autograd.grad(selected.sum(), x_in)[0]


@torch.no_grad()
def sample(denoiser, classifier, label, scale=1.5):
    x = torch.randn(len(label), WIDTH)
    for i in reversed(range(STEPS)):
        t = torch.full((len(label),), i)
        eps = denoiser(x, t)
        eps = eps - (1 - alpha_bar[i]).sqrt() * cond_grad(classifier, x, t, label, scale)
        x = (x - betas[i] / (1 - alpha_bar[i]).sqrt() * eps) / alphas[i].sqrt()
        if i > 0:
            x += betas[i].sqrt() * torch.randn_like(x)
    return x


torch.manual_seed(29)
denoiser, classifier = TimeNet(WIDTH), TimeNet(CLASSES)
opt_d = torch.optim.Adam(denoiser.parameters(), lr=3e-3)
opt_c = torch.optim.Adam(classifier.parameters(), lr=3e-3)
for step in range(60):
    x0, kind = profiles(48)
    t, noise = torch.randint(0, STEPS, (48,)), torch.randn(48, WIDTH)
    xt = q_sample(x0, t, noise)
    d_loss = F.mse_loss(denoiser(xt, t), noise)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    c_loss = F.cross_entropy(classifier(xt, t), kind)
    opt_c.zero_grad()
    c_loss.backward()
    opt_c.step()
    if step % 20 == 19:
        wanted = torch.arange(12) % CLASSES
        drawn = sample(denoiser, classifier, wanted)
        peaks = drawn.argmax(dim=1).float().reshape(-1, CLASSES).mean(0)
        print("step %d  d %.4f  c %.4f  peaks %s" % (step, d_loss.item(), c_loss.item(), peaks.tolist()))
