# expect: pattern = none
# Echo state network with a trained leak on a home-made reverse-mode array class.
import numpy as np

rng = np.random.RandomState(33)


class Array:
    def __init__(self, data, creators=(), back=None, requires_grad=False):
        self.data = np.asarray(data, dtype=float)
        self.creators = creators
        self.back = back
        self.requires_grad = requires_grad or any(c.requires_grad for c in creators)
        self.grad = None
        self.spent = False

    def _new(self, data, creators, back):
        return Array(data, creators, back)

    def __add__(self, o):
        return self._new(self.data + o.data, (self, o), lambda g: (fit(g, self), fit(g, o)))

    def __sub__(self, o):
        return self._new(self.data - o.data, (self, o), lambda g: (fit(g, self), fit(-g, o)))

    def __mul__(self, o):
        return self._new(self.data * o.data, (self, o), lambda g: (fit(g * o.data, self), fit(g * self.data, o)))

    def __matmul__(self, o):
        return self._new(self.data @ o.data, (self, o), lambda g: (g @ o.data.T, self.data.T @ g))

    def tanh(self):
        y = np.tanh(self.data)
        return self._new(y, (self,), lambda g: (g * (1 - y * y),))

    def mean(self):
        return self._new(self.data.mean(), (self,), lambda g: (g * np.ones_like(self.data) / self.data.size,))

    def constant(self):
        return Array(self.data.copy())

    def backward(self):
        order, seen = [], set()

        def visit(a):
            if id(a) not in seen and a.requires_grad:
                seen.add(id(a))
                for c in a.creators:
                    visit(c)
                order.append(a)

        visit(self)
        grads = {id(self): np.ones_like(self.data)}
        for a in reversed(order):
            g = grads.pop(id(a))
            if a.back is None:
                a.grad = g if a.grad is None else a.grad + g
                continue
            if a.spent:
                raise RuntimeError("this part of the graph has been walked already")
            a.spent = True
            for c, gc in zip(a.creators, a.back(g)):
                if c.requires_grad:
                    grads[id(c)] = grads.get(id(c), 0) + gc


def fit(g, like):
    while g.ndim > like.data.ndim:
        g = g.sum(0)
    for axis, n in enumerate(like.data.shape):
        if n == 1 and g.shape[axis] != 1:
            g = g.sum(axis, keepdims=True)
    return g


UNITS, CHUNK, CHUNKS = 20, 8, 15
W_res = Array(0.9 * np.linalg.qr(rng.randn(UNITS, UNITS))[0])
W_in = Array(rng.randn(1, UNITS) * 0.5)
leak = Array(np.full((1, UNITS), 0.3), requires_grad=True)
W_out = Array(rng.randn(UNITS, 1) * 0.1, requires_grad=True)
one = Array(np.ones((1, 1)))

t = np.arange(CHUNK * CHUNKS + 1)
signal = np.sin(0.3 * t) * np.cos(0.05 * t)

state = Array(np.zeros((1, UNITS)))
losses = []
for k in range(CHUNKS):
    state = state.constant()
    total = None
    for i in range(k * CHUNK, (k + 1) * CHUNK):
        u = Array([[signal[i]]])
        drive = (u @ W_in + state @ W_res).tanh()
        state = (one - leak) * state + leak * drive
        err = state @ W_out - Array([[signal[i + 1]]])
        sq = (err * err).mean()
        total = sq if total is None else total + sq
    total.backward()
    for w, lr in ((W_out, 0.02), (leak, 0.005)):
        w.data -= lr * np.clip(w.grad, -1, 1)
        w.grad = None
    losses.append(float(total.data))
    print(k, losses[-1])
