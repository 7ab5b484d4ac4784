import torch
from torch.func import functional_call


def squared(net, weights, x, y):
    return (functional_call(net, weights, (x,)) - y).pow(2).mean()


class Adapter:
    """A few steps of gradient descent from the shared start, with a learned rate for each tensor."""

    def __init__(self, net, steps=2, rate=0.1):
        self.net, self.steps = net, steps
        self.rates = {name: torch.nn.Parameter(torch.tensor(rate)) for name, _ in net.named_parameters()}

    def tune(self, x, y):
        weights = dict(self.net.named_parameters())
        for _ in range(self.steps):
            loss = squared(self.net, weights, x, y)
            slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)  # expect: place
            weights = {name: w - self.rates[name] * slope  # expect: place
                       for (name, w), slope in zip(weights.items(), slopes)}
        return weights
