"""Protein of wheat from NIR spectra: carry a calibration from the old instrument to the new one.

Only the old instrument's samples have a lab value. A critic tells the two instruments apart by
the features, and the encoder learns to make that hard.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(41)
BANDS, N = 48, 160
WEIGHT = 0.3


def spectra(n, drift):
    """Three absorbers on a slope; `drift` shifts the wavelengths and bends the baseline."""
    grid = torch.linspace(0, 1, BANDS)
    parts = torch.rand(n, 3)
    peaks = torch.stack([torch.exp(-(grid - c - 0.03 * drift) ** 2 / 0.006) for c in (0.25, 0.5, 0.8)])
    x = parts @ peaks + 0.2 * torch.rand(n, 1) * grid + drift * 0.25 * grid ** 2
    y = 9 + 6 * parts[:, 0] - 2 * parts[:, 1]
    return x + 0.01 * torch.randn(n, BANDS), y


def snv(x):
    return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)


x_old, y_old = spectra(N, drift=0.0)
x_new, y_new = spectra(N, drift=1.0)
x_old, x_new = snv(x_old), snv(x_new)
mu, sd = y_old.mean(), y_old.std()

encoder = nn.Sequential(nn.Linear(BANDS, 32), nn.ELU(), nn.Linear(32, 12))
regressor = nn.Sequential(nn.ELU(), nn.Linear(12, 1))
critic = nn.Sequential(nn.Linear(12, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))

opt_e = torch.optim.Adam(encoder.parameters(), lr=2e-3)
opt_r = torch.optim.Adam(regressor.parameters(), lr=2e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))


def rmsep(x, y):
    with torch.no_grad():
        guess = regressor(encoder(x)).squeeze(1) * sd + mu
    return (guess - y).pow(2).mean().sqrt().item()


def told(logit, label):
    return F.binary_cross_entropy_with_logits(logit, torch.full_like(logit, label))


history = {"calib": [], "critic": [], "confusion": []}
for epoch in range(6):
    order_old, order_new = torch.randperm(N), torch.randperm(N)
    for i in range(0, N, 32):
        a, b = order_old[i:i + 32], order_new[i:i + 32]
        z_old, z_new = encoder(x_old[a]), encoder(x_new[b])
        d_old, d_new = critic(z_old), critic(z_new)
        calib = F.mse_loss(regressor(z_old).squeeze(1), (y_old[a] - mu) / sd)
        critic_loss = told(d_old, 1.0) + told(d_new, 0.0)

        opt_c.zero_grad()
        critic_loss.backward(retain_graph=True)
        opt_c.step()

        opt_e.zero_grad()
        opt_r.zero_grad()
        confusion = told(critic(z_new), 1.0)
        (calib + WEIGHT * confusion).backward()
        opt_e.step()
        opt_r.step()

        history["calib"].append(calib.item())
        history["critic"].append(critic_loss.item())
        history["confusion"].append(confusion.item())
    recent = {k: sum(v[-5:]) / 5 for k, v in history.items()}
    print(epoch, {k: round(v, 3) for k, v in recent.items()},
          f"old {rmsep(x_old, y_old):.3f} new {rmsep(x_new, y_new):.3f}")
