# expect: pattern = shared-subgraph
# expect: also = grad-then-backward
# expect: raises = RuntimeError: A non-persistent tape can only be asked once
# expect: carrier = tape
# expect: engine = custom
"""
Port of an old TF2 notebook to bare NumPy: two enzyme properties (turnover, melting point)
from one descriptor layer, each with its own learning rate.
"""
import numpy as np


class Tape:
    """Records what happens inside the with block, newest last."""
    current = None

    def __init__(self, persistent=False):
        self.persistent = persistent
        self.records = []
        self.asked = False

    def __enter__(self):
        Tape.current = self
        return self

    def __exit__(self, *exc):
        Tape.current = None

    def gradient(self, target, sources):
        if self.asked and not self.persistent:
            raise RuntimeError("A non-persistent tape can only be asked once")
        self.asked = True
        flow = {id(target): np.ones_like(target.value)}
        for out, inputs, vjp in reversed(self.records):
            if id(out) in flow:
                for v, g in zip(inputs, vjp(flow[id(out)])):
                    flow[id(v)] = flow.get(id(v), 0.0) + g
        if not self.persistent:
            self.records.clear()
        return [flow.get(id(s), np.zeros_like(s.value)) for s in sources]


class Var:
    def __init__(self, value):
        self.value = np.asarray(value, dtype=float)
        self.m = np.zeros_like(self.value)  # slots of the optimizer
        self.v = np.zeros_like(self.value)

    def assign_sub(self, delta):
        self.value = self.value - delta


def op(value, inputs, vjp):
    out = Var(value)
    if Tape.current is not None:
        Tape.current.records.append((out, inputs, vjp))
    return out


def dense(x, w, b):
    return op(x.value @ w.value + b.value, (x, w, b),
              lambda g: (g @ w.value.T, x.value.T @ g, g.sum(0)))


def tanh(x):
    y = np.tanh(x.value)
    return op(y, (x,), lambda g: (g * (1 - y * y),))


def mse(x, target):
    d = x.value - target
    return op(np.mean(d ** 2), (x,), lambda g: (g * 2 * d / d.size,))


class Adam:
    def __init__(self, lr):
        self.lr, self.t = lr, 0

    def apply_gradients(self, pairs):
        self.t += 1
        for g, var in pairs:
            var.m = var.m + 0.1 * (g - var.m)
            var.v = var.v + 0.001 * (g * g - var.v)
            mh, vh = var.m / (1 - 0.9 ** self.t), var.v / (1 - 0.999 ** self.t)
            var.assign_sub(self.lr * mh / (np.sqrt(vh) + 1e-7))


rng = np.random.default_rng(21)
X = rng.normal(size=(60, 7))
turnover = np.sin(X[:, :1]) + 0.3 * X[:, 1:2]
melting = 0.5 * X[:, 2:3] ** 2 - X[:, 0:1]

W0, b0 = Var(rng.normal(size=(7, 12)) * 0.3), Var(np.zeros(12))
Wk, bk = Var(rng.normal(size=(12, 1)) * 0.3), Var(np.zeros(1))
Wm, bm = Var(rng.normal(size=(12, 1)) * 0.3), Var(np.zeros(1))
opt_k, opt_m = Adam(1e-2), Adam(3e-3)

for epoch in range(30):
    with Tape() as tape:  # expect: place
        h = tanh(dense(Var(X), W0, b0))
        loss_k = mse(dense(h, Wk, bk), turnover)
        loss_m = mse(dense(h, Wm, bm), melting)

    vars_k = [W0, b0, Wk, bk]
    vars_m = [Wm, bm]
    opt_k.apply_gradients(zip(tape.gradient(loss_k, vars_k), vars_k))  # expect: place
    opt_m.apply_gradients(zip(tape.gradient(loss_m, vars_m), vars_m))  # expect: place

    if epoch % 10 == 0:
        print(epoch, float(loss_k.value), float(loss_m.value))
print("final", float(loss_k.value), float(loss_m.value))
