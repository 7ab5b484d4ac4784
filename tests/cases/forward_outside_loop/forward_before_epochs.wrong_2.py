import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 40).view(-1, 1)
y = torch.sin(x)
model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
loss_fn = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)

y_pred = model(x)

for epoch in range(5):
    loss = loss_fn(y_pred.detach().requires_grad_(), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
