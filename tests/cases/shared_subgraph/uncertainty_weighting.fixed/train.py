import torch

from losses import UncertaintyWeighting
from model import SharedNet

torch.manual_seed(19)
net = SharedNet(in_dim=6, width=18)
weighting = UncertaintyWeighting(["rotation", "translation"])
optimizer = torch.optim.Adam([*net.parameters(), *weighting.parameters()], lr=2e-3)

for step in range(4):
    x = torch.randn(10, 6)
    targets = {"rotation": x[:, :3].sin(), "translation": x[:, 3:]}
    preds = net(x)
    optimizer.zero_grad()
    loss = sum(weighting(name, pred, targets[name]) for name, pred in preds.items())
    loss.backward()
    optimizer.step()
