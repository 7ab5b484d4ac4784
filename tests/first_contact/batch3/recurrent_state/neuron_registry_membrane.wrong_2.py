# two-layer spiking classifier; neuron types are looked up by name
import torch
import torch.nn as nn

NEURONS = {}


def neuron(name):
    def add(cls):
        NEURONS[name] = cls
        return cls
    return add


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, g):
        (v,) = ctx.saved_tensors
        return g / (1 + 10 * v.abs()) ** 2


class Resettable:
    def reset(self):
        for m in self.modules():
            if hasattr(m, "v"):
                m.v = None


@neuron("lif")
class LIF(nn.Module):
    def __init__(self, size, tau=0.8):
        super().__init__()
        self.threshold = nn.Parameter(torch.ones(size))
        self.tau, self.v = tau, None

    def forward(self, current):
        if self.v is None:
            self.v = torch.zeros_like(current)
        self.v = self.tau * self.v + current
        s = Spike.apply(self.v - self.threshold)
        self.v = self.v - s * self.threshold
        return s


@neuron("li")
class LI(nn.Module):
    def __init__(self, size, tau=0.9):
        super().__init__()
        self.tau, self.v = tau, None

    def forward(self, current):
        self.v = current if self.v is None else self.tau * self.v + current
        return self.v


class SNN(nn.Module, Resettable):
    def __init__(self, spec):
        super().__init__()
        layers = []
        for n_in, n_out, kind in spec:
            layers += [nn.Linear(n_in, n_out), NEURONS[kind](n_out)]
        self.layers = nn.ModuleList(layers)

    def forward(self, spikes):
        for x in spikes:
            for layer in self.layers:
                x = layer(x)
        return x


def poisson(rates, steps):
    return torch.stack([(torch.rand_like(rates) < rates).float() for _ in range(steps)])


torch.manual_seed(9)
net = SNN([(10, 30, "lif"), (30, 3, "li")])
optimizer = torch.optim.Adamax(net.parameters(), lr=5e-3)
prototypes = torch.rand(3, 10)

for epoch in range(2):
    for batch in range(4):
        y = torch.randint(0, 3, (16,))
        out = net(poisson(prototypes[y], steps=12))
        loss = nn.functional.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for m in net.modules():
            if getattr(m, "v", None) is not None:
                m.v = m.v.detach() if isinstance(m, LIF) else None
    print("epoch", epoch, "loss %.3f" % loss.item())
