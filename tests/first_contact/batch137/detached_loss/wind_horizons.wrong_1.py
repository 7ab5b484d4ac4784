


"""Probabilistic wind-power forecasts for several horizons, trained with the pinball loss."""
import torch
import torch.nn as nn

HORIZONS = (1, 3, 6, 12)
QUANTILES = (0.1, 0.5, 0.9)


class HorizonHead(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, len(QUANTILES)))

    def forward(self, features):
        return self.net(features)


class WindModel(nn.Module):
    def __init__(self, lags, width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(lags, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleList([HorizonHead(width) for _ in HORIZONS])

    def forward(self, x):
        features = self.trunk(x)
        return [head(features) for head in self.heads]


def pinball(prediction, target):
    total = 0.0
    for k, q in enumerate(QUANTILES):
        diff = target - prediction[:, k]
        total = total + torch.maximum(q * diff, (q - 1) * diff).mean()
    return total / len(QUANTILES)


class MultiHorizonLoss(nn.Module):
    """Weights the near horizons more than the far ones."""

    def __init__(self, decay=0.8):
        super().__init__()
        weights = torch.tensor([decay ** i for i in range(len(HORIZONS))])
        self.register_buffer("weights", weights / weights.sum())

    def forward(self, predictions, targets):
        losses = []
        for i, prediction in enumerate(predictions):
            losses.append(pinball(prediction, targets[:, i]))
        per_horizon = torch.tensor(losses, requires_grad=True)
        return (self.weights * per_horizon).sum(), per_horizon


def make_data(lags, count):
    t = torch.arange(count + lags + max(HORIZONS)).float()
    power = 0.5 + 0.3 * torch.sin(t / 9) + 0.1 * torch.sin(t / 2.3) + 0.05 * torch.randn(len(t))
    x = torch.stack([power[i:i + lags] for i in range(count)])
    y = torch.stack([power[[i + lags + h - 1 for h in HORIZONS]] for i in range(count)])
    return x, y


def fit(model, criterion, x, y, epochs=3, batch_size=32):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(batch_size):
            optimizer.zero_grad()
            loss, per_horizon = criterion(model(x[rows]), y[rows])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        report = ", ".join(f"{h}h {v:.3f}" for h, v in zip(HORIZONS, per_horizon.tolist()))
        print(f"epoch {epoch}: {report}")


def main():
    torch.manual_seed(21)
    x, y = make_data(lags=16, count=128)
    fit(WindModel(16), MultiHorizonLoss(), x, y)


if __name__ == "__main__":
    main()
