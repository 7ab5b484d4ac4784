"""Taste and price of apples from their colours: one hidden layer, two heads, plain NumPy."""
import numpy as np


class Tensor:
    def __init__(self, data, parents=(), op="leaf", backward_fn=None, requires_grad=False):
        self.data = np.asarray(data, dtype=np.float64)
        self.grad = None
        self._parents = parents
        self._op = op
        self._backward_fn = backward_fn
        self.requires_grad = requires_grad or any(p.requires_grad for p in parents)

    def _make(self, data, parents, op, fn):
        return Tensor(data, parents, op, fn)

    def __matmul__(self, other):
        return self._make(self.data @ other.data, (self, other), "matmul",
                          lambda g: (g @ other.data.T, self.data.T @ g))

    def __add__(self, other):
        def fn(g):
            reduced = g.sum(axis=0) if other.data.ndim < g.ndim else g
            return g, reduced
        return self._make(self.data + other.data, (self, other), "add", fn)

    def tanh(self):
        out = np.tanh(self.data)
        return self._make(out, (self,), "tanh", lambda g: (g * (1 - out ** 2),))

    def mse(self, target):
        diff = self.data - target
        return self._make(np.mean(diff ** 2), (self,), "mse", lambda g: (g * 2 * diff / diff.size,))

    def _order(self):
        seen, order, stack = set(), [], [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((p, False) for p in node._parents if p.requires_grad)
        return reversed(order)

    def backward(self):
        flow = {id(self): np.ones_like(self.data)}
        for node in self._order():
            g = flow.pop(id(node))
            if node._op == "leaf":
                node.grad = g if node.grad is None else node.grad + g
                continue
            if node._backward_fn is None:
                raise RuntimeError("backward() through %r whose buffers have been freed" % node._op)
            for parent, pg in zip(node._parents, node._backward_fn(g)):
                if parent.requires_grad:
                    flow[id(parent)] = flow.get(id(parent), 0) + pg
            node._backward_fn = None


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        for p in self.params:
            p.data -= self.lr * p.grad


rng = np.random.default_rng(6)
weights = {
    "w": Tensor(rng.normal(0, 0.5, (3, 8)), requires_grad=True), "b": Tensor(np.zeros(8), requires_grad=True),
    "taste": Tensor(rng.normal(0, 0.5, (8, 1)), requires_grad=True),
    "price": Tensor(rng.normal(0, 0.5, (8, 1)), requires_grad=True)}
optimizer = SGD(list(weights.values()), lr=0.1)
colours = rng.uniform(-1, 1, (40, 3))
taste = np.sin(colours[:, :1] * 2)
price = colours[:, 1:2] - 0.5 * taste
for epoch in range(50):
    shared = (Tensor(colours) @ weights["w"] + weights["b"]).tanh()
    taste_loss = (shared @ weights["taste"]).mse(taste)
    price_loss = (Tensor(shared.data) @ weights["price"]).mse(price)
    optimizer.zero_grad()
    taste_loss.backward()
    price_loss.backward()
    optimizer.step()
    if epoch % 10 == 9:
        print(epoch, "taste %.4f  price %.4f" % (taste_loss.data, price_loss.data))
