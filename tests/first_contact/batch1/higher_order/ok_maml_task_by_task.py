"""MAML; every task adapts from the initial weights anew and walks its own graph."""
import math
import random

import torch
import torch.nn.functional as F


class MAML:
    def __init__(self, hidden=24, inner_lr=0.05, meta_lr=5e-3):
        def leaf(*shape):
            return (torch.randn(*shape) / math.sqrt(shape[-1])).requires_grad_()
        self.params = [leaf(hidden, 1), torch.zeros(hidden, requires_grad=True),
                       leaf(1, hidden), torch.zeros(1, requires_grad=True)]
        self.inner_lr = inner_lr
        self.opt = torch.optim.Adam(self.params, lr=meta_lr)

    @staticmethod
    def net(params, x):
        w1, b1, w2, b2 = params
        return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)

    def adapt(self, x, y):
        params = self.params
        for _ in range(2):
            loss = F.mse_loss(self.net(params, x), y)
            grads = torch.autograd.grad(loss, params, create_graph=True)
            params = [p - self.inner_lr * g for p, g in zip(params, grads)]
        return params

    def outer_step(self, tasks):
        self.opt.zero_grad()
        total = 0.0
        for (xs, ys), (xq, yq) in tasks:
            query = F.mse_loss(self.net(self.adapt(xs, ys), xq), yq) / len(tasks)
            query.backward()
            total += query.item()
        self.opt.step()
        return total


def line_task():
    slope, bias = random.uniform(1, 2), random.uniform(0, 1)
    draw = lambda: (lambda x: (x, slope * x + bias))(torch.rand(10, 1) * 2 - 1)
    return draw(), draw()


random.seed(1)
torch.manual_seed(1)
learner = MAML()
curve = [learner.outer_step([line_task() for _ in range(4)]) for _ in range(30)]
print("query loss: first %.3f, last %.3f" % (curve[0], curve[-1]))
