# expect: pattern = missing-zero-grad
# expect: carrier = grad, p.grad
# expect: engine = custom
"""Predict how long a loaf stays fresh. Array engine with a free function that walks the graph."""
import numpy as np


class Arr:
    def __init__(self, v, parents=(), vjps=()):
        self.v = np.asarray(v, dtype=float)
        self.parents = parents
        self.vjps = vjps
        self.grad = None


def add(a, b):
    return Arr(a.v + b.v, (a, b), (lambda g: unb(g, a.v), lambda g: unb(g, b.v)))


def mul(a, b):
    return Arr(a.v * b.v, (a, b), (lambda g: unb(g * b.v, a.v), lambda g: unb(g * a.v, b.v)))


def matmul(a, b):
    return Arr(a.v @ b.v, (a, b), (lambda g: g @ b.v.T, lambda g: a.v.T @ g))


def tanh(a):
    t = np.tanh(a.v)
    return Arr(t, (a,), (lambda g: g * (1 - t * t),))


def mean(a):
    return Arr(a.v.mean(), (a,), (lambda g: np.full(a.v.shape, g / a.v.size),))


def unb(g, like):
    while g.ndim > like.ndim:
        g = g.sum(0)
    return g


def backprop(root):
    todo, order = [root], []
    counts = {}
    while todo:
        n = todo.pop()
        for p in n.parents:
            counts[p] = counts.get(p, 0) + 1
            if counts[p] == 1:
                todo.append(p)
    ready = [root]
    gs = {root: np.ones_like(root.v)}
    while ready:
        n = ready.pop()
        g = gs.pop(n)
        if not n.parents:
            n.grad = g if n.grad is None else n.grad + g
        for p, vjp in zip(n.parents, n.vjps):
            gs[p] = gs[p] + vjp(g) if p in gs else vjp(g)
            counts[p] -= 1
            if counts[p] == 0:
                ready.append(p)


class Mlp:
    def __init__(self, rng):
        self.w1 = Arr(rng.normal(size=(4, 8)) * 0.4)
        self.b1 = Arr(np.zeros(8))
        self.w2 = Arr(rng.normal(size=(8, 1)) * 0.4)

    def __call__(self, x):
        return matmul(tanh(add(matmul(x, self.w1), self.b1)), self.w2)

    def parameters(self):
        return [self.w1, self.b1, self.w2]


rng = np.random.default_rng(5)
x = rng.normal(size=(64, 4))
y = np.sin(x[:, :1]) + 0.2 * x[:, 1:2]
net = Mlp(rng)
minus = Arr(-1.0)

for epoch in range(25):
    perm = rng.permutation(64)
    seen = 0.0
    for part in np.split(perm, 4):
        err = add(net(Arr(x[part])), mul(minus, Arr(y[part])))
        loss = mean(mul(err, err))
        for p in net.parameters():
            p.grad = None
        backprop(loss)
        for p in net.parameters():
            p.v -= 0.02 * p.grad
        seen += float(loss.v)
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {seen / 4:.4f}")
