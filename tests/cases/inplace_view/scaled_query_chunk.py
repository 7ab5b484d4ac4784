# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 0 of Split is a view and is being modified inplace. This view is the output of 
# expect: carrier = q
import torch
from torch import nn

torch.manual_seed(0)
proj = nn.Linear(4, 12)
opt = torch.optim.SGD(proj.parameters(), lr=0.1)


def heads(x):
    q, k, v = proj(x).chunk(3, dim=-1)
    q *= 0.5  # expect: place
    return q, k, v


def batches(n):
    for _ in range(n):
        yield torch.randn(7, 4)


for x in batches(3):
    q, k, v = heads(x)
    out = (q @ k.t()).softmax(-1) @ v
    opt.zero_grad()
    out.square().mean().backward()
    opt.step()
