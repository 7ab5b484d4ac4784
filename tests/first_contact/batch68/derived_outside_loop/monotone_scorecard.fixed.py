"""Monotone credit scorecard on a small array autograd, numpy only.

More arrears may never improve the score, so the weights are kept positive: w = exp(raw).
"""
import numpy as np


def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for ax, n in enumerate(shape):
        if n == 1 and g.shape[ax] != 1:
            g = g.sum(axis=ax, keepdims=True)
    return g


class Array:
    def __init__(self, data, parents=(), vjp=None, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.parents, self.vjp = parents, vjp
        self.requires_grad = requires_grad or any(p.requires_grad for p in parents)
        self.grad, self.consumed = None, False

    def __add__(self, other):
        other = other if isinstance(other, Array) else Array(other)
        return Array(self.data + other.data, (self, other),
                     lambda g: (unbroadcast(g, self.data.shape), unbroadcast(g, other.data.shape)))

    def __mul__(self, other):
        other = other if isinstance(other, Array) else Array(other)
        return Array(self.data * other.data, (self, other),
                     lambda g: (unbroadcast(g * other.data, self.data.shape),
                                unbroadcast(g * self.data, other.data.shape)))

    def __matmul__(self, other):
        return Array(self.data @ other.data, (self, other),
                     lambda g: (g @ other.data.T, self.data.T @ g))

    def exp(self):
        out = np.exp(self.data)
        return Array(out, (self,), lambda g: (g * out,))

    def log_sigmoid(self):
        return Array(-np.logaddexp(0, -self.data), (self,),
                     lambda g: (g / (1 + np.exp(self.data)),))

    def mean(self):
        n = self.data.size
        return Array(self.data.mean(), (self,), lambda g: (np.full(self.data.shape, g / n),))

    def detach(self):
        return Array(self.data)

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen and node.requires_grad:
                seen.add(id(node))
                for p in node.parents:
                    visit(p)
                order.append(node)

        visit(self)
        grads = {id(self): np.ones_like(self.data)}
        for node in reversed(order):
            g = grads.pop(id(node))
            if node.consumed:
                raise RuntimeError("this graph was already consumed by backward(), run the forward pass again")
            if node.vjp is None:
                node.grad = g if node.grad is None else node.grad + g
                continue
            for p, gp in zip(node.parents, node.vjp(g)):
                if p.requires_grad:
                    grads[id(p)] = grads.get(id(p), 0) + gp
            node.vjp, node.consumed = None, True


class Scorecard:
    def __init__(self, n_features, rng):
        self.raw = Array(rng.normal(-1, 0.1, (n_features, 1)), requires_grad=True)
        self.bias = Array(np.zeros((1, 1)), requires_grad=True)

    def __call__(self, x):
        return x @ self.raw.exp() + self.bias

    def parameters(self):
        return [self.raw, self.bias]


def log_loss(score, default):
    sign = Array(2.0 * default - 1.0)
    return (score * sign).log_sigmoid().mean() * -1.0


rng = np.random.default_rng(42)
X = rng.gamma(1.5, 1.0, (400, 5))                      # arrears, utilisation, enquiries ...
p = 1 / (1 + np.exp(-(X @ np.array([[0.9], [0.5], [0.1], [0.3], [0.0]]) - 3)))
default = (rng.random((400, 1)) < p).astype(float)

card = Scorecard(5, rng)
for epoch in range(20):
    for rows in np.array_split(rng.permutation(400), 4):
        for prm in card.parameters():
            prm.grad = None
        loss = log_loss(card(Array(X[rows])), default[rows])
        loss.backward()
        for prm in card.parameters():
            prm.data = prm.data - 0.2 * prm.grad
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  log-loss {float(loss.data):.4f}")
print("weights", np.exp(card.raw.data).ravel().round(3), "bias", card.bias.data.item())
