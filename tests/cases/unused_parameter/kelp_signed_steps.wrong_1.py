


"""Kelp growth from light and nutrients. Steps follow the sign of each gradient, with decay."""
import torch
from torch import nn

torch.manual_seed(5)
light, nitrate = torch.rand(40, 3), torch.rand(40, 2)
growth = (light.sum(1) * nitrate.sum(1) + 0.1 * torch.randn(40)).unsqueeze(1)

sunlit = nn.Sequential(nn.Linear(3, 10), nn.Tanh())
fed = nn.Sequential(nn.Linear(2, 10), nn.Tanh())
blade = nn.Linear(10, 1)
weights = [*sunlit.parameters(), *fed.parameters(), *blade.parameters()]
sgd = torch.optim.SGD(weights, lr=2e-3, momentum=0.9, weight_decay=0.01)

for day in range(30):
    tissue = sunlit(light)
    if day % 3 == 2:
        tissue = tissue + fed(nitrate)
    error = (blade(tissue) - growth).pow(2).mean()
    directions = torch.autograd.grad(error, weights, materialize_grads=True)
    for weight, direction in zip(weights, directions):
        weight.grad = direction.sign()
    sgd.step()
    if day % 10 == 9:
        print(day, f"{error.item():.4f}")
