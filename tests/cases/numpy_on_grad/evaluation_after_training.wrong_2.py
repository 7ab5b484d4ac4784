"""Train a classifier, then print a confusion matrix."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def make_blobs(n, rng):
    labels = rng.integers(0, 3, size=n)
    centres = np.array([[0, 2], [2, -1], [-2, -1]])
    points = centres[labels] + rng.normal(scale=0.7, size=(n, 2))
    return torch.tensor(points, dtype=torch.float32), torch.tensor(labels)


class Blobs(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 12), nn.Linear(12, 3)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


def confusion(model, x, y):
    torch.set_grad_enabled(False)
    predicted = model(x).softmax(dim=1).numpy()
    table = np.zeros((3, 3), dtype=int)
    np.add.at(table, (y.numpy(), predicted.argmax(axis=1)), 1)
    return table


if __name__ == "__main__":
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    model = Blobs()
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(4):
        x, y = make_blobs(48, rng)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(confusion(model, *make_blobs(30, rng)))
