



"""River level from rain, on a small reverse-mode engine over NumPy arrays (no framework)."""
import numpy as np


class Node:
    def __init__(self, data, parents=(), pull=None):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self.parents = parents
        self.pull = pull
        self.unwound = False

    def _lift(self, other):
        return other if isinstance(other, Node) else Node(other)

    def _give(self, g):
        while g.ndim > self.data.ndim:
            g = g.sum(axis=0)
        for axis, n in enumerate(self.data.shape):
            if n == 1 and g.shape[axis] != 1:
                g = g.sum(axis=axis, keepdims=True)
        self.grad = self.grad + g

    def __add__(self, other):
        other = self._lift(other)

        def pull(g):
            self._give(g)
            other._give(g)

        return Node(self.data + other.data, (self, other), pull)

    def __mul__(self, other):
        other = self._lift(other)

        def pull(g):
            self._give(g * other.data)
            other._give(g * self.data)

        return Node(self.data * other.data, (self, other), pull)

    def __sub__(self, other):
        return self + self._lift(other) * -1.0

    def __matmul__(self, other):
        def pull(g):
            self._give(g @ other.data.T)
            other._give(self.data.T @ g)

        return Node(self.data @ other.data, (self, other), pull)

    def tanh(self):
        t = np.tanh(self.data)
        return Node(t, (self,), lambda g: self._give(g * (1 - t * t)))

    def mean(self):
        n = self.data.size
        return Node(self.data.mean(), (self,), lambda g: self._give(np.full(self.data.shape, g / n)))

    def backward(self, keep=False):
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
            if node.pull is None:
                continue
            if node.unwound:
                raise RuntimeError("this node was already unwound (keep=True keeps it for another pass)")
            node.pull(node.grad)
            node.unwound = not keep


class Gauge:
    """Two-layer net from the last rain readings to the level at the gauge."""

    def __init__(self, rng, lags, hidden):
        self.w_in = Node(rng.normal(0, 0.5, (lags, hidden)))
        self.b_in = Node(np.zeros((1, hidden)))
        self.w_out = Node(rng.normal(0, 0.5, (hidden, 1)))

    def parameters(self):
        return [self.w_in, self.b_in, self.w_out]

    def __call__(self, rain):
        return (Node(rain) @ self.w_in + self.b_in).tanh() @ self.w_out


def weeks(rng, n, lags):
    for _ in range(n):
        rain = rng.gamma(1.5, 0.4, (7, lags))
        yield rain, rain @ np.linspace(0.6, 0.1, lags)[:, None]


rng = np.random.default_rng(8)
gauge = Gauge(rng, lags=5, hidden=6)
LR = 0.05

for year in range(3):
    season = 0.0
    n_weeks = 0
    for rain, level in weeks(rng, 12, lags=5):
        error = gauge(rain) - level
        loss = (error * error).mean()
        season += float(loss.data)
        n_weeks += 1
        for p in gauge.parameters():
            p.grad = np.zeros_like(p.data)
        loss.backward()
        for p in gauge.parameters():
            p.data = p.data - LR * p.grad
    print(f"year {year}: mse {season / n_weeks:.4f}")
