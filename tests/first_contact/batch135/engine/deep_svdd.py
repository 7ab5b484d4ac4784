# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Cannot backpropagate more than once
# expect: carrier = center
# expect: engine = custom
"""One-class anomaly detection (Deep SVDD) on pump vibrations, on my own little autograd."""

from dataclasses import dataclass

import numpy as np


class Tensor:
    """An array that remembers how it was computed. Graphs are released after one backward."""

    def __init__(self, data, parents=(), backward_fn=None):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.parents = parents
        self.backward_fn = backward_fn
        self.released = False

    def __add__(self, other):
        other = as_tensor(other)
        return Tensor(self.data + other.data, (self, other), lambda g: (g, g))

    def __sub__(self, other):
        return self + as_tensor(other) * -1.0

    def __mul__(self, other):
        other = as_tensor(other)
        a, b = self.data, other.data
        return Tensor(a * b, (self, other), lambda g: (g * b, g * a))

    __rmul__ = __mul__

    def __matmul__(self, other):
        a, b = self.data.copy(), other.data.copy()
        return Tensor(a @ b, (self, other), lambda g: (g @ b.T, a.T @ g))

    def tanh(self):
        out = np.tanh(self.data)
        return Tensor(out, (self,), lambda g: (g * (1.0 - out**2),))

    def mean(self, axis=None):
        shape = self.data.shape
        out = self.data.mean(axis=axis)
        share = out.size / self.data.size
        return Tensor(out, (self,), lambda g: (np.broadcast_to(g, shape) * share,))

    def detach(self):
        return Tensor(self.data.copy())

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = np.ones_like(self.data)
        for node in reversed(order):
            if node.released:
                raise RuntimeError("Cannot backpropagate more than once through the same graph")
            if node.backward_fn is None:
                continue
            for parent, grad in zip(node.parents, node.backward_fn(node.grad)):
                parent.grad = parent.grad + unbroadcast(grad, parent.data.shape)
            node.backward_fn, node.released = None, True


def as_tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    return grad


@dataclass
class Config:
    features: int = 8
    hidden: int = 16
    embedding: int = 4
    lr: float = 0.05
    momentum: float = 0.9
    steps: int = 12


class Encoder:
    def __init__(self, cfg, rng):
        self.w1 = Tensor(rng.normal(0, 0.4, (cfg.features, cfg.hidden)))
        self.w2 = Tensor(rng.normal(0, 0.4, (cfg.hidden, cfg.embedding)))

    def __call__(self, x):
        return (as_tensor(x) @ self.w1).tanh() @ self.w2

    def parameters(self):
        return [self.w1, self.w2]


class SVDD:
    def __init__(self, cfg, rng):
        self.cfg = cfg
        self.encoder = Encoder(cfg, rng)
        self.center = Tensor(np.full(cfg.embedding, 0.5))

    def fit_batch(self, x):
        z = self.encoder(x)
        offset = z - self.center  # expect: place
        loss = (offset * offset).mean()
        for p in self.encoder.parameters():
            p.grad = np.zeros_like(p.data)
        loss.backward()  # expect: place
        for p in self.encoder.parameters():
            p.data = p.data - self.cfg.lr * p.grad
        m = self.cfg.momentum
        self.center = m * self.center + (1 - m) * z.mean(axis=0)  # expect: place
        return float(loss.data)


def main():
    cfg = Config()
    rng = np.random.default_rng(0)
    model = SVDD(cfg, rng)
    for step in range(cfg.steps):
        batch = rng.normal(0, 1, (32, cfg.features)) * np.linspace(0.5, 1.5, cfg.features)
        loss = model.fit_batch(batch)
        print(f"step {step:2d}  mean distance {loss:.4f}")


if __name__ == "__main__":
    main()
