from collections import OrderedDict

import torch
from torch import nn, optim

config = {"hidden": [24, 12], "lr": 3e-3}


def build(n_in, n_out, cfg):
    layers = OrderedDict()
    for i, width in enumerate(cfg["hidden"]):
        layers[f"fc{i}"] = nn.Linear(n_in, width)
        layers[f"act{i}"] = nn.Sigmoid()
        n_in = width
    layers["out"] = nn.Linear(n_in, n_out)
    return nn.Sequential(layers)


torch.manual_seed(18)
net = build(9, 2, config)
opt = optim.Adam(net.parameters(), lr=config["lr"])
for epoch in range(4):
    x = torch.randn(32, 9)
    y = (x[:, :2].sum(1) > 0).long()
    loss = nn.CrossEntropyLoss()(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, loss.item())
