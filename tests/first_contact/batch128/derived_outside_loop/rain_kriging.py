# expect: pattern = derived-outside-loop
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = scaled, sqdist
#!/usr/bin/env python
# Interpolate rainfall between gauges with a Gaussian process (one length scale per axis).
import argparse
import math

import numpy as np
import torch


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--gauges", type=int, default=60)
    ap.add_argument("--iters", type=int, default=80)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--jitter", type=float, default=1e-5)
    ap.add_argument("--seed", type=int, default=8)
    return ap.parse_args()


def fake_gauges(n, seed):
    rng = np.random.default_rng(seed)
    site = rng.uniform(0, 10, size=(n, 3))
    site[:, 2] /= 10
    rain = np.sin(site[:, 0] / 2) + 0.4 * np.cos(site[:, 1]) + 1.5 * site[:, 2]
    rain = rain + 0.1 * rng.normal(size=n)
    return torch.from_numpy(site), torch.from_numpy(rain - rain.mean())


def nll(cov, target):
    chol = torch.linalg.cholesky(cov)
    alpha = torch.cholesky_solve(target.unsqueeze(1), chol).squeeze(1)
    fit = 0.5 * target @ alpha
    size = chol.diagonal().log().sum()
    return fit + size + 0.5 * len(target) * math.log(2 * math.pi)


def rbf(a, b, scale, amp):
    gap = a[:, None] / scale - b[None] / scale
    return amp * torch.exp(-0.5 * gap.pow(2).sum(-1))


def main():
    args = parse()
    torch.manual_seed(args.seed)
    site, rain = fake_gauges(args.gauges, args.seed)
    train, test = torch.arange(0, args.gauges - 10), torch.arange(args.gauges - 10, args.gauges)
    x, y = site[train], rain[train]
    eye = torch.eye(len(train), dtype=x.dtype)

    log_scale = torch.zeros(3, dtype=x.dtype, requires_grad=True)
    log_amp = torch.zeros((), dtype=x.dtype, requires_grad=True)
    log_noise = torch.full((), -1.0, dtype=x.dtype, requires_grad=True)
    opt = torch.optim.Adam([log_scale, log_amp, log_noise], lr=args.lr)

    scaled = x / log_scale.exp()  # expect: place
    sqdist = (scaled[:, None] - scaled[None]).pow(2).sum(-1)  # expect: place

    for it in range(args.iters):
        opt.zero_grad()
        cov = log_amp.exp() * torch.exp(-0.5 * sqdist)  # expect: place
        cov = cov + (log_noise.exp() + args.jitter) * eye
        loss = nll(cov, y)
        loss.backward()
        opt.step()
        if it % 20 == 0:
            print("iter %3d   nll %.4f" % (it, loss.item()))

    with torch.no_grad():
        scale, amp = log_scale.exp(), log_amp.exp()
        k_xx = rbf(x, x, scale, amp) + (log_noise.exp() + args.jitter) * eye
        k_sx = rbf(site[test], x, scale, amp)
        guess = k_sx @ torch.linalg.solve(k_xx, y)
        rmse = (guess - rain[test]).pow(2).mean().sqrt()
    print("length scales", [round(v, 3) for v in scale.tolist()])
    print("rmse on held out gauges %.4f" % rmse)


if __name__ == "__main__":
    main()
