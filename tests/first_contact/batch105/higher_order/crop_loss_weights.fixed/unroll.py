"""Inner training of the multi-task net as a function of the auxiliary losses' weights."""
import torch
from torch import nn
from torch.func import functional_call


class CropNet(nn.Module):
    def __init__(self, inputs, outputs, width=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.heads = nn.Linear(width, outputs)

    def forward(self, x):
        return self.heads(self.body(x))


def per_task(net, params, x, y):
    """Mean squared error of each column."""
    return (functional_call(net, params, (x,)) - y).pow(2).mean(0)


def weighted(losses, weights):
    return losses[0] + (weights * losses[1:]).sum()


def inner_steps(net, params, weights, batches, lr):
    """SGD from `params`; what is returned is differentiable in `weights`."""
    fast = dict(params)
    for x, y in batches:
        loss = weighted(per_task(net, fast, x, y), weights)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = {name: p - lr * g for (name, p), g in zip(fast.items(), grads)}
    return fast
