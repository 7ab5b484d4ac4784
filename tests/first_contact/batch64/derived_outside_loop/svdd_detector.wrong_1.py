"""One-class detector with a scikit-like interface (fit / decision_function / predict)."""
import numpy as np
import torch
from torch import nn


class HypersphereDetector:
    """Soft hypersphere around the embedding of normal pump telemetry."""

    def __init__(self, hidden=(24, 8), epochs=4, batch_size=32, lr=2e-3,
                 l2=0.05, contamination=0.05, random_state=0):
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.l2 = l2
        self.contamination = contamination
        self.random_state = random_state

    def _build(self, n_features):
        layers, width = [], n_features
        for h in self.hidden:
            layers += [nn.Linear(width, h, bias=False), nn.LeakyReLU(0.1)]
            width = h
        return nn.Sequential(*layers[:-1])

    def _init_center(self, x, eps=0.1):
        with torch.no_grad():
            c = self.net_(x).mean(0)
        # a coordinate at zero would be too easy to reach
        c[(c.abs() < eps) & (c < 0)] = -eps
        c[(c.abs() < eps) & (c >= 0)] = eps
        return c

    def fit(self, X):
        torch.manual_seed(self.random_state)
        self.mean_, self.std_ = X.mean(0), X.std(0) + 1e-8
        x = torch.tensor((X - self.mean_) / self.std_, dtype=torch.float32)

        self.net_ = self._build(x.shape[1])
        self.center_ = self._init_center(x)
        optimizer = torch.optim.Adam(self.net_.parameters(), lr=self.lr)

        weight_norm = self.l2 * sum(torch.linalg.norm(w) for w in self.net_.parameters()).detach()
        self.history_ = []
        for epoch in range(self.epochs):
            running = 0.0
            for rows in torch.randperm(len(x)).split(self.batch_size):
                optimizer.zero_grad()
                z = self.net_(x[rows])
                dist = ((z - self.center_) ** 2).sum(dim=1)
                loss = dist.mean() + weight_norm
                loss.backward()
                optimizer.step()
                running += loss.item() * len(rows)
            self.history_.append(running / len(x))

        scores = self.decision_function(X)
        self.threshold_ = np.quantile(scores, 1 - self.contamination)
        return self

    def decision_function(self, X):
        x = torch.tensor((X - self.mean_) / self.std_, dtype=torch.float32)
        with torch.no_grad():
            return ((self.net_(x) - self.center_) ** 2).sum(dim=1).numpy()

    def predict(self, X):
        return (self.decision_function(X) > self.threshold_).astype(int)


def make_telemetry(n, rng, shift=0.0):
    load = rng.normal(size=(n, 2))
    mix = np.array([[1.0, 0.4, -0.3, 0.8, 0.1, 0.6], [0.2, -1.0, 0.7, 0.3, 0.9, -0.5]])
    return load @ mix + 0.1 * rng.normal(size=(n, 6)) + shift


if __name__ == "__main__":
    rng = np.random.default_rng(7)
    normal = make_telemetry(160, rng)
    leak = make_telemetry(20, rng, shift=2.5)
    det = HypersphereDetector().fit(normal)
    print("loss per epoch", [round(v, 4) for v in det.history_])
    print("flagged", det.predict(leak).mean(), "of leaks,", det.predict(normal).mean(), "of normal")
