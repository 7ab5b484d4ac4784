# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = log
import torch
from torch import nn


def fit(model, batches, log):
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    ema = None
    for x, y in batches:
        loss = (model(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema = loss if ema is None else 0.9 * ema + 0.1 * loss
        log.append(ema)  # expect: place
    return log


torch.manual_seed(0)
log = fit(nn.Linear(2, 1), [(torch.randn(8, 2), torch.randn(8, 1)) for _ in range(10)], [])
print(log[-1].item())
