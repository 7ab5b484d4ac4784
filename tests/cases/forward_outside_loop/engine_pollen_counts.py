# expect: pattern = forward-outside-loop
# expect: raises = AlreadyWalked: pullback of matmul has been released
# expect: carrier = prediction, error, hidden
# expect: engine = custom
"""Pollen counts from the weather, with my own little autograd in numpy (each op keeps a pullback, which is dropped once used)."""
import numpy as np


class AlreadyWalked(RuntimeError):
    pass


class Array:
    def __init__(self, value, parents=(), pullback=None, op="leaf", trainable=False):
        self.value = np.asarray(value, dtype=float)
        self.parents, self.pullback, self.op = parents, pullback, op
        self.trainable = trainable
        self.grad = np.zeros_like(self.value)

    def __matmul__(self, other):
        a, b = self.value, other.value
        return Array(a @ b, (self, other), lambda g: (g @ b.T, a.T @ g), "matmul")

    def __add__(self, bias):
        return Array(self.value + bias.value, (self, bias), lambda g: (g, g.sum(0)), "add")

    def tanh(self):
        y = np.tanh(self.value)
        return Array(y, (self,), lambda g: (g * (1 - y * y),), "tanh")

    def mse(self, truth):
        gap = self.value - truth
        return Array((gap ** 2).mean(), (self,), lambda g: (g * 2 * gap / gap.size,), "mse")

    def backward(self):
        order, seen = [], set()

        def visit(a):
            if id(a) not in seen:
                seen.add(id(a))
                for p in a.parents:
                    visit(p)
                order.append(a)

        visit(self)
        for a in order:
            if a.parents and a.pullback is None:
                raise AlreadyWalked(f"pullback of {a.op} has been released")
        self.grad = np.ones_like(self.value)
        for a in reversed(order):
            if a.parents:
                for p, g in zip(a.parents, a.pullback(a.grad)):
                    p.grad = p.grad + g
                a.pullback = None


class Perceptron:
    def __init__(self, n_in, n_hidden, rng):
        self.w1 = Array(rng.normal(size=(n_in, n_hidden)) / 2, trainable=True)
        self.b1 = Array(np.zeros(n_hidden), trainable=True)
        self.w2 = Array(rng.normal(size=(n_hidden, 1)) / 2, trainable=True)

    def __call__(self, x):
        return (Array(x) @ self.w1 + self.b1).tanh() @ self.w2

    def descend(self, rate):
        for p in (self.w1, self.b1, self.w2):
            p.value = p.value - rate * p.grad
            p.grad = np.zeros_like(p.value)


rng = np.random.default_rng(4)
weather = rng.normal(size=(60, 3))
counts = np.maximum(0, weather[:, :1] + 0.5 * weather[:, 1:2] * weather[:, 2:])
model = Perceptron(3, 10, rng)
prediction = model(weather)  # expect: place
for epoch in range(30):
    error = prediction.mse(counts)  # expect: place
    error.backward()  # expect: place
    model.descend(0.2)
    if epoch % 5 == 0:
        print(epoch, round(float(error.value), 4))
