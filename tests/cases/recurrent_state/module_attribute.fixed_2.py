import torch
from torch import nn
from torch.nn import functional as F


class SalesForecaster(nn.Module):
    """Keeps its own state so that callers only ever pass the input."""

    def __init__(self, features=3, hidden_dim=24, batch=8):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.gru = nn.GRU(features, hidden_dim)
        self.head = nn.Linear(hidden_dim, 1)
        self.hidden = self.init_hidden(batch)

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.hidden_dim)

    def forward(self, window):
        out, self.hidden = self.gru(window, self.hidden)
        return self.head(out[-1]).squeeze(-1)


def batches(steps=6, batch=8, features=3):
    g = torch.Generator().manual_seed(7)
    for _ in range(steps):
        window = torch.randn(10, batch, features, generator=g)
        yield window, window.mean(dim=(0, 2))


def train():
    torch.manual_seed(3)
    net = SalesForecaster()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step, (window, target) in enumerate(batches()):
        loss = F.mse_loss(net(window), target)
        net.hidden = net.init_hidden(8)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, float(loss))


if __name__ == "__main__":
    train()
