"""Masked pre-training on spectra, then a regression head with half of the body kept as it is."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

BANDS = 24


def spectra(n, rng):
    centre = rng.uniform(4, 20, (n, 1))
    width = rng.uniform(1.5, 4, (n, 1))
    s = np.exp(-(((np.arange(BANDS) - centre) / width) ** 2)) + 0.02 * rng.normal(size=(n, BANDS))
    return torch.from_numpy(s).float(), torch.from_numpy(centre / BANDS).float()


def pretrain(body, x, steps):
    decoder = nn.Linear(16, BANDS)
    opt = torch.optim.Adam([*body.parameters(), *decoder.parameters()], lr=3e-3)
    for _ in range(steps):
        hidden = torch.rand_like(x) < 0.3
        opt.zero_grad()
        rec = decoder(body(x.masked_fill(hidden, 0.0)))
        F.mse_loss(rec[hidden], x[hidden]).backward()
        opt.step()
    opt.zero_grad()


def finetune(body, head, x, y, epochs):
    for p in body[0].parameters():
        p.requires_grad_(False)
    trainable = filter(lambda p: p.requires_grad, nn.ModuleList([body, head]).parameters())
    opt = torch.optim.SGD(trainable, lr=0.05, momentum=0.9)
    for epoch in range(epochs):
        opt.zero_grad()
        for rows in torch.randperm(len(x)).split(20):


            loss = F.mse_loss(head(body(x[rows])), y[rows])
            loss.backward()
            opt.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


def main():
    torch.manual_seed(11)
    x, y = spectra(80, np.random.default_rng(11))
    body = nn.Sequential(nn.Linear(BANDS, 32), nn.GELU(), nn.Linear(32, 16), nn.GELU())
    head = nn.Linear(16, 1)
    pretrain(body, x, 40)
    finetune(body, head, x, y, 6)


main()
