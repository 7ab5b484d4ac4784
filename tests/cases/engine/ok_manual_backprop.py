# No engine at all: a two-layer network with its backward pass written out.
import numpy as np

rng = np.random.default_rng(0)
W1, W2 = rng.normal(size=(3, 8)) * 0.5, rng.normal(size=(8, 1)) * 0.5


def forward(x):
    hidden = np.maximum(x @ W1, 0)
    return hidden, hidden @ W2


def backward(x, hidden, delta):
    return x.T @ ((delta @ W2.T) * (hidden > 0)), hidden.T @ delta


for step in range(10):
    x = rng.normal(size=(16, 3))
    hidden, y = forward(x)
    delta = 2 * (y - x.sum(1, keepdims=True)) / len(x)
    g1, g2 = backward(x, hidden, delta)
    W1, W2 = W1 - 0.05 * g1, W2 - 0.05 * g2
