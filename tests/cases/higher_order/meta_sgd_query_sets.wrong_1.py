# Meta-SGD: learned rates for each weight; every query set of a task gets its own backward.
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class MetaSGD(nn.Module):
    def __init__(self, net, lr=0.05):
        super().__init__()
        self.net = net
        self.rates = nn.ParameterDict(
            {n.replace(".", "_"): nn.Parameter(torch.full_like(p, lr)) for n, p in net.named_parameters()}
        )

    def adapt(self, x, y):
        weights = OrderedDict(self.net.named_parameters())
        loss = F.mse_loss(functional_call(self.net, weights, (x,)), y)
        grads = torch.autograd.grad(loss, list(weights.values()), create_graph=False)
        return OrderedDict(
            (name, w - self.rates[name.replace(".", "_")] * g)
            for (name, w), g in zip(weights.items(), grads)
        )

    def query_loss(self, fast, x, y):
        return F.mse_loss(functional_call(self.net, fast, (x,)), y)


def sinusoid(n=10):
    amplitude, phase = 1 + torch.rand(()), 3 * torch.rand(())
    def sample():
        x = 4 * torch.rand(n, 1) - 2
        return x, amplitude * torch.sin(x + phase)
    return sample


def meta_step(learner, optimizer, tasks=2, queries=2):
    optimizer.zero_grad()
    losses = []
    for _ in range(tasks):
        sample = sinusoid()
        fast = learner.adapt(*sample())
        for _ in range(queries):
            loss = learner.query_loss(fast, *sample()) / (tasks * queries)
            loss.backward()
            losses.append(loss.item())
    optimizer.step()
    return sum(losses)


torch.manual_seed(19)
learner = MetaSGD(nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1)))
optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
for it in range(3):
    print(it, meta_step(learner, optimizer))
