from collections import namedtuple
import torch
from torch import nn

Config = namedtuple("Config", "features hidden lr epochs")
cfg = Config(features=6, hidden=12, lr=0.05, epochs=4)
torch.manual_seed(19)


class MonotoneNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(cfg.features, cfg.hidden), nn.Linear(cfg.hidden, 1)])

    def forward(self, x):
        return self.layers[1](torch.tanh(self.layers[0](x)))

    def constrain(self):
        for layer in self.layers:
            with torch.no_grad():
                layer.weight.clamp_(min=0)


net = MonotoneNet(cfg)
sgd = torch.optim.SGD(net.parameters(), lr=cfg.lr)
X = torch.rand(50, cfg.features)
y = X.sum(1, keepdim=True).sqrt()
for epoch in range(cfg.epochs):
    sgd.zero_grad()
    loss = (net(X) - y).abs().mean()
    loss.backward()
    sgd.step()
    net.constrain()
    print(epoch, loss.item())
