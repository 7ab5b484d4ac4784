"""Ground vibration of quarry blasts (log peak velocity from distance, charge and geology),
on a small reverse-mode engine of our own: plain numpy, no framework on the site laptop."""
import numpy as np


class Node:
    """A value on the tape. `pull` maps the gradient of this node to those of its sources."""

    def __init__(self, value, sources=(), pull=None, name="leaf", trainable=False):
        self.value = np.asarray(value, dtype=float)
        self.sources, self.pull, self.name = sources, pull, name
        self.trainable = trainable
        self.grad = np.zeros_like(self.value)

    # -- operations ---------------------------------------------------------
    def __add__(self, other):
        other = lift(other)
        return Node(self.value + other.value, (self, other), lambda g: (g, g), "add")

    def __sub__(self, other):
        other = lift(other)
        return Node(self.value - other.value, (self, other), lambda g: (g, -g), "sub")

    def __mul__(self, other):
        other = lift(other)
        return Node(self.value * other.value, (self, other),
                    lambda g: (g * other.value, g * self.value), "mul")

    def __matmul__(self, other):
        return Node(self.value @ other.value, (self, other),
                    lambda g: (g @ other.value.T, self.value.T @ g), "matmul")

    def __getitem__(self, key):
        def pull(g):
            full = np.zeros_like(self.value)
            full[key] = g
            return (full,)
        return Node(self.value[key], (self,), pull, "pick")

    def tanh(self):
        out = np.tanh(self.value)
        return Node(out, (self,), lambda g: (g * (1 - out ** 2),), "tanh")

    def sum(self):
        return Node(self.value.sum(), (self,), lambda g: (np.broadcast_to(g, self.value.shape),), "sum")

    # -- reverse sweep ------------------------------------------------------
    def order(self):
        seen, out = set(), []

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for s in node.sources:
                    visit(s)
                out.append(node)
        visit(self)
        return reversed(out)

    def backward(self):
        self.grad = np.ones_like(self.value)
        for node in self.order():
            if not node.sources:
                continue
            if node.pull is None:
                raise RuntimeError("tape of '%s' has been consumed" % node.name)
            for src, g in zip(node.sources, node.pull(node.grad)):
                while g.ndim > src.value.ndim:
                    g = g.sum(axis=0)
                src.grad = src.grad + g
            if node.name in ("tanh", "matmul", "mul"):     # these keep arrays alive
                node.pull = None


def lift(v):
    return v if isinstance(v, Node) else Node(v)


class Regressor:
    def __init__(self, rng, width=10):
        self.w1 = Node(rng.normal(0, 0.6, (3, width)), trainable=True)
        self.b1 = Node(np.zeros(width), trainable=True)
        self.w2 = Node(rng.normal(0, 0.4, (width, 1)), trainable=True)
        self.b2 = Node(np.zeros(1), trainable=True)
        self.params = [self.w1, self.b1, self.w2, self.b2]

    def __call__(self, x):
        return (lift(x) @ self.w1 + self.b1).tanh() @ self.w2 + self.b2


def blasts(rng, n=64):
    x = rng.uniform(-1, 1, (n, 3))
    y = -1.3 * x[:, 0] + 0.7 * x[:, 1] + 0.5 * x[:, 2] * x[:, 0] + 0.05 * rng.normal(size=n)
    return x, y


def main():
    rng = np.random.default_rng(14)
    x, y = blasts(rng)
    weight = np.where(y > 0.5, 3.0, 1.0)       # strong shakes matter to the neighbours
    net = Regressor(rng)
    for epoch in range(40):
        for start in range(0, len(x), 16):
            rows = slice(start, start + 16)
            for p in net.params:
                p.grad = np.zeros_like(p.value)
            predicted = net(x[rows])
            batch_loss = Node(0.0)
            for i, (target, w) in enumerate(zip(y[rows], weight[rows])):
                err = predicted[i] - target
                loss = (err * err).sum() * (w / 16)
                batch_loss = batch_loss + loss
            batch_loss.backward()
            for p in net.params:
                p.value = p.value - 0.1 * p.grad
        if epoch % 8 == 0 or epoch == 39:
            print("epoch %2d  last batch %.4f" % (epoch, batch_loss.value))


if __name__ == "__main__":
    main()
