"""Glaze colour against firing temperature, on a small NumPy autodiff with freed buffers."""
import numpy as np


class Function:
    def __init__(self, *inputs):
        self.inputs, self.saved = inputs, ()

    def save(self, *arrays):
        self.saved = arrays

    def buffers(self):
        if self.saved is None:
            raise RuntimeError(f"buffers of {type(self).__name__} are gone, graph was already walked")
        return self.saved

    @classmethod
    def apply(cls, *inputs):
        inputs = [i if isinstance(i, Array) else Array(i) for i in inputs]
        fn = cls(*inputs)
        out = Array(fn.forward(*[i.value for i in inputs]))
        out.creator = fn
        return out


class Array:
    def __init__(self, value):
        self.value = np.asarray(value, dtype=np.float64)
        self.grad = None
        self.creator = None

    def __add__(self, o): return Add.apply(self, o)
    def __mul__(self, o): return Mul.apply(self, o)
    def __matmul__(self, o): return Dot.apply(self, o)
    def exp(self): return Exp.apply(self)
    def tanh(self): return Tanh.apply(self)
    def mean(self): return Mean.apply(self)

    def data_only(self):
        return Array(self.value)

    def backward(self):
        order, seen = [], set()

        def visit(a):
            if id(a) in seen or a.creator is None:
                return
            seen.add(id(a))
            for i in a.creator.inputs:
                visit(i)
            order.append(a)

        visit(self)
        pending = {id(self): np.ones_like(self.value)}
        for a in reversed(order):
            fn = a.creator
            for i, g in zip(fn.inputs, fn.backward(pending.pop(id(a)))):
                while g.ndim > i.value.ndim:
                    g = g.sum(0)
                if i.creator is None:
                    i.grad = g if i.grad is None else i.grad + g
                else:
                    pending[id(i)] = pending.get(id(i), 0) + g
            fn.saved = None


class Add(Function):
    def forward(self, a, b): return a + b
    def backward(self, g): return g, g


class Mul(Function):
    def forward(self, a, b):
        self.save(a, b)
        return a * b

    def backward(self, g):
        a, b = self.buffers()
        return g * b, g * a


class Dot(Function):
    def forward(self, a, b):
        self.save(a, b)
        return a @ b

    def backward(self, g):
        a, b = self.buffers()
        return g @ b.T, a.T @ g


class Exp(Function):
    def forward(self, a):
        out = np.exp(a)
        self.save(out)
        return out

    def backward(self, g):
        return (g * self.buffers()[0],)


class Tanh(Exp):
    def forward(self, a):
        out = np.tanh(a)
        self.save(out)
        return out

    def backward(self, g):
        return (g * (1 - self.buffers()[0] ** 2),)


class Mean(Function):
    def forward(self, a):
        self.shape = a.shape
        return a.mean()

    def backward(self, g):
        return (np.full(self.shape, g / np.prod(self.shape)),)


rng = np.random.default_rng(9)
temperature = rng.uniform(-1, 1, (60, 2))
colour = np.tanh(temperature @ np.array([[2.0], [-1.0]])) * np.array([3.0])

w1, b1 = Array(rng.normal(0, 0.5, (2, 10))), Array(np.zeros(10))
w2, b2 = Array(rng.normal(0, 0.5, (10, 1))), Array(np.zeros(1))
log_scale = Array(np.zeros(1))
params = [w1, b1, w2, b2, log_scale]

scale = log_scale.exp().data_only()
params.remove(log_scale)
for epoch in range(30):
    for rows in np.array_split(rng.permutation(60), 3):
        hidden = (Array(temperature[rows]) @ w1 + b1).tanh()
        pred = (hidden @ w2 + b2) * scale
        diff = pred + Array(-colour[rows])
        loss = (diff * diff).mean()
        for p in params:
            p.grad = None
        loss.backward()
        for p in params:
            p.value = p.value - 0.05 * p.grad
    if epoch % 10 == 0:
        print(epoch, float(loss.value), float(np.exp(log_scale.value)[0]))
