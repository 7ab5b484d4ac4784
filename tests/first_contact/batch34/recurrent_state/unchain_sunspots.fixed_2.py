"""Define-by-run autodiff in NumPy, and an RNN on it that predicts sunspot numbers with truncated BPTT.

Every epoch starts fast and gets slower and slower towards its end.
"""
import heapq
import time
import weakref

import numpy as np


class Variable:
    __array_priority__ = 200

    def __init__(self, data):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.creator = None
        self.generation = 0

    def set_creator(self, func):
        self.creator = func
        self.generation = func.generation + 1

    def cleargrad(self):
        self.grad = None

    def unchain(self):
        self.creator = None

    def unchain_backward(self):
        funcs = [self.creator] if self.creator is not None else []
        while funcs:
            f = funcs.pop()
            for x in f.inputs:
                if x.creator is not None:
                    funcs.append(x.creator)
                    x.unchain()

    def backward(self, retain_grad=False):
        self.grad = np.ones_like(self.data)
        queue, seen = [], set()

        def add(f):
            if f is not None and f not in seen:
                seen.add(f)
                heapq.heappush(queue, (-f.generation, id(f), f))

        add(self.creator)
        while queue:
            f = heapq.heappop(queue)[2]
            y = f.output()
            gxs = f.backward(y.grad)
            for x, gx in zip(f.inputs, gxs if isinstance(gxs, tuple) else (gxs,)):
                x.grad = gx if x.grad is None else x.grad + gx
                add(x.creator)
            if not retain_grad:
                y.grad = None
        return len(seen)

    def __add__(self, other):
        return Add()(self, other)

    def __sub__(self, other):
        return Sub()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)

    __radd__ = __add__
    __rmul__ = __mul__


class Parameter(Variable):
    pass


class Function:
    def __call__(self, *inputs):
        inputs = [x if isinstance(x, Variable) else Variable(x) for x in inputs]
        y = Variable(self.forward(*[x.data for x in inputs]))
        self.generation = max(x.generation for x in inputs)
        y.set_creator(self)
        self.inputs = inputs
        self.output = weakref.ref(y)
        return y


def sum_to(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    for axis, n in enumerate(shape):
        if n == 1 and g.shape[axis] != 1:
            g = g.sum(axis, keepdims=True)
    return g


class Add(Function):
    def forward(self, a, b):
        return a + b

    def backward(self, g):
        a, b = self.inputs
        return sum_to(g, a.data.shape), sum_to(g, b.data.shape)


class Sub(Function):
    def forward(self, a, b):
        return a - b

    def backward(self, g):
        a, b = self.inputs
        return sum_to(g, a.data.shape), sum_to(-g, b.data.shape)


class Mul(Function):
    def forward(self, a, b):
        return a * b

    def backward(self, g):
        a, b = self.inputs
        return sum_to(g * b.data, a.data.shape), sum_to(g * a.data, b.data.shape)


class MatMul(Function):
    def forward(self, x, w):
        return x @ w

    def backward(self, g):
        x, w = self.inputs
        return g @ w.data.T, x.data.T @ g


class Tanh(Function):
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y

    def backward(self, g):
        return g * (1 - self.y ** 2)


class Mean(Function):
    def forward(self, x):
        return x.mean()

    def backward(self, g):
        x = self.inputs[0].data
        return np.full_like(x, g / x.size)


class RNN:
    def __init__(self, n_in, n_hidden, rng):
        def init(rows, cols):
            return Parameter(rng.normal(0, 1 / np.sqrt(rows), (rows, cols)))

        self.Wx, self.Wh, self.bh = init(n_in, n_hidden), init(n_hidden, n_hidden), Parameter(np.zeros(n_hidden))
        self.Wy, self.by = init(n_hidden, 1), Parameter(np.zeros(1))
        self.h = None

    def params(self):
        return [self.Wx, self.Wh, self.bh, self.Wy, self.by]

    def reset_state(self):
        self.h = None

    def cleargrads(self):
        for p in self.params():
            p.cleargrad()

    def __call__(self, x):
        a = MatMul()(x, self.Wx) + self.bh
        if self.h is not None:
            a = a + MatMul()(self.h, self.Wh)
        self.h = Tanh()(a)
        return MatMul()(self.h, self.Wy) + self.by


def sunspots(n, rng):
    t = np.arange(n)
    cycle = np.abs(np.sin(np.pi * t / 11)) ** 1.5 * (1 + 0.3 * np.sin(2 * np.pi * t / 88))
    return cycle + 0.05 * rng.normal(size=n)


rng = np.random.default_rng(0)
series = sunspots(241, rng)
rnn = RNN(1, 12, rng)
lr, bptt = 0.05, 12

for epoch in range(2):
    rnn.reset_state()
    loss, count, total = Variable(0.0), 0, 0.0
    start = time.time()
    for x, t in zip(series[:-1], series[1:]):
        y = rnn(Variable([[x]]))
        diff = y - [[t]]
        loss = loss + Mean()(diff * diff)
        count += 1
        if count % bptt == 0:
            rnn.cleargrads()
            loss.backward()
            for p in rnn.params():
                if p.grad is not None:
                    p.data = p.data - lr * np.clip(p.grad / bptt, -1, 1)
            total += float(loss.data)
            loss = Variable(0.0)
            rnn.h.unchain()
    print(f"epoch {epoch}: loss {total / count:.4f}, {time.time() - start:.2f} s")
