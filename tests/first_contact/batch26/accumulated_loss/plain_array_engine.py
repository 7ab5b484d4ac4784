# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: this graph has already been released
# expect: carrier = running, total
# expect: engine = custom
"""A tape in NumPy, written for a course, and a regression of egg mass on it."""
import numpy as np


class Node:
    """An array that remembers how it came about. backward() lets go of the graph as it walks."""

    def __init__(self, value, parents=(), pull=None, trainable=False):
        self.value = np.asarray(value, dtype=np.float64)
        self.grad = np.zeros_like(self.value)
        self.parents = tuple(parents)
        self.pull = pull
        self.trainable = trainable
        self.released = False

    # ops ---------------------------------------------------------------
    @staticmethod
    def wrap(x):
        return x if isinstance(x, Node) else Node(x)

    def __add__(self, other):
        other = Node.wrap(other)
        return Node(self.value + other.value, (self, other),
                    lambda g: (_fit(g, self.value.shape), _fit(g, other.value.shape)))

    __radd__ = __add__

    def __mul__(self, other):
        other = Node.wrap(other)
        return Node(self.value * other.value, (self, other),
                    lambda g: (_fit(g * other.value, self.value.shape), _fit(g * self.value, other.value.shape)))

    __rmul__ = __mul__

    def __sub__(self, other):
        return self + Node.wrap(other) * -1.0

    def __matmul__(self, other):
        return Node(self.value @ other.value, (self, other),
                    lambda g: (g @ other.value.T, self.value.T @ g))

    def tanh(self):
        t = np.tanh(self.value)
        return Node(t, (self,), lambda g: (g * (1 - t * t),))

    def mean(self):
        n = self.value.size
        return Node(self.value.mean(), (self,), lambda g: (np.full(self.value.shape, g / n),))

    def detach(self):
        return Node(self.value.copy())

    # walking -----------------------------------------------------------
    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) in seen:
                return
            seen.add(id(node))
            if node.released:
                raise RuntimeError("this graph has already been released; build it again before backward()")
            for p in node.parents:
                visit(p)
            order.append(node)

        visit(self)
        self.grad = np.ones_like(self.value)
        for node in reversed(order):
            if node.pull is None:
                continue
            for parent, g in zip(node.parents, node.pull(node.grad)):
                parent.grad = parent.grad + g
            node.released, node.pull, node.parents = True, None, ()


def _fit(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, size in enumerate(shape):
        if size == 1 and g.shape[axis] != 1:
            g = g.sum(axis, keepdims=True)
    return g


def param(rng, *shape):
    return Node(rng.normal(0, 0.4, shape), trainable=True)


rng = np.random.default_rng(8)
length, breadth = rng.normal(size=(2, 128))
X = np.stack([length, breadth], axis=1)
Y = (0.5 * length + 0.9 * breadth + 0.2 * length * breadth)[:, None]

W1, b1 = param(rng, 2, 10), param(rng, 1, 10)
W2, b2 = param(rng, 10, 1), param(rng, 1, 1)
weights = [W1, b1, W2, b2]


def predict(x):
    return (Node(x) @ W1 + b1).tanh() @ W2 + b2


for epoch in range(4):
    running = Node(0.0)
    for start in range(0, len(X), 32):
        x, y = X[start:start + 32], Y[start:start + 32]
        err = predict(x) - y
        loss = (err * err).mean()
        running = running + loss  # expect: place
        for w in weights:
            w.grad = np.zeros_like(w.value)
        running.backward()  # expect: place
        for w in weights:
            w.value = w.value - 0.1 * w.grad
    print("epoch", epoch, "mse", float(running.value) / 4)
