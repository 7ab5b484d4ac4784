import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(25, 3)
y = x.sum(1, keepdim=True).tanh()
model = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for _ in range(3):
    print(optimizer.step(closure).item())
