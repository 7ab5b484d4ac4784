# A plateau detector remembers the last loss, and its ratio weighs the regulariser.
import torch
from torch import nn


class PlateauMonitor:
    __slots__ = ("last",)

    def __init__(self):
        self.last = None

    def ratio(self, loss):
        previous, self.last = self.last, loss
        return 1.0 if previous is None else previous / (loss.detach() + 1e-8)


class Fit:
    def __init__(self, net, monitor, lr=1e-2):
        self.net, self.monitor = net, monitor
        self.opt = torch.optim.SGD(net.parameters(), lr=lr)

    def __call__(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        penalty = sum(p.pow(2).sum() for p in self.net.parameters())
        objective = loss + 1e-3 * self.monitor.ratio(loss) * penalty
        self.opt.zero_grad()
        objective.backward(retain_graph=True)
        self.opt.step()
        return objective.item()


torch.manual_seed(0)
fit = Fit(nn.Sequential(nn.Linear(3, 9), nn.Tanh(), nn.Linear(9, 1)), PlateauMonitor())
for i in range(6):
    x = torch.randn(10, 3)
    print(i, fit(x, x.sum(1, keepdim=True)))
