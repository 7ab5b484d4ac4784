"""Homework 3: write your own autograd on numpy, then train an MLP with it.

Data: does the dough proof in time? (temperature, flour, salt, yeast) -> rise after 2 h
"""
import numpy as np

rng = np.random.default_rng(42)


class Node:
    """An array that remembers the function that made it. The graph is used up by backward (saves memory)."""

    def __init__(self, value, parents=(), vjp=None, trainable=False):
        self.value = np.asarray(value, dtype=np.float64)
        self.parents = parents
        self.vjp = vjp
        self.trainable = trainable
        self.grad = np.zeros_like(self.value) if trainable else None
        self.consumed = False

    def __matmul__(self, other):
        a, b = self.value, other.value
        return Node(a @ b, (self, other), lambda g: (g @ b.T, a.T @ g))

    def __add__(self, other):
        shape = other.value.shape

        def vjp(g):
            extra = g.ndim - len(shape)
            return g, g.sum(axis=tuple(range(extra))) if extra else g
        return Node(self.value + other.value, (self, other), vjp)

    def __sub__(self, other):
        return Node(self.value - other.value, (self, other), lambda g: (g, -g))

    def square(self):
        a = self.value
        return Node(a ** 2, (self,), lambda g: (2 * a * g,))

    def tanh(self):
        t = np.tanh(self.value)
        return Node(t, (self,), lambda g: (g * (1 - t ** 2),))

    def mean(self):
        shape, n = self.value.shape, self.value.size
        return Node(self.value.mean(), (self,), lambda g: (np.full(shape, g / n),))

    def scale(self, c):
        return Node(self.value * c, (self,), lambda g: (g * c,))

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) in seen:
                return
            seen.add(id(node))
            for parent in node.parents:
                visit(parent)
            order.append(node)
        visit(self)
        upstream = {id(self): np.ones_like(self.value)}
        for node in reversed(order):
            g = upstream.pop(id(node))
            if node.consumed:
                raise RuntimeError("this graph has already been consumed, run the forward pass again")
            if node.trainable:
                node.grad += g
            if node.vjp is None:
                continue
            for parent, pg in zip(node.parents, node.vjp(g)):
                upstream[id(parent)] = upstream.get(id(parent), 0.0) + pg
            node.consumed, node.vjp = True, None


class MLP:
    def __init__(self, sizes):
        self.layers = []
        for i, o in zip(sizes[:-1], sizes[1:]):
            self.layers.append((Node(rng.normal(0, 1 / np.sqrt(i), (i, o)), trainable=True),
                                Node(np.zeros(o), trainable=True)))

    def __call__(self, x):
        h = Node(x)
        for k, (w, b) in enumerate(self.layers):
            h = h @ w + b
            if k < len(self.layers) - 1:
                h = h.tanh()
        return h

    def params(self):
        return [p for layer in self.layers for p in layer]


def sgd(params, lr):
    for p in params:
        p.value -= lr * p.grad
        p.grad[...] = 0


def dough(n):
    x = rng.normal(size=(n, 4))
    y = np.tanh(x @ np.array([[0.9], [0.2], [-0.5], [0.7]])) + 0.05 * rng.normal(size=(n, 1))
    return x, y


net = MLP([4, 12, 1])
X, Y = dough(160)
for epoch in range(5):
    epoch_loss = 0.0
    perm = rng.permutation(len(X))
    for start in range(0, len(X), 16):
        idx = perm[start:start + 16]
        batch_loss = (net(X[idx]) - Node(Y[idx])).square().mean()
        epoch_loss += float(batch_loss.value)
        batch_loss.backward()
        sgd(net.params(), lr=0.1)
    print(f"epoch {epoch}: {epoch_loss * 16 / len(X):.4f}")
