import torch
from torch import nn


class DelayNet(nn.Module):
    def __init__(self, n_stops, hidden=20, layers=2):
        super().__init__()
        self.rnn = nn.GRU(n_stops, hidden, num_layers=layers, batch_first=True)
        self.head = nn.Linear(hidden, n_stops)
        self.layers, self.hidden = layers, hidden

    def initial(self, batch):
        return torch.zeros(self.layers, batch, self.hidden)

    def forward(self, x, carry):
        out, carry = self.rnn(x, carry)
        return self.head(out.detach()), carry.detach()
