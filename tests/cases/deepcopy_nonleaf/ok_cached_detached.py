# expect: pattern = none
# expect: raises = nothing
import copy
import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.seen = None

    def forward(self, x):
        out = torch.tanh(self.layer(x))
        self.seen = out.detach()
        return out


torch.manual_seed(2)
net = nn.Sequential(Probe(nn.Linear(3, 6)), Probe(nn.Linear(6, 1)))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
snapshots = []
for epoch in range(4):
    x = torch.randn(20, 3)
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    snapshots.append(copy.deepcopy(net))
print([round(s[0].seen.mean().item(), 4) for s in snapshots])
