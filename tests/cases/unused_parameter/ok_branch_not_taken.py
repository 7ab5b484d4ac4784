# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class EarlyExit(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(5, 5), nn.Linear(5, 5)
        self.exit1, self.exit2 = nn.Linear(5, 2), nn.Linear(5, 2)

    def forward(self, x, depth):
        h = torch.relu(self.first(x))
        return self.exit1(h) if depth == 1 else self.exit2(torch.relu(self.second(h)))


torch.manual_seed(2)
net = EarlyExit()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(6):
    x = torch.randn(10, 5)
    loss = nn.functional.cross_entropy(net(x, depth=1 + step % 2), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    print(step, sum(p.grad is None for p in net.parameters()))
