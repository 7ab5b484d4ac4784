# expect: pattern = recurrent-state
# expect: also = retain-graph-leak, growing-history
# expect: raises = nothing
# expect: engine = custom
# expect: carrier = self.h, h, model
"""Passengers on a tram line, hour after hour, with the little framework that I write along a book
(define-by-run, NumPy). Truncated BPTT: every 10 hours one update. The longer it runs, the slower."""
import time
import weakref

import numpy as np


class Variable:
    def __init__(self, data):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.creator = None
        self.generation = 0

    def set_creator(self, func):
        self.creator = func
        self.generation = func.generation + 1

    def unchain(self):
        self.creator = None

    def cleargrad(self):
        self.grad = None

    def backward(self):
        self.grad = np.ones_like(self.data)
        funcs, seen = [], set()

        def add_func(f):
            if f is not None and f not in seen:
                funcs.append(f)
                seen.add(f)
                funcs.sort(key=lambda g: g.generation)

        add_func(self.creator)
        while funcs:
            f = funcs.pop()
            output = f.output()
            gxs = f.backward(output.grad)
            for x, gx in zip(f.inputs, gxs):
                x.grad = gx if x.grad is None else x.grad + gx
                add_func(x.creator)
            output.grad = None

    def unchain_backward(self):
        funcs = [self.creator] if self.creator is not None else []
        while funcs:
            f = funcs.pop()
            for x in f.inputs:
                if x.creator is not None:
                    funcs.append(x.creator)
                    x.unchain()

    def __add__(self, other):
        return Add()(self, other)

    def __sub__(self, other):
        return Sub()(self, other)


class Parameter(Variable):
    pass


class Function:
    def __call__(self, *inputs):
        inputs = [x if isinstance(x, Variable) else Variable(x) for x in inputs]
        output = Variable(self.forward(*[x.data for x in inputs]))
        self.generation = max(x.generation for x in inputs)
        output.set_creator(self)
        self.inputs, self.output = inputs, weakref.ref(output)
        return output


def sum_to(g, shape):
    return g if g.shape == shape else g.sum(0).reshape(shape)


class Add(Function):
    def forward(self, a, b):
        return a + b

    def backward(self, g):
        return sum_to(g, self.inputs[0].data.shape), sum_to(g, self.inputs[1].data.shape)


class Sub(Function):
    def forward(self, a, b):
        return a - b

    def backward(self, g):
        return g, -g


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
        return (g * (1 - self.y ** 2),)


class MeanSquare(Function):
    def forward(self, x):
        return (x ** 2).mean()

    def backward(self, g):
        x = self.inputs[0].data
        return (g * 2 * x / x.size,)


class TramRNN:
    def __init__(self, n_in, n_hidden, rng):
        self.Wx = Parameter(rng.normal(size=(n_in, n_hidden)) / np.sqrt(n_in))
        self.Wh = Parameter(rng.normal(size=(n_hidden, n_hidden)) / np.sqrt(n_hidden))
        self.bh = Parameter(np.zeros((1, n_hidden)))
        self.Wy = Parameter(rng.normal(size=(n_hidden, 1)) / np.sqrt(n_hidden))
        self.by = Parameter(np.zeros((1, 1)))
        self.h = None

    def params(self):
        return [self.Wx, self.Wh, self.bh, self.Wy, self.by]

    def cleargrads(self):
        for p in self.params():
            p.cleargrad()

    def reset_state(self):
        self.h = None

    def __call__(self, x):
        pre = MatMul()(x, self.Wx) + self.bh
        if self.h is not None:
            pre = pre + MatMul()(self.h, self.Wh)  # expect: place
        self.h = Tanh()(pre)  # expect: place
        return MatMul()(self.h, self.Wy) + self.by


class SGD:
    def __init__(self, params, lr, clip=1.0):
        self.params, self.lr, self.clip = params, lr, clip

    def update(self):
        for p in self.params:
            if p.grad is not None:
                p.data -= self.lr * np.clip(p.grad, -self.clip, self.clip)


def passengers(hours, stops, rng):
    t = np.arange(hours + 1)[:, None]
    rush = np.sin(2 * np.pi * t / 24 + rng.uniform(0, 1, size=(1, stops)))
    return rush + 0.5 * np.sin(4 * np.pi * t / 24) + 0.1 * rng.normal(size=(hours + 1, stops))


if __name__ == "__main__":
    rng = np.random.default_rng(6)
    data = passengers(120, 8, rng)
    bptt_length, max_epoch = 10, 2
    model = TramRNN(1, 12, rng)
    optimizer = SGD(model.params(), lr=0.05)

    for epoch in range(max_epoch):
        model.reset_state()
        loss, count, total = Variable(0.0), 0, 0.0
        start = time.time()
        for hour in range(120):
            y = model(data[hour][:, None])
            loss = loss + MeanSquare()(y - data[hour + 1][:, None])
            count += 1
            if count % bptt_length == 0:
                model.cleargrads()
                loss.backward()  # expect: place
                optimizer.update()
                total += float(loss.data)
                loss = Variable(0.0)  # expect: place
        print("epoch %d | loss %.4f | %.2f s" % (epoch, total / 120, time.time() - start))
