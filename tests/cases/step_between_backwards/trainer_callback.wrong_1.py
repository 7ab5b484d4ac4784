"""Small trainer with callbacks; one of them trains an uncertainty head on the fly."""
from dataclasses import dataclass, field

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.Tanh())
        self.mean = nn.Linear(24, 1)
        self.logvar = nn.Linear(24, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.logvar(h)


class CalibrateVariance:
    def __init__(self, net):
        self.opt = torch.optim.SGD(net.logvar.parameters(), lr=0.01)

    def on_loss_computed(self, trainer, x, y):
        mean, logvar = trainer.net(x)
        nll = (logvar + (y - mean.detach()) ** 2 / logvar.exp()).mean()
        self.opt.zero_grad()
        nll.backward()
        self.opt.step()


@dataclass
class Trainer:
    net: Net
    callbacks: list = field(default_factory=list)

    def fit(self, batches):
        opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        for x, y in batches:
            mean, logvar = self.net(x)
            loss = ((y - mean) ** 2 / logvar.exp().detach() + logvar.detach()).mean()
            for cb in self.callbacks:
                cb.on_loss_computed(self, x, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            print(f"loss {loss.item():.4f}")


torch.manual_seed(11)
net = Net()
data = []
for _ in range(4):
    x = torch.randn(32, 6)
    data.append((x, x.sum(1, keepdim=True) + 0.1 * torch.randn(32, 1)))
Trainer(net, [CalibrateVariance(net)]).fit(data)
