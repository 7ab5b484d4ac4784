# A learned initial state is a parameter: every batch starts a graph of its own from it.
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Parameter(torch.zeros(1, 1, 8))
        self.cell = nn.GRU(3, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        hidden = self.hidden.expand(-1, x.size(1), -1).contiguous()
        _, hidden = self.cell(x, hidden)
        return self.head(hidden[-1])


torch.manual_seed(0)
encoder = Encoder()
opt = torch.optim.Adam(encoder.parameters(), lr=1e-2)
for _ in range(4):
    x = torch.randn(5, 6, 3)
    loss = (encoder(x) - x.sum((0, 2)).unsqueeze(1)).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
