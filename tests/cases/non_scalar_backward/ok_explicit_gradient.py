# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(8, 3)
    out = net(x)
    with torch.no_grad():
        error = out - x[:, :2]
    opt.zero_grad()
    out.backward(gradient=error / len(x))
    opt.step()
    print(error.pow(2).mean().item())
