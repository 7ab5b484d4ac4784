# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


def importance_step(model, optimizer, x, y, weights):
    """Each row's loss is walked with a weight of its own."""
    rows = nn.functional.cross_entropy(model(x), y, reduction="none")
    optimizer.zero_grad()
    rows.backward(weights / weights.sum())
    optimizer.step()
    return rows.detach()


torch.manual_seed(0)
model = nn.Linear(5, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
x, y = torch.randn(20, 5), torch.randint(0, 4, (20,))
weights = torch.ones(20)
for step in range(5):
    rows = importance_step(model, optimizer, x, y, weights)
    weights = (weights * torch.exp(0.1 * rows)).clamp(max=5.0)
    print(step, rows.mean().item())
