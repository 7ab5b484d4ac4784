# expect: pattern = step-between-backwards
# expect: also = stored-graph, recurrent-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified
# expect: carrier = best, best["out"], anchor, best["prediction"], best["logits"]
# Predictions on a probe set may not drift far from the best ones so far.
import math

import torch
import torch.nn.functional as F
from torch import nn


def train(model, data, probe, steps, strength=0.5):
    opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    best = {"loss": math.inf, "logits": None}
    for step in range(steps):
        x, y = data[step % len(data)]
        logits = model(probe)
        loss = F.cross_entropy(model(x), y)
        if best["logits"] is not None:
            drift = F.kl_div(logits.log_softmax(1), best["logits"].softmax(1), reduction="batchmean")  # expect: place
            loss = loss + strength * drift
        opt.zero_grad()
        loss.backward()  # expect: place
        opt.step()  # expect: place
        if loss.item() < best["loss"]:
            best["loss"], best["logits"] = loss.item(), logits  # expect: place
    return best["loss"]


torch.manual_seed(0)
x = torch.randn(40, 5)
data = list(zip(x.split(10), x[:, :3].argmax(1).split(10)))
net = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 3))
print(train(net, data, torch.randn(6, 5), steps=6))
