# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: node was already consumed by an earlier backprop
# expect: carrier = total
# expect: engine = custom
"""My own small reverse-mode library on NumPy, tried on a period-luminosity relation (Cepheids)."""
import numpy as np


def _fit(grad, shape):
    """Sum a gradient back to the shape that was broadcast."""
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for ax, n in enumerate(shape):
        if n == 1 and grad.shape[ax] != 1:
            grad = grad.sum(axis=ax, keepdims=True)
    return grad


class Node:
    def __init__(self, value, inputs=(), pull=None):
        self.value = np.asarray(value, dtype=float)
        self.inputs = inputs
        self.pull = pull
        self.consumed = False
        self.grad = np.zeros_like(self.value)

    @staticmethod
    def wrap(x):
        return x if isinstance(x, Node) else Node(x)

    def __add__(self, other):
        other = Node.wrap(other)
        return Node(self.value + other.value, (self, other),
                    lambda g: (_fit(g, self.value.shape), _fit(g, other.value.shape)))

    def __sub__(self, other):
        return self + Node.wrap(other) * -1.0

    def __mul__(self, other):
        other = Node.wrap(other)
        return Node(self.value * other.value, (self, other),
                    lambda g: (_fit(g * other.value, self.value.shape), _fit(g * self.value, other.value.shape)))

    def __matmul__(self, other):
        return Node(self.value @ other.value, (self, other),
                    lambda g: (g @ other.value.T, self.value.T @ g))

    def tanh(self):
        out = np.tanh(self.value)
        return Node(out, (self,), lambda g: (g * (1 - out**2),))

    def mean(self):
        n = self.value.size
        return Node(self.value.mean(), (self,), lambda g: (np.full_like(self.value, g / n),))

    def backprop(self, keep=False):
        order, seen = [], set()

        def visit(n):
            if id(n) not in seen:
                seen.add(id(n))
                for i in n.inputs:
                    visit(i)
                order.append(n)

        visit(self)
        flow = {id(self): np.ones_like(self.value)}
        for n in reversed(order):
            g = flow.pop(id(n))
            if not n.inputs:
                n.grad = n.grad + g
                continue
            if n.consumed:
                raise RuntimeError("node was already consumed by an earlier backprop (pass keep=True to reuse it)")
            for i, gi in zip(n.inputs, n.pull(g)):
                flow[id(i)] = flow.get(id(i), 0.0) + gi
            n.consumed = not keep


class Descent:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr

    def zero_grad(self):
        for p in self.params:
            p.grad = np.zeros_like(p.value)

    def step(self):
        for p in self.params:
            p.value = p.value - self.lr * p.grad


rng = np.random.default_rng(6)
log_period = rng.uniform(0.3, 1.8, size=(120, 1))
magnitude = -2.43 * (log_period - 1.0) - 4.05 + 0.15 * rng.normal(size=(120, 1))

w1, b1 = Node(rng.normal(size=(1, 8)) * 0.8), Node(np.zeros((1, 8)))
w2, b2 = Node(rng.normal(size=(8, 1)) * 0.3), Node(np.full((1, 1), -4.0))
opt = Descent([w1, b1, w2, b2], lr=0.05)

for epoch in range(30):
    total = 0.0  # expect: place
    for rows in np.array_split(rng.permutation(120), 6):
        x, y = Node(log_period[rows] - 1.0), Node(magnitude[rows])
        pred = (x @ w1 + b1).tanh() @ w2 + b2
        err = pred - y
        loss = (err * err).mean()
        total += float(loss.value)  # expect: place
        opt.zero_grad()
        loss.backprop()  # expect: place
        opt.step()
    if epoch % 10 == 0:
        print("epoch", epoch, "mean loss", round(total / 6, 4))
