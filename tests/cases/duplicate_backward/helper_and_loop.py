# expect: pattern = duplicate-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = loss
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.MSELoss()


def compute_loss(x, y):
    loss = criterion(model(x).squeeze(1), y)
    loss.backward()  # expect: place
    return loss


for epoch in range(3):
    x = torch.randn(16, 10)
    y = x.sum(1)
    optimizer.zero_grad()
    loss = compute_loss(x, y)
    loss.backward()  # expect: place
    optimizer.step()
