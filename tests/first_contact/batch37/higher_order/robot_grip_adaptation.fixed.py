"""Learn a start from which a gripper's slip model adapts to a new object within two steps.

Every object has several query bags (dry, wet, dusty). Second order.
"""
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn, optim


class Learner(nn.Module):
    """Functional net: parameters in a list, `vars` can be given from outside."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.vars = nn.ParameterList()
        for kind, *shape in config:
            if kind == "linear":
                n_out, n_in = shape
                w = nn.Parameter(torch.ones(n_out, n_in))
                nn.init.kaiming_normal_(w)
                self.vars.append(w)
                self.vars.append(nn.Parameter(torch.zeros(n_out)))

    def forward(self, x, vars=None):
        if vars is None:
            vars = self.vars
        idx = 0
        for kind, *_ in self.config:
            if kind == "linear":
                x = F.linear(x, vars[idx], vars[idx + 1])
                idx += 2
            elif kind == "tanh":
                x = torch.tanh(x)
        assert idx == len(vars)
        return x


class Objects:
    conditions = ("dry", "wet", "dusty")

    def draw(self, k=12):
        mass, rough = torch.rand(2)
        bags = OrderedDict()
        for name, shift in zip(("support", *self.conditions), (0.0, 0.0, -0.3, 0.2)):
            force = 3 * torch.rand(k, 2)
            slip = torch.sigmoid(4 * (1 + mass - (0.5 + rough + shift) * force[:, :1] - 0.2 * force[:, 1:]))
            bags[name] = (force, slip)
        return bags


class Meta(nn.Module):
    def __init__(self, config, update_lr=0.2, meta_lr=3e-3, task_num=4, update_step=2):
        super().__init__()
        self.update_lr = update_lr
        self.task_num = task_num
        self.update_step = update_step
        self.net = Learner(config)
        self.meta_optim = optim.Adam(self.net.parameters(), lr=meta_lr)

    def adapt(self, x, y):
        fast_weights = list(self.net.parameters())
        for _ in range(self.update_step):
            loss = F.mse_loss(self.net(x, fast_weights), y)
            grads = torch.autograd.grad(loss, fast_weights, create_graph=True)
            fast_weights = [p - self.update_lr * g for p, g in zip(fast_weights, grads)]
        return fast_weights

    def forward(self, objects):
        self.meta_optim.zero_grad()
        shown = {name: 0.0 for name in Objects.conditions}
        for _ in range(self.task_num):
            bags = objects.draw()
            fast_weights = self.adapt(*bags.pop("support"))
            total = 0.0
            for name, (x, y) in bags.items():
                loss_q = F.mse_loss(self.net(x, fast_weights), y) / (self.task_num * len(bags))
                total = total + loss_q
                shown[name] += loss_q.item()
            total.backward()
        self.meta_optim.step()
        return shown


if __name__ == "__main__":
    torch.manual_seed(222)
    meta = Meta([("linear", 24, 2), ("tanh",), ("linear", 24, 24), ("tanh",), ("linear", 1, 24)])
    objects = Objects()
    for step in range(8):
        shown = meta(objects)
        print(step, {k: round(v, 4) for k, v in shown.items()})
