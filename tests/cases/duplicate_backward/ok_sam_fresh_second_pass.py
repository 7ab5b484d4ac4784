# expect: pattern = none
# Two backwards in each step, each of a loss of its own: sharpness-aware minimisation done right.
import torch
import torch.nn as nn


def ascend(params, rho):
    norm = torch.stack([p.grad.norm() for p in params]).norm() + 1e-12
    moves = [rho * p.grad / norm for p in params]
    with torch.no_grad():
        for p, move in zip(params, moves):
            p.add_(move)
    return moves


def descend(params, moves):
    with torch.no_grad():
        for p, move in zip(params, moves):
            p.sub_(move)


def sam_step(model, optimizer, criterion, x, y, rho=0.05):
    params = list(model.parameters())
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    moves = ascend(params, rho)
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    descend(params, moves)
    optimizer.step()
    return loss.item()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for i in range(5):
    x = torch.randn(20, 6)
    print(i, sam_step(net, sgd, nn.CrossEntropyLoss(), x, (x.sum(1) > 0).long()))
