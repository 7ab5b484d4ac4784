"""Grain sizes of river gravel from photographs, trained against the sieve curve only.

Nobody measured single stones: a sample has a sieve analysis (quantiles of the size by number) and
a share of fines. The network sees K stones of a photo, gives each a size, and the sorted sizes are
compared with the quantiles, which is the 1-D Wasserstein distance.
"""
import numpy as np
import torch
import torch.nn as nn

STONES = 24
PHI = np.linspace(0.5 / STONES, 1 - 0.5 / STONES, STONES)


def make_sample(rng):
    """Log-normal gravel seen by five features of each stone, and the laboratory's answer."""
    mean, sigma, fines = rng.normal(1.0, 0.5), rng.uniform(0.2, 0.7), rng.beta(2, 6)
    size = rng.normal(mean, sigma, STONES)
    axis = size + rng.normal(0, 0.2, STONES)
    features = np.stack([
        axis, axis * rng.uniform(0.6, 1.0, STONES), np.exp(-size), rng.normal(fines, 0.1, STONES),
        rng.normal(0, 1, STONES),
    ], 1)
    quantiles = np.quantile(size, PHI)
    return features.astype("float32"), quantiles.astype("float32"), np.float32(fines)


def collate(samples):
    features, quantiles, fines = zip(*samples)
    return (torch.from_numpy(np.stack(features)), torch.from_numpy(np.stack(quantiles)),
            torch.from_numpy(np.stack(fines)))


class StoneNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.stone = nn.Sequential(nn.Linear(5, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.size = nn.Linear(2 * width, 1)
        self.fines = nn.Linear(width, 1)

    def forward(self, features):
        each = self.stone(features)
        whole = each.mean(1, keepdim=True)
        sizes = self.size(torch.cat([each, whole.expand_as(each)], -1)).squeeze(-1)
        return sizes, torch.sigmoid(self.fines(whole)).flatten()


def curve_distance(pred, quantiles):
    """Mean over the quantiles of |sorted prediction - sieve|, in log units."""
    return (pred - quantiles).abs().mean()


def fit_epoch(net, opt, train, batch, shuffle):
    sums = np.zeros(2)
    order = shuffle.permutation(len(train))
    for start in range(0, len(order), batch):
        features, quantiles, fines = collate([train[i] for i in order[start:start + batch]])
        sizes, share = net(features)
        curve = curve_distance(sizes, quantiles)
        silt = (share - fines).pow(2).mean()
        loss = curve + 5.0 * silt
        opt.zero_grad()
        loss.backward()
        opt.step()
        sums += curve.item() * len(features), silt.item() * len(features)
    return sums / len(train)


def check(net, samples):
    net.eval()
    with torch.no_grad():
        features, quantiles, fines = collate(samples)
        sizes, share = net(features)
        curve = curve_distance(sizes, quantiles)
        d50 = (sizes.median(1).values - quantiles[:, STONES // 2]).abs().mean()
    net.train()
    return curve.item(), d50.item(), (share - fines).abs().mean().item()


if __name__ == "__main__":
    torch.manual_seed(50)
    rng = np.random.RandomState(50)
    gravel = [make_sample(rng) for _ in range(200)]
    train, test = gravel[:160], gravel[160:]
    print("before: curve %.3f d50 %.3f fines %.3f" % check(StoneNet(), test))
    net = StoneNet()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(8):
        curve, silt = fit_epoch(net, opt, train, 16, rng)
        print(f"epoch {epoch} curve {curve:.3f} silt {silt:.4f} | "
              + "test curve %.3f d50 %.3f fines %.3f" % check(net, test))
