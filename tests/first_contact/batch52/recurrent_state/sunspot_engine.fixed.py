



"""One-step-ahead forecast of a (simulated) sunspot series with an Elman network.

No framework allowed in this course, so autograd.py of week 2 is pasted at the top.
"""
import numpy as np

rng = np.random.default_rng(1755)


class Tensor:
    def __init__(self, data, parents=(), pull=None):
        self.data = np.asarray(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self.parents = parents
        self.pull = pull  # output gradient -> one gradient per parent
        self.used = False

    def __add__(self, other):
        return Tensor(self.data + other.data, (self, other), lambda g: (g, _fit(g, other.data.shape)))

    def __sub__(self, other):
        return Tensor(self.data - other.data, (self, other), lambda g: (g, -_fit(g, other.data.shape)))

    def __matmul__(self, other):
        return Tensor(self.data @ other.data, (self, other), lambda g: (g @ other.data.T, self.data.T @ g))

    def tanh(self):
        out = np.tanh(self.data)
        return Tensor(out, (self,), lambda g: (g * (1 - out**2),))

    def mean_square(self):
        n = self.data.size
        return Tensor((self.data**2).mean(), (self,), lambda g: (2 * g * self.data / n,))

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) in seen:
                return
            seen.add(id(node))
            if node.used:
                raise RuntimeError("this part of the tape was already used for a backward pass")
            for parent in node.parents:
                visit(parent)
            order.append(node)

        visit(self)
        self.grad = np.ones_like(self.data)
        for node in reversed(order):
            if node.pull is None:
                continue
            for parent, g in zip(node.parents, node.pull(node.grad)):
                parent.grad = parent.grad + g
            node.used = True


def _fit(g, shape):
    """sums a gradient over the axis that was broadcast"""
    return g if g.shape == shape else g.sum(0, keepdims=True)


class Elman:
    def __init__(self, hidden):
        s = 1 / np.sqrt(hidden)
        self.wx = Tensor(rng.normal(size=(1, hidden)))
        self.wh = Tensor(s * 0.7 * rng.normal(size=(hidden, hidden)))
        self.bias = Tensor(np.zeros((1, hidden)))
        self.wo = Tensor(s * rng.normal(size=(hidden, 1)))

    def parameters(self):
        return [self.wx, self.wh, self.bias, self.wo]

    def __call__(self, x, h):
        h = (x @ self.wx + h @ self.wh + self.bias).tanh()
        return h @ self.wo, h


def sunspots(stations=4, months=330):
    t = np.arange(months)
    cycle = np.abs(np.sin(np.pi * t / 66)) ** 1.5 * (1 + 0.3 * np.sin(2 * np.pi * t / 300))
    return cycle + 0.08 * rng.normal(size=(stations, months)) - 0.6


def clip(parameters, limit=1.0):
    norm = np.sqrt(sum((p.grad**2).sum() for p in parameters))
    return min(1.0, limit / (norm + 1e-12))


series = sunspots()
net = Elman(hidden=10)
window, rate = 22, 0.02

for epoch in range(4):
    h = Tensor(np.zeros((len(series), 10)))
    losses = []
    for start in range(0, series.shape[1] - window, window):
        for p in net.parameters():
            p.grad = np.zeros_like(p.data)
        total = Tensor(0.0)
        h = Tensor(h.data)  # the history ends at the window's start
        for t in range(start, start + window):
            guess, h = net(Tensor(series[:, t : t + 1]), h)
            error = (guess - Tensor(series[:, t + 1 : t + 2])).mean_square()
            total = total + error
        total.backward()
        scale = clip(net.parameters())
        for p in net.parameters():
            p.data -= rate * scale * p.grad
        losses.append(float(total.data) / window)
    print("epoch", epoch, "mse", np.round(np.mean(losses), 4))
