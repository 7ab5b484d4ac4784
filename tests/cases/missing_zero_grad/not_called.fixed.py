import torch
from torch import nn

torch.manual_seed(2)


def fit(model, x, y, steps=8):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 3 == 0:
            print(f"step {step:2d} loss {loss.item():.4f}")
    return model


x = torch.linspace(-2, 2, 40).reshape(-1, 1)
fit(nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)), x, x.sin())
