# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
params = list(net.parameters())
x = torch.randn(30, 3)
loss = (net(x) - x.norm(dim=1, keepdim=True)).pow(2).mean()
grads = torch.autograd.grad(loss, params, create_graph=True)
v = [torch.randn_like(p) for p in params]
for it in range(8):
    norm = torch.sqrt(sum((u * u).sum() for u in v))
    v = [u / norm for u in v]
    dot = sum((g * u).sum() for g, u in zip(grads, v))
    hv = torch.autograd.grad(dot, params, retain_graph=True)
    eigenvalue = sum((h * u).sum() for h, u in zip(hv, v)).item()
    v = [h.detach() for h in hv]
print("largest curvature", eigenvalue)
