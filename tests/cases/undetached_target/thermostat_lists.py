# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = strain
"""A beam is fitted under a bound on its strain; the multiplier of the bound climbs by its own steps."""

import torch


class Fit:
    def __init__(self):
        self.stiffness = torch.full((6,), 1.0, requires_grad=True)
        self.multiplier = torch.tensor(0.3, requires_grad=True)
        self.down = torch.optim.SGD([self.stiffness], lr=0.05)
        self.up = torch.optim.SGD([self.multiplier], lr=0.05, maximize=True)
        self.curves = [[], []]

    def follow(self, optimizer, value):
        optimizer.zero_grad()
        value.backward()  # expect: place
        optimizer.step()
        return [value.item()]

    def iterate(self, load):
        bend = load / self.stiffness.exp()
        strain = bend.pow(2).sum()  # expect: place
        weight = self.multiplier.detach()
        self.curves[0] += self.follow(self.down, self.stiffness.sum() + weight * (strain - 1.0))
        self.curves[1] += self.follow(self.up, self.multiplier * (strain - 1.0))  # expect: place


if __name__ == "__main__":
    torch.manual_seed(2)
    fit = Fit()
    for load in torch.rand(8, 6):
        fit.iterate(load)
    print([round(curve[-1], 4) for curve in fit.curves])
