# expect: pattern = inplace-state
# expect: also = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = self.mem, mem
import torch
from torch import nn


class LIF(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.decay = nn.Parameter(torch.full((n,), 2.0))
        self.slope = nn.Parameter(torch.tensor(4.0))
        self.threshold = 1.0

    def reset(self, batch, n):
        self.mem = torch.zeros(batch, n)

    def forward(self, current):
        self.mem.mul_(torch.sigmoid(self.decay))  # expect: place
        self.mem += current  # expect: place
        return torch.sigmoid(self.slope * self.mem - self.threshold)  # expect: place


class SpikingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(10, 24), nn.Linear(24, 4)
        self.lif = LIF(24)

    def forward(self, frames):
        self.lif.reset(frames.size(1), 24)
        out = 0
        for frame in frames:
            out = out + self.fc2(self.lif(self.fc1(frame)))
        return out / len(frames)


torch.manual_seed(20)
net = SpikingNet()
optimizer = torch.optim.Adamax(net.parameters(), lr=2e-3)
for step in range(4):
    frames = (torch.rand(6, 12, 10) < 0.4).float()
    labels = frames.sum((0, 2)).long() % 4
    loss = nn.functional.cross_entropy(net(frames), labels)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print(step, loss.item())
