# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-3)
for outer in range(3):
    amplitude = torch.rand(1) + 0.5
    x = torch.rand(10, 1) * 4 - 2
    fast = dict(net.named_parameters())
    for inner in range(2):
        support = (functional_call(net, fast, x) - amplitude * x.sin()).pow(2).mean()
        grads = torch.autograd.grad(support, list(fast.values()), create_graph=True)
        fast = {name: p - 0.1 * g for (name, p), g in zip(fast.items(), grads)}
    query = torch.rand(10, 1) * 4 - 2
    loss = (functional_call(net, fast, query) - amplitude * query.sin()).pow(2).mean()
    meta.zero_grad()
    loss.backward()
    meta.step()
    print(outer, loss.item())
