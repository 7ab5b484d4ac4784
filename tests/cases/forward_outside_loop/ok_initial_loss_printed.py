import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
loss = nn.functional.mse_loss(model(x), y)
print("before:", loss.item())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("after:", nn.functional.mse_loss(model(x), y).item())
