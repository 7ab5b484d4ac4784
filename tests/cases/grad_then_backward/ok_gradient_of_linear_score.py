# expect: pattern = none
# The attribution walks a sum of products that saves nothing a second walk would miss: a forward
# of its own, made for the gradient alone.
import torch
from torch import nn


def attribution(model, x, target):
    probe = x.clone().requires_grad_()
    score = model(probe).gather(1, target.unsqueeze(1)).sum()
    return torch.autograd.grad(score, probe)[0].abs()


def training_loss(model, x, y, keep):
    relevance = attribution(model, x, y)
    chosen = relevance >= relevance.quantile(1 - keep, dim=1, keepdim=True)
    return nn.functional.cross_entropy(model(x * chosen), y)


torch.manual_seed(5)
model = nn.Sequential(nn.Linear(10, 20), nn.GELU(), nn.Linear(20, 3))
optimizer = torch.optim.RAdam(model.parameters(), lr=5e-3)
for step in range(5):
    x, y = torch.randn(18, 10), torch.randint(0, 3, (18,))
    loss = training_loss(model, x, y, keep=0.5)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
