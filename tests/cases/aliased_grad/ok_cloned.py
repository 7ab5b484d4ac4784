# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Linear(5, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
previous = None
for step in range(5):
    x = torch.randn(16, 5)
    opt.zero_grad(set_to_none=False)
    (net(x) - x[:, :2]).pow(2).mean().backward()
    flat = torch.cat([p.grad.flatten() for p in net.parameters()])
    if previous is not None:
        print(step, torch.cosine_similarity(flat, previous, dim=0).item())
    previous = flat
    stash = [p.grad.clone() for p in net.parameters()]
    net.zero_grad(set_to_none=False)
    net(x).abs().mean().backward()
    for p, g in zip(net.parameters(), stash):
        p.grad = g + 0.01 * p.grad
    opt.step()
