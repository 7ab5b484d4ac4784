import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(3, 6), nn.Sigmoid(), nn.Linear(6, 1))
x = torch.randn(5, 3)
losses = net(x).squeeze(1).pow(2)
squared = [torch.zeros_like(p) for p in net.parameters()]
for i, loss in enumerate(losses):
    net.zero_grad()
    loss.backward(retain_graph=i < len(losses) - 1)
    for total, p in zip(squared, net.parameters()):
        total += p.grad.pow(2)
fisher = [total / len(x) for total in squared]
print([f.mean().item() for f in fisher])
