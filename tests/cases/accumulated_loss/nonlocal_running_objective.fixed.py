# A training loop made of closures; the objective is a running mean over all batches so far.
import torch
from torch import nn


def build(model, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    objective, batches = None, 0

    def update(loss):
        nonlocal objective, batches
        batches += 1
        objective = loss if objective is None else objective.detach() + (loss - objective.detach()) / batches
        optimizer.zero_grad()
        objective.backward()
        optimizer.step()
        return objective

    return update


def epochs(model, update, data, count):
    for epoch in range(count):
        for x, y in data:
            value = update(nn.functional.poisson_nll_loss(model(x), y))
        yield epoch, value.item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 1))
x = torch.rand(30, 3)
y = torch.poisson(3 * x.sum(1, keepdim=True))
data = list(zip(x.chunk(3), y.chunk(3)))
for epoch, value in epochs(model, build(model, 1e-2), data, 2):
    print(epoch, value)
