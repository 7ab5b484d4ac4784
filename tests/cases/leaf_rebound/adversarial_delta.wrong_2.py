import torch
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()


def attack(model, x, y, radius=0.3, step=0.1, n_iter=4):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(n_iter):
        loss = loss_fn(model(x + delta), y)
        loss.backward()
        with torch.no_grad():
            delta += step * delta.grad.sign()
            delta.clamp_(-radius, radius)
    return (x + delta).detach()


for it in range(4):
    x = torch.randn(16, 12)
    y = x[:, :3].argmax(1)
    x_adv = attack(model, x, y)
    opt.zero_grad()
    loss = loss_fn(model(x_adv), y)
    loss.backward()
    opt.step()
    print(it, loss.item())
