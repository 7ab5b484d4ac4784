# expect: pattern = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.mem, mem
# Leaky integrate-and-fire classifier with a surrogate gradient.
import torch
import torch.nn as nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 10 * v.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, beta=0.9, threshold=1.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold
        self.mem = None

    def reset(self):
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.beta * self.mem + current  # expect: place
        spk = Spike.apply(self.mem - self.threshold)
        self.mem = self.mem - spk * self.threshold  # expect: place
        return spk


class SpikingNet(nn.Module):
    def __init__(self, steps=10):
        super().__init__()
        self.fc1, self.lif1 = nn.Linear(12, 16), LIF()
        self.fc2, self.lif2 = nn.Linear(16, 3), LIF()
        self.steps = steps

    def forward(self, x):
        counts = 0
        for _ in range(self.steps):
            counts = counts + self.lif2(self.fc2(self.lif1(self.fc1(x))))  # expect: place
        return counts / self.steps


torch.manual_seed(5)
net = SpikingNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
ce = nn.CrossEntropyLoss()
for step in range(4):
    x = torch.rand(16, 12) * 3
    y = x.view(16, 3, 4).sum(-1).argmax(-1)
    opt.zero_grad()
    loss = ce(net(x), y)
    loss.backward()  # expect: place
    opt.step()
