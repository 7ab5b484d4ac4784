# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = self.opt
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.net = nn.Linear(5, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.opt.step()  # expect: place
        return loss.item()

    def run(self, n):
        for i in range(n):
            x = torch.randn(10, 5)
            print(i, self.step(x, x.sum(1, keepdim=True)))


torch.manual_seed(0)
Trainer().run(6)
