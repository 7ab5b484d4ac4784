"""SVRG against plain SGD: strength of concrete from its mix, small MLP."""
import copy

import torch
import torch.nn as nn

torch.manual_seed(8)

N, D = 96, 6
X = torch.rand(N, D)
strength = 3 * X[:, :1] - 2 * X[:, 1:2] ** 2 + X[:, 2:3] * X[:, 3:4] + 0.1 * torch.randn(N, 1)

model = nn.Sequential(nn.Linear(D, 16), nn.Tanh(), nn.Linear(16, 1))
snapshot = copy.deepcopy(model)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def clear(net):
    for p in net.parameters():
        if p.grad is not None:
            p.grad.zero_()


def full_gradient(net, batch=32):
    """gradient of the mean loss over the whole set, accumulated chunk by chunk"""
    clear(net)
    for i in range(0, N, batch):
        xb, yb = X[i:i + batch], strength[i:i + batch]
        (criterion(net(xb), yb) * len(xb) / N).backward()
    return [p.grad.clone() for p in net.parameters()]


def variance(rows):
    flat = torch.stack(rows)
    return (flat - flat.mean(0)).pow(2).sum(1).mean().item()


for outer in range(4):
    snapshot.load_state_dict(model.state_dict())
    mu = full_gradient(snapshot)
    perm = torch.randperm(N)
    used = []
    for inner in range(12):
        idx = perm[inner * 8:(inner + 1) * 8]
        xb, yb = X[idx], strength[idx]

        clear(model)
        loss = criterion(model(xb), yb)
        loss.backward()

        clear(snapshot)
        criterion(snapshot(xb), yb).backward()

        with torch.no_grad():
            for p, q, m in zip(model.parameters(), snapshot.parameters(), mu):
                p.grad += m - q.grad
        used.append(torch.cat([p.grad.reshape(-1) for p in model.parameters()]))
        optimizer.step()

    with torch.no_grad():
        full = criterion(model(X), strength).item()
    print(f"outer {outer}  loss {full:.4f}  variance of the update {variance(used):.5f}")
