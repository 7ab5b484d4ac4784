# expect: pattern = missing-zero-grad
# expect: carrier = log_noise
# expect: engine = custom
"""Yield of apple trees with a learnt noise level next to the layers (heteroscedastic loss)."""
import numpy as np


class Tensor:
    def __init__(self, data, deps=()):
        self.data = np.asarray(data, dtype=np.float64)
        self.deps = deps
        self.grad = np.zeros_like(self.data)

    def zero(self):
        self.grad = np.zeros_like(self.data)

    def __add__(self, o):
        o = o if isinstance(o, Tensor) else Tensor(o)
        return Tensor(self.data + o.data, [(self, lambda g: g), (o, lambda g: g)])

    def __mul__(self, o):
        o = o if isinstance(o, Tensor) else Tensor(o)
        return Tensor(self.data * o.data, [(self, lambda g: g * o.data), (o, lambda g: g * self.data)])

    def __matmul__(self, o):
        return Tensor(self.data @ o.data, [(self, lambda g: g @ o.data.T), (o, lambda g: self.data.T @ g)])

    def exp(self):
        e = np.exp(self.data)
        return Tensor(e, [(self, lambda g: g * e)])

    def tanh(self):
        t = np.tanh(self.data)
        return Tensor(t, [(self, lambda g: g * (1 - t * t))])

    def mean(self):
        return Tensor(self.data.mean(), [(self, lambda g: np.ones_like(self.data) * g / self.data.size)])

    def backward(self, g=None):
        order, seen = [], set()

        def visit(t):
            if id(t) not in seen:
                seen.add(id(t))
                for dep, _ in t.deps:
                    visit(dep)
                order.append(t)

        visit(self)
        flow = {id(self): np.ones_like(self.data)}
        for t in reversed(order):
            g = flow[id(t)]
            if g.shape != t.data.shape:
                g = g.sum(axis=tuple(range(g.ndim - t.data.ndim)))
            t.grad = t.grad + g
            for dep, vjp in t.deps:
                flow[id(dep)] = flow.get(id(dep), 0.0) + vjp(g)


class Linear:
    def __init__(self, i, o, rng):
        self.w = Tensor(rng.normal(size=(i, o)) / np.sqrt(i))

    def __call__(self, x):
        return x @ self.w


class Momentum:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr
        self.v = [np.zeros_like(p.data) for p in params]

    def zero_grad(self):
        for p in self.params:
            p.zero()

    def step(self):
        for v, p in zip(self.v, self.params):
            v *= 0.8
            v -= self.lr * p.grad
            p.data += v


rng = np.random.default_rng(77)
trees = rng.normal(size=(50, 5))
kilos = trees[:, :1] - 0.5 * trees[:, 3:4] + 0.3 * rng.normal(size=(50, 1))
first, second = Linear(5, 9, rng), Linear(9, 1, rng)
log_noise = Tensor(0.0)
opt = Momentum([first.w, second.w], 0.02)

for epoch in range(60):
    opt.zero_grad()
    log_noise.zero()
    miss = second(first(Tensor(trees)).tanh()) + Tensor(-kilos)
    nll = (miss * miss).mean() * (log_noise * -2.0).exp() * 0.5 + log_noise
    nll.backward()
    opt.step()
    log_noise.data -= 0.01 * log_noise.grad
    if epoch % 20 == 0:
        print(epoch, float(nll.data), float(np.exp(log_noise.data)))
