


# Unsupervised domain adaptation, source = lab spectra, target = field spectra.
# classification on the source + entropic OT between the feature clouds
import math
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

n_src, n_tgt, n_bands, n_cls = 96, 96, 20, 3
centers = torch.randn(n_cls, n_bands) * 1.5


def spectra(n, shift):
    y = torch.randint(0, n_cls, (n,))
    return centers[y] + 1.4 * torch.randn(n, n_bands) + shift, y


Xs, ys = spectra(n_src, 0.0)
Xt, yt = spectra(n_tgt, 1.2)


def loader(X, y, bs):
    while True:
        order = torch.randperm(len(X))
        for idx in order.split(bs):
            yield X[idx], y[idx]


def sinkhorn_cost(a, b, eps=0.5, iters=15):
    """log-domain Sinkhorn, differentiated straight through the iterations"""
    C = torch.cdist(a, b).pow(2) / a.shape[1]
    n, m = C.shape
    f, g = torch.zeros(n), torch.zeros(m)
    log_a, log_b = -math.log(n), -math.log(m)
    for _ in range(iters):
        f = -eps * torch.logsumexp((g[None, :] - C) / eps + log_b, dim=1)
        g = -eps * torch.logsumexp((f[:, None] - C) / eps + log_a, dim=0)
    P = torch.exp((f[:, None] + g[None, :] - C) / eps + log_a + log_b)
    return (P * C).sum()


class Extractor(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_bands, 24), nn.Tanh(), nn.Linear(24, d))
        self.cls = nn.Linear(d, n_cls)

    def forward(self, x):
        z = self.body(x)
        return z, self.cls(z)


net = Extractor()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
lam = 1.0
src, tgt = loader(Xs, ys, 32), loader(Xt, yt, 32)

for epoch in range(4):
    cls_total = 0.0
    ot_total = 0.0
    for it in range(1, 7):
        xs, labels = next(src)
        xt, _ = next(tgt)
        zs, logits = net(xs)
        zt, _ = net(xt)

        cls_loss = F.cross_entropy(logits, labels)
        ot = sinkhorn_cost(zs, zt)
        ot_total += ot.item()
        ot_avg = ot_total / it
        cls_total += cls_loss.item()

        opt.zero_grad()
        loss = cls_loss + lam * ot
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (net(Xt)[1].argmax(1) == yt).float().mean()
    print("epoch %d  cls %.3f  ot %.3f  target acc %.2f" % (epoch, cls_total / 6, float(ot_avg), acc))
