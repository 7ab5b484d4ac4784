# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(20)


class LeakyNeurons(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.decay = nn.Parameter(torch.full((n,), 2.0))

    def forward(self, currents):
        mem = torch.zeros_like(currents[0])
        spikes = []
        for current in currents:
            mem.mul_(torch.sigmoid(self.decay))
            mem += current
            spikes.append(torch.sigmoid(8 * (mem - 1.0)))
        return torch.stack(spikes)


fc, neurons = nn.Linear(10, 4), LeakyNeurons(4)
optimizer = torch.optim.Adamax([*fc.parameters(), *neurons.parameters()], lr=2e-3)
for step in range(4):
    frames = (torch.rand(6, 12, 10) < 0.4).float()
    rates = neurons(fc(frames)).mean(0)
    loss = nn.functional.cross_entropy(rates, frames.sum((0, 2)).long() % 4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
