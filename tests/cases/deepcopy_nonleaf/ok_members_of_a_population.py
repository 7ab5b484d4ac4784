# expect: pattern = none
# expect: raises = nothing
import copy
import torch
from torch import nn


class Member:
    def __init__(self, net, lr):
        self.net, self.lr = net, lr
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr)
        self.score = None

    def train(self, x, y, steps=3):
        for _ in range(steps):
            loss = nn.functional.mse_loss(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.score = loss.detach()

    def mutated(self):
        child = copy.deepcopy(self)
        child.lr = self.lr * 1.2
        for group in child.optimizer.param_groups:
            group["lr"] = child.lr
        return child


torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
members = [Member(nn.Linear(3, 1), lr) for lr in (0.01, 0.05, 0.1)]
for generation in range(3):
    for member in members:
        member.train(x, y)
    members.sort(key=lambda m: m.score)
    members[-1] = members[0].mutated()
    print(generation, [round(float(m.score), 4) for m in members[:2]])
