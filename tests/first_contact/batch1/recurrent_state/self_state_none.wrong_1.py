import torch
from torch import nn, optim


class StatefulForecaster(nn.Module):
    """Keeps its GRU state between calls (stateful=True in Keras)."""

    def __init__(self, features, units):
        super().__init__()
        self.gru = nn.GRU(features, units, batch_first=True)
        self.norm = nn.LayerNorm(units)
        self.head = nn.Linear(units, features)
        self.state = None

    def reset_states(self):
        self.state = None

    def forward(self, x):
        out, self.state = self.gru(x, self.state)
        residual = self.head(self.norm(out))
        return x + residual + 0.3 * self.state[-1].mean(dim=-1)[:, None, None]


class EarlyStopping:
    def __init__(self, patience=3):
        self.best, self.bad, self.patience = float("inf"), 0, patience

    def __call__(self, value):
        if value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def windows(series, size):
    for start in range(0, series.size(1) - size, size):
        yield series[:, start:start + size], series[:, start + 1:start + size + 1]


if __name__ == "__main__":
    torch.manual_seed(33)
    t = torch.linspace(0, 20, 81)
    series = torch.stack([torch.sin(t), torch.cos(1.5 * t)], dim=-1).repeat(3, 1, 1)
    series = series + 0.02 * torch.randn_like(series)

    net = StatefulForecaster(features=2, units=10)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    criterion = nn.MSELoss()
    stopper = EarlyStopping()

    for epoch in range(4):
        net.reset_states()
        epoch_loss, n = 0.0, 0
        for x, y in windows(series, size=16):
            net.reset_states()
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
            epoch_loss, n = epoch_loss + loss.item(), n + 1
        print("epoch", epoch, "mse", round(epoch_loss / n, 5))
        if stopper(epoch_loss / n):
            break
