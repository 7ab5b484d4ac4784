# expect: pattern = undetached-target
# expect: also = shared-subgraph
# expect: raises = AssertionError: saved values
# expect: carrier = fake
# expect: engine = custom
import numpy as np


class Tensor:
    def __init__(self, data, requires_grad=False, depends_on=()):
        self.data = np.array(data, float)
        self.requires_grad = requires_grad or any(t.requires_grad for t, _ in depends_on)
        self.depends_on = list(depends_on)
        self.grad = None
        self.consumed = False

    def detach(self):
        return Tensor(self.data)

    def zero_grad(self):
        self.grad = np.zeros_like(self.data)

    def backward(self, grad=None):
        if not self.requires_grad:
            return
        grad = np.ones_like(self.data) if grad is None else grad
        order, seen = [], set()

        def go(t):
            if id(t) not in seen:
                seen.add(id(t))
                for u, _ in t.depends_on:
                    go(u)
                order.append(t)

        go(self)
        flow = {id(self): grad}
        for t in reversed(order):
            g = flow.get(id(t))
            if g is None:
                continue
            if t.depends_on:
                assert not t.consumed, "saved values of this tensor are gone (backward ran through it before)"
                t.consumed = True
                for u, f in t.depends_on:
                    if u.requires_grad:
                        flow[id(u)] = flow.get(id(u), 0) + f(g)
            else:
                t.grad = g if t.grad is None else t.grad + g


def dot(a, b):
    return Tensor(a.data @ b.data, depends_on=[(a, lambda g: g @ b.data.T), (b, lambda g: a.data.T @ g)])


def relu(a):
    m = a.data > 0
    return Tensor(a.data * m, depends_on=[(a, lambda g: g * m)])


def mean_sq(a, target):
    d = a.data - target
    return Tensor((d * d).mean(), depends_on=[(a, lambda g: g * 2 * d / d.size)])


class Net:
    def __init__(self, i, h, o, rng):
        self.w1 = Tensor(rng.normal(0, 0.4, (i, h)), True)
        self.w2 = Tensor(rng.normal(0, 0.4, (h, o)), True)

    def __call__(self, x):
        return dot(relu(dot(x, self.w1)), self.w2)

    def parameters(self):
        return self.w1, self.w2


def sgd(ps, lr=0.05):
    for p in ps:
        p.data -= lr * p.grad


rng = np.random.default_rng(0)
G, D = Net(2, 6, 3, rng), Net(3, 6, 1, rng)
for it in range(3):
    for p in (*G.parameters(), *D.parameters()):
        p.zero_grad()
    fake = G(Tensor(rng.normal(size=(4, 2))))  # expect: place
    real = Tensor(rng.normal(size=(4, 3)) + 1)
    d_fake = mean_sq(D(fake), 0.0)  # expect: place
    d_real = mean_sq(D(real), 1.0)
    d_fake.backward()
    d_real.backward()
    sgd(D.parameters())
    g_loss = mean_sq(D(fake), 1.0)
    g_loss.backward()  # expect: place
    sgd(G.parameters())
    print(it, float(d_fake.data), float(g_loss.data))
