# expect: pattern = recurrent-state
# expect: raises = RuntimeError: graph segment was already consumed
# expect: carrier = h
# expect: engine = custom
"""numpy tensor engine with a topological sort; released nodes refuse to run again."""
import numpy as np


class Node:
    __slots__ = ("value", "grad", "inputs", "vjp", "released", "name")

    def __init__(self, value, inputs=(), vjp=None, name=""):
        self.value = np.asarray(value, dtype=np.float64)
        self.grad = np.zeros_like(self.value)
        self.inputs, self.vjp, self.released, self.name = tuple(inputs), vjp, False, name

    def __matmul__(self, o):
        return Node(self.value @ o.value, (self, o), lambda g: (g @ o.value.T, self.value.T @ g))

    def __add__(self, o):
        def vjp(g):
            go = g if o.value.shape == g.shape else g.sum(0)
            return g, go
        return Node(self.value + o.value, (self, o), vjp)

    def tanh(self):
        t = np.tanh(self.value)
        return Node(t, (self,), lambda g: (g * (1 - t * t),))

    def mse(self, y):
        d = self.value - y
        return Node((d ** 2).mean(), (self,), lambda g: (g * 2 * d / d.size,))

    def stop(self):
        return Node(self.value.copy())

    def backward(self):
        order, seen = [], set()

        def visit(n):
            if id(n) in seen:
                return
            seen.add(id(n))
            for i in n.inputs:
                visit(i)
            order.append(n)

        visit(self)
        self.grad = np.ones_like(self.value)
        for n in reversed(order):
            if n.vjp is None:
                continue
            if n.released:
                raise RuntimeError("graph segment was already consumed by a previous backward()")
            for i, g in zip(n.inputs, n.vjp(n.grad)):
                i.grad = i.grad + g
            n.released = True


class RNN:
    def __init__(self, d, h, rng):
        self.wx = Node(rng.normal(0, 0.3, (d, h)))
        self.wh = Node(rng.normal(0, 0.3, (h, h)))
        self.b = Node(np.zeros(h))
        self.wo = Node(rng.normal(0, 0.3, (h, 1)))

    def params(self):
        return [self.wx, self.wh, self.b, self.wo]

    def step(self, x, h):
        return (Node(x) @ self.wx + h @ self.wh + self.b).tanh()


def train(epochs=2, segments=4, k=3):
    rng = np.random.default_rng(0)
    net = RNN(2, 5, rng)
    for epoch in range(epochs):
        h = Node(np.zeros((4, 5)))
        for s in range(segments):
            for p in net.params():
                p.grad = np.zeros_like(p.value)
            for t in range(k):
                h = net.step(rng.normal(size=(4, 2)), h)  # expect: place
            loss = (h @ net.wo).mse(np.ones((4, 1)))
            loss.backward()  # expect: place
            for p in net.params():
                p.value = p.value - 0.05 * p.grad
        print(epoch, float(loss.value))
    return net


trained = train()
