"""A persistent tape may be asked as often as one likes: two learning rates, one recording."""
import numpy as np


class Tape:
    active = []

    def __init__(self, persistent=False):
        self.persistent, self.ops, self.used = persistent, [], False

    def __enter__(self):
        Tape.active.append(self)
        return self

    def __exit__(self, *exc):
        Tape.active.pop()

    def gradient(self, target, sources):
        if self.used and not self.persistent:
            raise RuntimeError("tape already used")
        self.used = True
        grads = {id(target): np.ones_like(target.a)}
        for out, ins, pull in reversed(self.ops):
            if id(out) in grads:
                for i, g in zip(ins, pull(grads[id(out)])):
                    grads[id(i)] = grads.get(id(i), 0.0) + g
        return [grads.get(id(s), np.zeros_like(s.a)) for s in sources]


class V:
    def __init__(self, a):
        self.a = np.asarray(a, dtype=float)


def _rec(a, ins, pull):
    out = V(a)
    if Tape.active:
        Tape.active[-1].ops.append((out, ins, pull))
    return out


def lin(x, w):
    return _rec(x.a @ w.a, (x, w), lambda g: (g @ w.a.T, x.a.T @ g))


def tanh(x):
    t = np.tanh(x.a)
    return _rec(t, (x,), lambda g: (g * (1 - t * t),))


def mse(x, y):
    d = x.a - y
    return _rec((d * d).mean(), (x,), lambda g: (g * 2 * d / d.size,))


rng = np.random.default_rng(1)
x = rng.normal(size=(40, 3))
y = np.sin(x[:, :1])
w1, w2 = V(rng.normal(size=(3, 8)) * 0.5), V(rng.normal(size=(8, 1)) * 0.5)
for i in range(30):
    with Tape(persistent=True) as tape:
        loss = mse(lin(tanh(lin(V(x), w1)), w2), y)
    w1_grad = tape.gradient(loss, [w1])[0]
    w2_grad = tape.gradient(loss, [w2])[0]
    w1.a = w1.a - 0.05 * w1_grad
    w2.a = w2.a - 0.2 * w2_grad
    if i % 10 == 0:
        print(i, float(loss.a))
