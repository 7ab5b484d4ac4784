# expect: pattern = missing-zero-grad
"""Rank wines by pairs of tastings (a Siamese scorer with a logistic pair loss)."""
import numpy as np
import torch
from torch import nn


class Taster(nn.Module):
    def __init__(self, chem, hidden=16):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(chem, hidden), nn.ELU(), nn.Linear(hidden, 1))

    def forward(self, wine):
        return self.score(wine).squeeze(-1)


class PairBatches:
    def __init__(self, wines, quality, pairs, size, seed):
        self.wines, self.quality = wines, quality
        self.rng = np.random.default_rng(seed)
        self.pairs, self.size = pairs, size

    def __iter__(self):
        for _ in range(self.pairs // self.size):
            a, b = self.rng.integers(0, len(self.wines), (2, self.size))
            better = np.where(self.quality[a] >= self.quality[b], 1.0, -1.0)
            yield (
                torch.from_numpy(self.wines[a]).float(),
                torch.from_numpy(self.wines[b]).float(),
                torch.from_numpy(better).float(),
            )


def agreement(taster, wines, quality):
    with torch.no_grad():
        guess = taster(torch.from_numpy(wines).float()).numpy()
    order_a, order_b = np.argsort(np.argsort(guess)), np.argsort(np.argsort(quality))
    return np.corrcoef(order_a, order_b)[0, 1]


def run(epochs=6, lr=0.05):
    rng = np.random.default_rng(77)
    wines = rng.standard_normal((80, 8))
    quality = wines[:, 0] - 0.7 * wines[:, 3] + 0.5 * wines[:, 5] ** 2
    torch.manual_seed(77)
    taster = Taster(8)
    sgd = torch.optim.SGD(taster.parameters(), lr=lr)
    batches = PairBatches(wines, quality, pairs=320, size=16, seed=1)
    for epoch in range(epochs):
        taster.train()
        seen = []
        for left, right, better in batches:
            sgd.zero_grad  # expect: place
            margin = better * (taster(left) - taster(right))
            loss = nn.functional.softplus(-margin).mean()
            loss.backward()  # expect: place
            sgd.step()  # expect: place
            seen.append(loss.item())
        taster.eval()
        print(f"{epoch}: pair loss {np.mean(seen):.3f}, rank agreement {agreement(taster, wines, quality):.3f}")


run()
