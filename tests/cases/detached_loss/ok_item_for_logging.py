# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
log = {"loss": [], "grad": []}
for step in range(6):
    x = torch.randn(20, 4)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    log["grad"].append(torch.tensor([p.grad.norm().item() for p in net.parameters()]).norm().item())
    opt.step()
    log["loss"].append(loss.item())
    with torch.no_grad():
        accuracy = (net(x).round() == x.sum(1, keepdim=True).round()).float().mean()
print(log["loss"][-1], log["grad"][-1], accuracy.item())
