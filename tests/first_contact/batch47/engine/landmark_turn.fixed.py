import math

import numpy as np


class Arr(object):
    """A NumPy array that remembers how it was made."""

    def __init__(self, data, autograd=False, creators=None, op=None):
        self.data = np.array(data, dtype=np.float64)
        self.autograd = autograd
        self.creators = creators
        self.op = op
        self.grad = None
        self.children = {}
        for c in creators or []:
            c.children[id(self)] = c.children.get(id(self), 0) + 1

    def waiting(self):
        return any(n != 0 for n in self.children.values())

    def backward(self, grad=None, origin=None):
        if not self.autograd:
            return
        if grad is None:
            grad = np.ones_like(self.data)
        if origin is not None:
            if self.children.get(id(origin), 0) == 0 and self.creators is not None:
                raise Exception("Cannot backpropagate more than once")
            self.children[id(origin)] -= 1
        self.grad = grad if self.grad is None else self.grad + grad
        if self.creators is None or (self.waiting() and origin is not None):
            return
        g = self.grad
        a = self.creators[0]
        b = self.creators[1] if len(self.creators) > 1 else None
        if self.op == "add":
            a.backward(fold(g, a.data.shape), self)
            b.backward(fold(g, b.data.shape), self)
        elif self.op == "sub":
            a.backward(fold(g, a.data.shape), self)
            b.backward(fold(-g, b.data.shape), self)
        elif self.op == "mul":
            a.backward(fold(g * b.data, a.data.shape), self)
            b.backward(fold(g * a.data, b.data.shape), self)
        elif self.op == "cos":
            if self.spent():
                raise Exception("Cannot backpropagate more than once")
            a.backward(-g * np.sin(a.data), self)
        elif self.op == "sin":
            if self.spent():
                raise Exception("Cannot backpropagate more than once")
            a.backward(g * np.cos(a.data), self)
        elif self.op == "mean":
            a.backward(np.full_like(a.data, float(g) / a.data.size), self)

    def spent(self):
        return self.creators[0].children.get(id(self), 0) == 0

    def _make(self, data, op, *parents):
        if any(p.autograd for p in parents):
            return Arr(data, autograd=True, creators=list(parents), op=op)
        return Arr(data)

    def __add__(self, o):
        return self._make(self.data + o.data, "add", self, o)

    def __sub__(self, o):
        return self._make(self.data - o.data, "sub", self, o)

    def __mul__(self, o):
        return self._make(self.data * o.data, "mul", self, o)

    def cos(self):
        return self._make(np.cos(self.data), "cos", self)

    def sin(self):
        return self._make(np.sin(self.data), "sin", self)

    def mean(self):
        return self._make(self.data.mean(), "mean", self)


def fold(g, shape):
    return g if g.shape == shape else g.sum().reshape(shape)


class StepDown:
    def __init__(self, arrays, rate):
        self.arrays = arrays
        self.rate = rate

    def step(self):
        for a in self.arrays:
            if a.grad is None:
                continue
            a.data -= self.rate * a.grad
            a.grad = None


rng = np.random.RandomState(11)
TRUE_ANGLE = math.radians(38.0)
plan = rng.uniform(-1, 1, size=(96, 2))
turn = np.array([[math.cos(TRUE_ANGLE), -math.sin(TRUE_ANGLE)],
                 [math.sin(TRUE_ANGLE), math.cos(TRUE_ANGLE)]])
seen = plan @ turn.T + np.array([0.5, -0.2]) + 0.01 * rng.randn(96, 2)

heading = Arr(0.0, autograd=True)
dx, dy = Arr(0.0, autograd=True), Arr(0.0, autograd=True)
tuner = StepDown([heading, dx, dy], rate=0.4)

for sweep in range(12):
    for lo in range(0, 96, 32):
        c, s = heading.cos(), heading.sin()
        px, py = Arr(plan[lo:lo + 32, 0]), Arr(plan[lo:lo + 32, 1])
        qx, qy = Arr(seen[lo:lo + 32, 0]), Arr(seen[lo:lo + 32, 1])
        ex = px * c - py * s + dx - qx
        ey = px * s + py * c + dy - qy
        gap = (ex * ex + ey * ey).mean()
        gap.backward()
        tuner.step()
    print(f"sweep {sweep:2d}  gap {float(gap.data):.5f}  "
          f"heading {math.degrees(float(heading.data)):.2f} deg")
