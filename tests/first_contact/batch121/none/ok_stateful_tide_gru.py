"""Stateful GRU forecasting of tide levels; the state runs on from chunk to chunk."""
import torch
import torch.nn as nn


class TideForecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.hidden_size = hidden
        self.cell = nn.GRUCell(1, hidden)
        self.readout = nn.Linear(hidden, 1)
        self.state = None
        self.register_buffer("running_mean", torch.zeros(1))

    def begin_stream(self, batch):
        self.state = torch.zeros(batch, self.hidden_size)

    def truncate(self):
        self.state = self.state.detach()

    def forward(self, chunk):
        steps, batch = chunk.shape
        if self.training:
            self.running_mean.mul_(0.99).add_(0.01 * chunk.mean())
        out = torch.zeros(steps, batch)
        for t in range(steps):
            x = (chunk[t] - self.running_mean).unsqueeze(1)
            self.state = self.cell(x, self.state)
            out[t] = self.readout(self.state).squeeze(1)
        out += self.running_mean
        return out


def tides(n_stations, length, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length).float().unsqueeze(1)
    moon = torch.sin(2 * torch.pi * t / 12.4 + 6.28 * torch.rand(n_stations, generator=g))
    sun = 0.4 * torch.sin(2 * torch.pi * t / 12.0 + 6.28 * torch.rand(n_stations, generator=g))
    return 1.5 + moon + sun + 0.05 * torch.randn(length, n_stations, generator=g)


def train_stream(model, series, optimizer, chunk=12):
    losses = []
    model.train()
    model.begin_stream(series.shape[1])
    for start in range(0, series.shape[0] - chunk, chunk):
        model.truncate()
        inputs = series[start:start + chunk]
        targets = series[start + 1:start + chunk + 1]
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()


@torch.no_grad()
def evaluate(model, series):
    model.eval()
    model.begin_stream(series.shape[1])
    pred = model(series[:-1])
    return (pred[20:] - series[21:]).abs().mean().item()


def main():
    torch.manual_seed(4)
    train_series, test_series = tides(8, 129, 1), tides(4, 80, 2)
    model = TideForecaster()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    best, best_weights = float("inf"), None
    for epoch in range(3):
        loss = train_stream(model, train_series, optimizer)
        error = evaluate(model, test_series)
        if error < best:
            best = error
            best_weights = {k: v.clone() for k, v in model.state_dict().items()}
        print(f"epoch {epoch}  loss {loss:.4f}  test mae {error:.4f}")
    model.load_state_dict(best_weights)


main()
