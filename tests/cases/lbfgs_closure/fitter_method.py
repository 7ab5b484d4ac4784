# expect: pattern = lbfgs-closure
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.loss, loss, pred
import torch
from torch import nn


class Fitter:
    def __init__(self, net, x, y):
        self.net, self.x, self.y = net, x, y
        self.opt = torch.optim.LBFGS(net.parameters(), max_iter=5)
        self.loss = None

    def closure(self):
        self.opt.zero_grad()
        self.loss.backward()  # expect: place
        return self.loss

    def fit(self, rounds):
        for _ in range(rounds):
            pred = self.net(self.x)  # expect: place
            self.loss = nn.functional.mse_loss(pred, self.y)  # expect: place
            self.opt.step(self.closure)  # expect: place
            print(self.loss.item())


torch.manual_seed(0)
Fitter(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), torch.randn(20, 2), torch.randn(20, 1)).fit(3)
