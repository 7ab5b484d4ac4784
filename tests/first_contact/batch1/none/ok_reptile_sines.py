import copy
import numpy as np
import torch
import torch.nn as nn

rng = np.random.RandomState(2)
torch.manual_seed(2)

net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))


def sample_task():
    amp, shift = rng.uniform(0.8, 1.2), rng.uniform(-0.3, 0.3)
    x = rng.uniform(-3, 3, size=(20, 1))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(amp * np.sin(x + shift), dtype=torch.float32)


def inner_loop(model, x, y, k=5, lr=0.05):
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(k):
        loss = (model(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


outer_lr = 0.5
losses = []
for it in range(40):
    before = copy.deepcopy(net.state_dict())
    losses.append(inner_loop(net, *sample_task()))
    after = net.state_dict()
    net.load_state_dict({k: before[k] + outer_lr * (after[k] - before[k]) for k in before})

print("inner loss, first five tasks %.3f, last five %.3f" % (np.mean(losses[:5]), np.mean(losses[-5:])))
