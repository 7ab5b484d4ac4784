# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(20, 4)
    opt.zero_grad()
    model(x).relu().mean().backward()
    first = [p.grad for p in model.parameters()]
    opt.zero_grad()
    (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    second = [p.grad for p in model.parameters()]
    for p, a, b in zip(model.parameters(), first, second):
        p.grad = 0.5 * a + b
    opt.step()
    print(step, sum((a * b).sum().item() for a, b in zip(first, second)))
