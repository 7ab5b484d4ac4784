# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = mem, self.mem, snn
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
        self.mem = self.beta * self.mem + current  # expect: place
        spk = Spike.apply(self.mem - self.threshold)
        self.mem = self.mem - spk * self.threshold  # expect: place
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
    loss = criterion(snn(x), y)  # expect: place
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
