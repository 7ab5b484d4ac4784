# expect: pattern = none
# expect: raises = nothing
# The first passes only try the scale of a loss, with a leaf of their own; training comes after.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(32, 4)
slopes = []
for _ in range(3):
    probe = torch.tensor([model(x).pow(2).mean().item()], requires_grad=True)
    probe.pow(2).sum().backward()
    optimizer.step()
    slopes.append(probe.grad.item())
for _ in range(5):
    optimizer.zero_grad()
    losses = [(model(row) - row[:1]).pow(2).sum() for row in x]
    torch.stack(losses).mean().backward()
    optimizer.step()
print(slopes)
