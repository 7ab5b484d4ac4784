"""Four minibatches feed one step, by intent: gradients of an array engine add up between clears."""
import numpy as np


class Var:
    def __init__(self, data, parents=(), back=None):
        self.data = np.asarray(data, dtype=float)
        self.parents, self.back = parents, back
        self.grad = None
        self.done = False

    def __matmul__(self, o):
        return Var(self.data @ o.data, (self, o), lambda g: (g @ o.data.T, self.data.T @ g))

    def __sub__(self, o):
        return Var(self.data - o.data, (self, o), lambda g: (g, -g))

    def mean_square(self):
        return Var((self.data ** 2).mean(), (self,), lambda g: (2 * g * self.data / self.data.size,))

    def __truediv__(self, k):
        return Var(self.data / k, (self,), lambda g: (g / k,))

    def backward(self):
        order, seen = [], set()

        def visit(v):
            if id(v) not in seen:
                seen.add(id(v))
                for p in v.parents:
                    visit(p)
                order.append(v)

        visit(self)
        self.grad = np.ones_like(self.data)
        for v in reversed(order):
            if v.back is None:
                continue
            if v.done:
                raise RuntimeError("this node has been differentiated already")
            v.done = True
            for p, g in zip(v.parents, v.back(v.grad)):
                p.grad = g if p.grad is None else p.grad + g


rng = np.random.default_rng(4)
X = rng.normal(size=(96, 5))
Y = X[:, :2] @ rng.normal(size=(2, 1))
W = Var(rng.normal(size=(5, 1)))
EVERY = 4
for epoch in range(10):
    for n, part in enumerate(np.split(rng.permutation(96), 12)):
        loss = (Var(X[part]) @ W - Var(Y[part])).mean_square() / EVERY
        loss.backward()
        if (n + 1) % EVERY == 0:
            W.data = W.data - 0.1 * W.grad
            W.grad = None
    print(epoch, float(loss.data))
