# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)
net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    out = net(torch.randn(10, 6))
    out[:, 0] += 1.0
    out[:, 1:3].mul_(0.5)
    first = out[0]
    first -= first.mean().detach()
    loss = out.logsumexp(dim=1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
