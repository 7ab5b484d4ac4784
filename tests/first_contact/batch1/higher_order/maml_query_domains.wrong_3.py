import random
from collections import OrderedDict

import numpy as np
import torch
import torch.nn.functional as F
from torch.func import functional_call


class SineNet(torch.nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.l1 = torch.nn.Linear(1, hidden)
        self.l2 = torch.nn.Linear(hidden, hidden)
        self.l3 = torch.nn.Linear(hidden, 1)

    def forward(self, x):
        return self.l3(torch.tanh(self.l2(torch.tanh(self.l1(x)))))


class SineTask:
    """One amplitude and phase; query points come from three stretches of the axis."""

    def __init__(self):
        self.amp, self.phase = random.uniform(0.5, 2.0), random.uniform(0, np.pi)

    def draw(self, lo, hi, n):
        x = np.random.uniform(lo, hi, size=(n, 1))
        y = self.amp * np.sin(x + self.phase)
        return torch.from_numpy(x).float(), torch.from_numpy(y).float()

    def support(self):
        return self.draw(-3, 3, 8)

    def queries(self):
        return [self.draw(lo, lo + 2, 8) for lo in (-3, -1, 1)]


class MetaLearner:
    def __init__(self, net, inner_lr=0.05, inner_steps=2, outer_lr=5e-3):
        self.net, self.inner_lr, self.inner_steps = net, inner_lr, inner_steps
        self.optim = torch.optim.Adam(net.parameters(), lr=outer_lr)

    def adapt(self, x, y):
        fast = OrderedDict(self.net.named_parameters())
        for _ in range(self.inner_steps):
            loss = F.mse_loss(functional_call(self.net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = OrderedDict((n, w - self.inner_lr * g) for (n, w), g in zip(fast.items(), grads))
        return fast

    def meta_step(self, tasks):
        self.optim.zero_grad()
        total = 0.0
        for task in tasks:
            fast = self.adapt(*task.support())
            queries = task.queries()
            for x, y in queries:
                loss = F.mse_loss(functional_call(self.net, fast, (x,)), y) / (len(queries) * len(tasks))
                total += loss.item()
            loss.backward()
        self.optim.step()
        return total


def main():
    random.seed(10)
    np.random.seed(10)
    torch.manual_seed(10)
    meta = MetaLearner(SineNet())
    for it in range(5):
        print("meta-iteration %d: query loss %.4f" % (it, meta.meta_step([SineTask() for _ in range(3)])))


main()
