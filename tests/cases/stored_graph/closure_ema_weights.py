# expect: pattern = stored-graph
# expect: also = recurrent-state, accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = stats, stats["ema"], weight
import torch
from torch import nn


def make_trainer(model, lr):
    optim = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    stats = {"ema": None, "n": 0}

    def fit_batch(x, y):
        err = (model(x) - y).pow(2).mean(dim=1)
        weight = err / err.sum()  # expect: place
        if stats["ema"] is None:
            stats["ema"] = weight
        stats["ema"] = 0.8 * stats["ema"] + 0.2 * weight  # expect: place
        loss = (stats["ema"] * err).sum()
        optim.zero_grad()
        loss.backward()  # expect: place
        optim.step()
        stats["n"] += 1
        return float(loss)

    return fit_batch


torch.manual_seed(1)
fit = make_trainer(nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)), 0.05)
for _ in range(4):
    print(fit(torch.randn(6, 3), torch.randn(6, 2)))
