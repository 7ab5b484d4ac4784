# Power iteration on the Hessian: many products from one graph, retained until the last.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
params = list(model.parameters())
x = torch.randn(20, 3)
loss = (model(x).squeeze(1) - x.prod(1)).pow(2).mean()
grads = torch.autograd.grad(loss, params, create_graph=True)
v = [torch.randn_like(p) for p in params]
iterations = 6
for i in range(iterations):
    norm = torch.sqrt(sum((part**2).sum() for part in v))
    v = [part / norm for part in v]
    dot = sum((g * part).sum() for g, part in zip(grads, v))
    hv = torch.autograd.grad(dot, params, retain_graph=i < iterations - 1)
    eigenvalue = sum((a * b).sum() for a, b in zip(hv, v)).item()
    v = [part.detach() for part in hv]
print("largest eigenvalue", eigenvalue)
