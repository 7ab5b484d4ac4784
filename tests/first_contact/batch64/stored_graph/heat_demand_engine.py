# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: add: backward() already went through here and dropped its inputs
# expect: carrier = running
# expect: engine = custom
"""A small array autograd written for the course, used to forecast district heat demand."""
import numpy as np


class Arr:
    def __init__(self, data, op="leaf", parents=(), vjp=None):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = None
        self.op, self.parents, self.vjp = op, parents, vjp

    def detach(self):
        return Arr(self.data)

    @staticmethod
    def lift(x):
        return x if isinstance(x, Arr) else Arr(x)

    def __add__(self, other):
        other = Arr.lift(other)
        return Arr(self.data + other.data, "add", (self, other), lambda g: (g, g))

    def __mul__(self, other):
        other = Arr.lift(other)
        a, b = self.data, other.data
        return Arr(a * b, "mul", (self, other), lambda g: (g * b, g * a))

    def __matmul__(self, other):
        a, b = self.data, other.data
        return Arr(a @ b, "matmul", (self, other), lambda g: (g @ b.T, a.T @ g))

    def __sub__(self, other):
        return self + Arr.lift(other) * -1.0

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        y = np.tanh(self.data)
        return Arr(y, "tanh", (self,), lambda g: (g * (1 - y * y),))

    def mean(self, axis=None):
        n = self.data.size if axis is None else self.data.shape[axis]
        return Arr(self.data.mean(axis), "mean", (self,), lambda g: (np.ones_like(self.data) * g / n,))

    def backward(self, keep=False):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((p, False) for p in node.parents)
        self.grad = np.ones_like(self.data)
        for node in reversed(order):
            if not node.parents:
                continue
            if node.vjp is None:
                raise RuntimeError(f"{node.op}: backward() already went through here and dropped its inputs")
            for parent, g in zip(node.parents, node.vjp(node.grad)):
                parent.accumulate(g)
            if not keep:
                node.vjp, node.grad = None, None

    def accumulate(self, g):
        while g.ndim > self.data.ndim:
            g = g.sum(0)
        self.grad = g if self.grad is None else self.grad + g


class Linear:
    def __init__(self, n_in, n_out, rng):
        self.w = Arr(rng.normal(0, n_in ** -0.5, (n_in, n_out)))
        self.b = Arr(np.zeros(n_out))
        self.params = [self.w, self.b]

    def __call__(self, x):
        return x @ self.w + self.b


class Centre:
    """Subtracts a running mean of what comes in, a poor man's batch norm."""

    def __init__(self, width, momentum=0.2):
        self.running = Arr(np.zeros(width))
        self.momentum = momentum
        self.params = []

    def __call__(self, h):
        m = self.momentum
        self.running = self.running * (1 - m) + h.mean(0) * m  # expect: place
        return h - self.running  # expect: place


class Tanh:
    params = []

    def __call__(self, h):
        return h.tanh()


def batches(rng, n, size=32):
    for _ in range(n):
        outside = rng.normal(4, 6, size)
        hour = rng.integers(0, 24, size)
        wind = rng.gamma(2.0, 2.0, size)
        demand = np.clip(18 - outside, 0, None) * (1 + 0.03 * wind) + 4 * np.exp(-((hour - 7) / 2.0) ** 2)
        x = np.stack([outside / 10, np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), wind / 5], 1)
        yield Arr(x), Arr(demand[:, None] / 10)


rng = np.random.default_rng(31)
layers = [Linear(4, 24, rng), Centre(24), Tanh(), Linear(24, 1, rng)]
params = [p for layer in layers for p in layer.params]

for step, (x, y) in enumerate(batches(rng, 120)):
    out = x
    for layer in layers:
        out = layer(out)  # expect: place
    err = out - y
    loss = (err * err).mean()
    for p in params:
        p.grad = None
    loss.backward()  # expect: place
    for p in params:
        p.data = p.data - 0.05 * p.grad
    if step % 40 == 39:
        print(step + 1, round(float(loss.data), 4))
