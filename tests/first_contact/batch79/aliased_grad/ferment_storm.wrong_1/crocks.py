"""Salt, sugar, temperature and days of crocks in a cellar, and the acidity that was measured."""
import torch


def loader(seed, batches=20, size=12):
    generator = torch.Generator().manual_seed(1000 + seed)
    for _ in range(batches):
        x = torch.rand(size, 7, generator=generator) * 2 - 1
        warm, days, salt = x[:, 0], x[:, 1], x[:, 2]
        sour = torch.sigmoid(2 * warm + 2 * days) - 0.4 * salt + 0.2 * x[:, 3] * x[:, 4]
        yield x, sour + 0.1 * torch.randn(size, generator=generator)
