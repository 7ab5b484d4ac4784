import copy

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    """Additive attention pooling; attention heads are pushed to look at different steps."""

    def __init__(self, dim, units, heads, reg=0.1):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(dim, units), nn.Tanh(), nn.Linear(units, heads))
        self.reg = reg
        self.attention = None
        self.penalty = None

    def forward(self, x):
        weights = self.score(x).softmax(dim=1).transpose(1, 2)
        self.attention = weights.detach()
        gram = weights @ weights.transpose(1, 2)
        self.penalty = self.reg * (gram - torch.eye(gram.size(-1))).pow(2).sum((1, 2)).mean().detach()
        return (weights @ x).flatten(1)


class SeriesClassifier(nn.Module):
    def __init__(self, channels, n_classes, dim=12, heads=2):
        super().__init__()
        self.encoder = nn.GRU(channels, dim, batch_first=True)
        self.pool = SelfAttention(dim, 8, heads)
        self.out = nn.Linear(dim * heads, n_classes)

    def forward(self, x):
        states, _ = self.encoder(x)
        return self.out(self.pool(states))


def toy_series(n, steps=20):
    x = 0.3 * torch.randn(n, steps, 2)
    y = torch.randint(0, 3, (n,))
    for i in range(n):
        at = torch.randint(2, steps - 4, ()).item()
        x[i, at : at + 3, 0] += [1.5, -1.5, 0.0][y[i]]
        x[i, at : at + 3, 1] += [0.0, 0.0, 1.5][y[i]]
    return x, y


def fit(model, x, y, epochs=6, batch=30):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    ce = nn.CrossEntropyLoss()
    best_loss, best_model = float("inf"), None
    for epoch in range(epochs):
        running = 0.0
        for idx in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            loss = ce(model(x[idx]), y[idx]) + model.pool.penalty
            loss.backward()
            optimizer.step()
            running += loss.item() * len(idx)
        running /= len(x)
        print(f"epoch {epoch} loss {running:.4f}")
        if running < best_loss:
            best_loss = running
            best_model = copy.deepcopy(model)
    return best_model


torch.manual_seed(7)
x, y = toy_series(120)
best = fit(SeriesClassifier(2, 3), x, y)
with torch.no_grad():
    print("accuracy", (best(x).argmax(1) == y).float().mean().item())
    print("focus of the first series", best.pool.attention[0].argmax(-1).tolist())
