"""Autograd in the manner of a list of dependencies; a GRU-like cell on top."""
from typing import Callable, List, NamedTuple, Optional

import numpy as np


class Dependency(NamedTuple):
    tensor: "Tensor"
    grad_fn: Callable[[np.ndarray], np.ndarray]


class Tensor:
    def __init__(self, data, requires_grad: bool = False, depends_on: Optional[List[Dependency]] = None) -> None:
        self.data = np.asarray(data, dtype=float)
        self.requires_grad = requires_grad
        self.depends_on = depends_on or []
        self.grad = np.zeros_like(self.data) if requires_grad else None
        self.backpropagated = False

    def zero_grad(self):
        self.grad = np.zeros_like(self.data)

    def backward(self, grad=None):
        grad = np.ones_like(self.data) if grad is None else grad
        order: List[Tensor] = []
        seen = set()

        def visit(t):
            if id(t) in seen or not t.requires_grad:
                return
            seen.add(id(t))
            for d in t.depends_on:
                visit(d.tensor)
            order.append(t)

        visit(self)
        self.grad = self.grad + grad
        for t in reversed(order):
            if not t.depends_on:
                continue
            if t.backpropagated:
                raise RuntimeError("Trying to backpropagate through a tensor whose graph has been used up")
            t.backpropagated = True
            for d in t.depends_on:
                if d.tensor.requires_grad:
                    d.tensor.grad = d.tensor.grad + d.grad_fn(t.grad)


def _op(data, *deps):
    deps = [d for d in deps if d.tensor.requires_grad]
    return Tensor(data, bool(deps), deps)


def matmul(a, b):
    return _op(a.data @ b.data, Dependency(a, lambda g: g @ b.data.T), Dependency(b, lambda g: a.data.T @ g))


def add(a, b):
    def back(shape):
        return lambda g: g if g.shape == shape else g.sum(axis=0)
    return _op(a.data + b.data, Dependency(a, back(a.data.shape)), Dependency(b, back(b.data.shape)))


def mul(a, b):
    return _op(a.data * b.data, Dependency(a, lambda g: g * b.data), Dependency(b, lambda g: g * a.data))


def sigmoid(a):
    s = 1 / (1 + np.exp(-a.data))
    return _op(s, Dependency(a, lambda g: g * s * (1 - s)))


def tanh(a):
    t = np.tanh(a.data)
    return _op(t, Dependency(a, lambda g: g * (1 - t * t)))


def mse(a, y):
    d = a.data - y
    return _op(np.array((d * d).mean()), Dependency(a, lambda g: g * 2 * d / d.size))


class Gated:
    def __init__(self, n_in, n_hid, rng):
        new = lambda *s: Tensor(rng.normal(0, 0.3, s), requires_grad=True)
        self.wz, self.uz, self.wh, self.uh = new(n_in, n_hid), new(n_hid, n_hid), new(n_in, n_hid), new(n_hid, n_hid)
        self.out = new(n_hid, 1)

    def parameters(self):
        return [self.wz, self.uz, self.wh, self.uh, self.out]

    def __call__(self, x, h):
        z = sigmoid(add(matmul(x, self.wz), matmul(h, self.uz)))
        c = tanh(add(matmul(x, self.wh), matmul(h, self.uh)))
        return add(mul(z, c), h)


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr

    def step(self):
        for p in self.params:
            p.data -= self.lr * p.grad

    def zero(self):
        for p in self.params:
            p.zero_grad()


def main():
    rng = np.random.default_rng(3)
    cell = Gated(2, 4, rng)
    opt = SGD(cell.parameters(), lr=0.05)
    series = rng.normal(size=(12, 3, 2))
    memory = Tensor(np.zeros((3, 4)))
    for start in range(0, 12, 4):
        memory = Tensor(memory.data)
        opt.zero()
        for x in series[start:start + 4]:
            memory = cell(Tensor(x), memory)
        loss = mse(matmul(memory, cell.out), series[start:start + 4].sum((0, 2))[:, None])
        loss.backward()
        opt.step()
        print(start, float(loss.data))
    return cell


if __name__ == "__main__":
    trained = main()
