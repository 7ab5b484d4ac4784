# expect: pattern = none
# expect: raises = nothing
import numpy as np


class T:
    def __init__(self, d, requires=False, src=(), fn=None):
        self.d, self.requires, self.src, self.fn, self.g, self.used = np.asarray(d, float), requires, src, fn, None, False

    def __matmul__(self, o):
        return T(self.d @ o.d, True, (self, o), lambda g: (g @ o.d.T, self.d.T @ g))

    def __add__(self, o):
        return T(self.d + o.d, True, (self, o), lambda g: (g, g))

    def tanh(self):
        y = np.tanh(self.d)
        return T(y, True, (self,), lambda g: (g * (1 - y ** 2),))

    def square_mean(self):
        return T((self.d ** 2).mean(), True, (self,), lambda g: (g * 2 * self.d / self.d.size,))

    def detach(self):
        return T(self.d)

    def backward(self, g=None):
        if self.used:
            raise RuntimeError("Cannot backpropagate more than once")
        topo, seen = [], set()

        def go(t):
            if id(t) not in seen:
                seen.add(id(t))
                [go(s) for s in t.src]
                topo.append(t)

        go(self)
        self.g = np.ones_like(self.d)
        for t in reversed(topo):
            if t.fn is None or t.g is None:
                continue
            assert not t.used
            t.used = True
            for s, g in zip(t.src, t.fn(t.g)):
                s.g = g if s.g is None else s.g + g


rng = np.random.default_rng(0)
W, U, V = (T(rng.normal(0, 0.3, s), True) for s in ((2, 5), (5, 5), (5, 1)))
h = T(np.zeros((3, 5)))
history = []
for chunk in range(4):
    h = h.detach()
    losses = []
    for t in range(3):
        h = (T(rng.normal(size=(3, 2))) @ W + h @ U).tanh()
        losses.append((h @ V).square_mean())
    total = losses[0]
    for l in losses[1:]:
        total = total + l
    total.backward()
    for p in (W, U, V):
        p.d -= 0.05 * p.g
        p.g = None
    history.append(float(total.d))
print(history)
