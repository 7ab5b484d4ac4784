import torch
import torch.nn as nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, g):
        (v,) = ctx.saved_tensors
        return g / (1 + 10 * v.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, beta=0.9, threshold=1.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold
        self.mem = torch.zeros(1)

    def forward(self, current):
        self.mem = self.beta * self.mem + current
        spk = Spike.apply(self.mem - self.threshold)
        self.mem = self.mem - spk * self.threshold
        return spk


class SNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 16), LIF(), nn.Linear(16, 3), LIF())

    def forward(self, x, steps=5):
        return torch.stack([self.layers(x) for _ in range(steps)]).mean(0)


torch.manual_seed(0)
snn = SNN()
optimizer = torch.optim.Adam(snn.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for it in range(8):
    x, y = torch.rand(6, 10), torch.randint(0, 3, (6,))
    for layer in snn.layers:
        if isinstance(layer, LIF):
            layer.mem = layer.mem.detach()
    loss = criterion(snn(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
