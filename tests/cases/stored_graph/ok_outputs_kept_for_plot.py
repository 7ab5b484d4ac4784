# Predictions are kept for a plot, without their graphs.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
snapshots = []
for epoch in range(5):
    x = torch.randn(20, 2)
    y_hat = model(x)
    loss = (y_hat.squeeze() - x[:, 0] * x[:, 1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    snapshots.append(y_hat.detach())
spread = [float(s.max() - s.min()) for s in snapshots]
print(spread)
