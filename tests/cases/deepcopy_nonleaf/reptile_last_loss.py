# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user
# expect: carrier = self.net.last_loss, last_loss
import copy
import torch
from torch import nn


class MetaLearner:
    """Reptile with a working copy of the network that keeps its last loss for the scheduler."""

    def __init__(self, net, outer=0.5, inner=0.05, k=3):
        self.net, self.outer, self.inner, self.k = net, outer, inner, k

    def adapt(self, x, y):
        fast = copy.deepcopy(self.net)  # expect: place
        opt = torch.optim.SGD(fast.parameters(), lr=self.inner)
        for _ in range(self.k):
            loss = (fast(x) - y).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        self.net.last_loss = loss  # expect: place
        return fast

    def step(self, tasks):
        for x, y in tasks:
            fast = self.adapt(x, y)
            with torch.no_grad():
                for p, q in zip(self.net.parameters(), fast.parameters()):
                    p.add_(self.outer * (q - p))


torch.manual_seed(0)
meta = MetaLearner(nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1)))
for it in range(2):
    tasks = []
    for _ in range(2):
        a = torch.rand(()) * 3
        x = torch.rand(10, 1) * 4 - 2
        tasks.append((x, torch.sin(a * x)))
    meta.step(tasks)
    print(it, meta.net.last_loss.item())
