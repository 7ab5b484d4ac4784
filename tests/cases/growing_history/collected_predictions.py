# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = predictions, outputs
import numpy as np
import torch
from torch import nn


def r2_score(predictions, targets):
    p, t = torch.cat(predictions), torch.cat(targets)
    return float(1 - (p - t).pow(2).sum() / (t - t.mean()).pow(2).sum())


def train_epoch(net, opt, stream):
    predictions, targets = [], []
    for x, y in stream:
        out = net(x)
        loss = nn.functional.mse_loss(out, y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        predictions.append(out)  # expect: place
        targets.append(y)
    return r2_score(predictions, targets)


torch.manual_seed(3)
rng = np.random.default_rng(3)
net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
for epoch in range(2):
    xs = torch.from_numpy(rng.uniform(-1, 1, size=(12, 16, 2)).astype("float32"))
    stream = [(x, (x[:, :1] * x[:, 1:])) for x in xs]
    print("epoch", epoch, "r2", train_epoch(net, opt, stream))
