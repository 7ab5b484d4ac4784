"""Soundings of a river bed, streamed by a generator that is sent each new batch (memory with a gate)."""
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.write, self.gate, self.read = nn.Linear(d_in, d), nn.Linear(d_in, d), nn.Linear(d, 1)
        self.d = d

    def stream(self):
        memory = torch.zeros(1, self.d)
        depth = None
        while True:
            x = yield depth
            for row in x:
                g = torch.sigmoid(self.gate(row))
                memory = g * memory + (1 - g) * torch.tanh(self.write(row))
            depth = self.read(memory)


torch.manual_seed(2)
cell = Cell(3, 10)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
river = cell.stream()
next(river)
for boat in range(6):
    pings = torch.randn(5, 3)
    guess = river.send(pings)
    loss = (guess - pings[:, 0].mean()).pow(2).squeeze()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print(boat, loss.item())
